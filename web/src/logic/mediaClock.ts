/** One segment of a playlist, as far as its times go. */
export interface TimedSegment {
  /** In the player's time, in seconds. */
  start: number
  duration: number
  /** The wall clock at its beginning, in Unix milliseconds; null if the playlist does not say. */
  programDateTime: number | null
}

/** The player's time for a moment: in its segment, or at the next one if there is no footage; null behind the last. */
export function mediaTimeOf(segments: readonly TimedSegment[], wallMs: number): number | null {
  for (let i = firstFrom(segments, wallMs); i < segments.length; i++) {
    const segment = segments[i]
    if (!segment || segment.programDateTime === null) continue
    return segment.start + Math.min(Math.max((wallMs - segment.programDateTime) / 1000, 0), segment.duration)
  }
  return null
}

/** The moment that is shown at the player's time, or null if there is no telling. */
export function wallTimeOf(segments: readonly TimedSegment[], mediaSeconds: number): number | null {
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((segments[middle]?.start ?? Infinity) <= mediaSeconds) low = middle + 1
    else high = middle
  }
  const segment = segments[Math.max(0, low - 1)]
  if (!segment || segment.programDateTime === null) return null
  const into = Math.min(Math.max(mediaSeconds - segment.start, 0), segment.duration)
  return segment.programDateTime + into * 1000
}

/**
 * The first segment that ends behind a moment. Where the camera's clock was put
 * back, times are not in their order, and the first that fits is as good as any.
 */
function firstFrom(segments: readonly TimedSegment[], wallMs: number): number {
  const index = segments.findIndex(({ programDateTime, duration }) => programDateTime !== null && programDateTime + duration * 1000 > wallMs)
  return index < 0 ? segments.length : index
}
