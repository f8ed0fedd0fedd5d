import type Hls from 'hls.js'

/**
 * Loads hls.js when the first picture is wanted, so that the page itself is there at
 * once. Sound that a camera's sources share has a playlist of its own, which the
 * light build knows nothing of: it shows the picture alone, and saves a tile that is
 * silent anyway the requests.
 */
export async function loadHls(withSound: boolean): Promise<typeof Hls> {
  try {
    return withSound ? (await import('hls.js')).default : (await import('hls.js/light')).default
  } catch (err) {
    reloadPage()
    throw err
  }
}

const RELOADED_AT = 'drover.reloaded-at'

/**
 * After an upgrade of the server the old page's files are gone, and browsers
 * remember a failed import for the life of the page: only a new page helps.
 */
function reloadPage(): void {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0)
  if (Date.now() - last < 60_000) return
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  location.reload()
}
