import { xOf, type View } from './timeView'

/** What of the bar is under a pointer. */
export type BarPart = 'start' | 'end' | 'playhead' | 'bar'

export interface BarMarks {
  playhead: number | null
  marked: { from: number; to: number } | null
}

/**
 * What a pointer at x takes hold of. Handles reach outwards from what they mark,
 * as they are drawn; fingers are thicker than mice.
 */
export function hit(view: View, width: number, marks: BarMarks, x: number, isTouch: boolean): BarPart {
  const reach = isTouch ? 24 : 10
  const near: [BarPart, number][] = []
  if (marks.marked) {
    const left = x - xOf(view, width, marks.marked.from)
    const right = x - xOf(view, width, marks.marked.to)
    if (left >= -reach - 6 && left <= reach / 2) near.push(['start', Math.abs(left + 5)])
    if (right >= -reach / 2 && right <= reach + 6) near.push(['end', Math.abs(right - 5)])
  }
  if (marks.playhead !== null) {
    const distance = Math.abs(x - xOf(view, width, marks.playhead))
    if (distance <= reach) near.push(['playhead', distance])
  }
  return near.sort((a, b) => a[1] - b[1])[0]?.[0] ?? 'bar'
}
