import { PLAYLIST_TIMEOUT_MS } from '../config'
import { retryAfterMs } from '../logic/backoff'
import { parseMultivariant, type Variant } from './multivariant'

export interface Playlist {
  variants: Variant[]
  /** What to add to this machine's clock to have the server's, if they clearly differ. */
  clockSkewMs: number
}

/** Why there is nothing to play just now, and when the server wants to be asked again. */
export class NotYet extends Error {
  override readonly name = 'NotYet'

  constructor(
    message: string,
    readonly retryMs: number | null = null,
  ) {
    super(message)
  }
}

/** Why this browser, or any, cannot play the camera. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported'
}

/** Fetches a camera's multivariant playlist, or rejects with NotYet or Unsupported. */
export async function fetchPlaylist(url: string, signal: AbortSignal): Promise<Playlist> {
  const limit = new AbortController()
  const abort = (): void => limit.abort()
  signal.addEventListener('abort', abort)
  const timer = setTimeout(abort, PLAYLIST_TIMEOUT_MS)
  try {
    // Asked anew, so that Date is of now; hls.js then finds this very answer in the cache.
    const response = await fetch(url, { signal: limit.signal, cache: 'no-cache' })
    if (response.status === 406) throw new Unsupported(NOT_IN_HLS)
    if (!response.ok) throw new NotYet(reasonOf(response.status), retryAfterMs(response.headers.get('Retry-After'), Date.now()))
    return {
      variants: parseMultivariant(await response.text()),
      clockSkewMs: clockSkew(response.headers, Date.now()),
    }
  } catch (err) {
    if (err instanceof NotYet || err instanceof Unsupported) throw err
    throw new NotYet('The server is not reachable')
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

const NOT_IN_HLS =
  'The camera sends MJPEG, which no browser can play live. Set its stream to H.264, or add a source of it that is H.264.'

function reasonOf(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return 'You are not allowed to see this camera'
    case 404:
      return 'There is no such camera'
    case 410:
      return 'This link has expired'
    case 429:
      return 'Too many watch just now'
    case 503:
      return 'Waiting for the camera’s first picture'
    default:
      return `The server cannot serve this camera just now (status ${status})`
  }
}

function clockSkew(headers: Headers, nowMs: number): number {
  const date = Date.parse(headers.get('Date') ?? '')
  if (Number.isNaN(date)) return 0
  // Date has whole seconds, and a cache may have kept the answer for Age seconds.
  const skew = date + 500 + 1000 * Number(headers.get('Age') ?? 0) - nowMs
  return Math.abs(skew) > 2_500 ? skew : 0
}
