import type { LevelDetails } from 'hls.js'

/**
 * How old the end of a playlist may be while its camera sends: so many target
 * durations, and what a camera's clock and the way to here may add.
 */
const MOST_TARGETS = 2
const MOST_MORE_MS = 10_000

/** Whether a source's playlist goes on, by the age of its newest segment; of one without dates it is not known. */
export function isFresh({ fragments, targetduration }: LevelDetails, nowMs: number): boolean {
  const newest = fragments.at(-1)
  if (!newest?.programDateTime) return true
  return nowMs - newest.programDateTime - newest.duration * 1000 < mostAge(targetduration)
}

/** The same of a playlist's text, of which nobody has made anything yet. */
export function isFreshText(playlist: string, nowMs: number): boolean {
  const dates = playlist.match(/^#EXT-X-PROGRAM-DATE-TIME:.*$/gm) ?? []
  const newest = Date.parse((dates.at(-1) ?? '').slice('#EXT-X-PROGRAM-DATE-TIME:'.length))
  const target = Number(/^#EXT-X-TARGETDURATION:(\d+)/m.exec(playlist)?.[1] ?? 0)
  // The date is that of the newest segment's beginning.
  return !Number.isNaN(newest) && nowMs - newest < mostAge(target) + target * 1000
}

function mostAge(targetSeconds: number): number {
  return MOST_TARGETS * targetSeconds * 1000 + MOST_MORE_MS
}
