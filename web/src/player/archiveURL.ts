/** A stretch of the archive that is one playlist; without an end it grows into live. */
export interface Stretch {
  from: number
  to: number | null
}

const HOUR = 3_600_000

/** How much before and behind a moment is in one playlist: about 3,600 segments at most. */
const STRETCH_HOURS = 2

/**
 * The stretch to play a moment from: whole hours, so that people who look at the
 * same hour ask for the same playlist, and a jump within it needs no other.
 */
export function stretchAround(at: number, now: number): Stretch {
  const from = Math.floor(at / HOUR) * HOUR
  const to = from + STRETCH_HOURS * HOUR
  return { from, to: to < now - 60_000 ? to : null }
}

/** Whether a moment is in a stretch, and not just at its end, where little would be left to play. */
export function holds(stretch: Stretch, at: number): boolean {
  return at >= stretch.from && (stretch.to === null || at < stretch.to - 5_000)
}

/** As the archive takes times: Unix milliseconds have 13 digits until the year 2286. */
function stamp(at: number): string {
  return String(Math.round(at))
}

function folder(cameraId: string): string {
  return `/archive/${encodeURIComponent(cameraId)}`
}

/** The playlist of a stretch: of a source by its name, or of the one that was recorded first. */
export function archivePlaylistPath(cameraId: string, { from, to }: Stretch, source = ''): string {
  const end = to === null ? '' : `&to=${stamp(to)}`
  return `${folder(cameraId)}/index.m3u8?from=${stamp(from)}${end}${source === '' ? '' : `&source=${encodeURIComponent(source)}`}`
}

/** The playlist that is live and reaches back for a day, or what the server is set to. The prefix is that of a share link. */
export function timeShiftPath(cameraId: string, prefix: string): string {
  return `${prefix}${folder(cameraId)}/index.m3u8`
}

/** One picture at a moment, or just before it. */
export function framePath(cameraId: string, at: number): string {
  return `${folder(cameraId)}/frame?at=${stamp(at)}`
}

export interface Clip {
  from: number
  to: number
  gaps: 'close' | 'keep'
}

export function clipPath(cameraId: string, clip: Clip): string {
  return `${folder(cameraId)}/clip.mp4?${clipQuery(clip)}`
}

/** The digest of the clip, as sha256sum writes and checks it. */
export function clipDigestPath(cameraId: string, clip: Clip): string {
  return `${folder(cameraId)}/clip.mp4.sha256?${clipQuery(clip)}`
}

function clipQuery({ from, to, gaps }: Clip): string {
  return `from=${stamp(from)}&to=${stamp(to)}&gaps=${gaps}`
}
