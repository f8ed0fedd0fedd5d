/** What a bar of time shows: from its left edge to its right one, in Unix milliseconds. */
export interface View {
  from: number
  to: number
}

/** What a view may show at all. */
export interface Limits {
  /** Nothing older is of interest. */
  oldest: number
  /** The present; a little of what is to come is shown beyond it. */
  now: number
}

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The closest look: frames lie 40 pixels apart and more. */
export const MIN_SPAN = 10 * SECOND
/** How much room to the right of now, as a part of the view. */
const AHEAD = 0.06

export function spanOf(view: View): number {
  return view.to - view.from
}

export function xOf(view: View, width: number, at: number): number {
  return ((at - view.from) / spanOf(view)) * width
}

export function timeAt(view: View, width: number, x: number): number {
  return view.from + (x / width) * spanOf(view)
}

/** The view that shows the last stretch of time, now a little left of its right edge. */
export function latestView(span: number, now: number): View {
  const to = now + span * AHEAD
  return { from: to - span, to }
}

/** The widest look: all there is, and a day at least. */
export function maxSpan({ oldest, now }: Limits): number {
  return Math.max(DAY, (now - oldest) * 1.15)
}

/** Keeps a view within what there is, without changing how much it shows if that can be. */
export function clampView(view: View, limits: Limits): View {
  const span = Math.min(Math.max(spanOf(view), MIN_SPAN), maxSpan(limits))
  const middle = (view.from + view.to) / 2
  const last = limits.now + span * AHEAD
  const first = Math.min(limits.oldest, limits.now - DAY) - span * 0.1
  let from = middle - span / 2
  if (from + span > last) from = last - span
  if (from < first && last - first >= span) from = first
  return { from, to: from + span }
}

/** Zooms so that the moment under a point stays there. A factor above 1 shows more time. */
export function zoomView(view: View, factor: number, anchor: number, limits: Limits): View {
  const span = Math.min(Math.max(spanOf(view) * factor, MIN_SPAN), maxSpan(limits))
  const part = (anchor - view.from) / spanOf(view)
  const from = anchor - part * span
  return clampView({ from, to: from + span }, limits)
}

export function panView(view: View, byMs: number, limits: Limits): View {
  return clampView({ from: view.from + byMs, to: view.to + byMs }, limits)
}

/** Two fingers: the moments that they hold stay under them. */
export function pinchView(start: View, width: number, startX: readonly [number, number], x: readonly [number, number], limits: Limits): View {
  const held = [timeAt(start, width, startX[0]), timeAt(start, width, startX[1])] as const
  // Fingers that all but meet would divide by nothing.
  const apart = Math.max(Math.abs(x[1] - x[0]), 8)
  const heldMs = Math.max(Math.abs(held[1] - held[0]), 1)
  const span = Math.min(Math.max((heldMs / apart) * width, MIN_SPAN), maxSpan(limits))
  const middle = (held[0] + held[1]) / 2
  const from = middle - ((x[0] + x[1]) / 2 / width) * span
  return clampView({ from, to: from + span }, limits)
}

/** Moves a view so that a moment is in it, by as little as there need be. */
export function revealed(view: View, at: number, limits: Limits): View {
  const margin = spanOf(view) * AHEAD
  if (at >= view.from && at <= view.to - margin / 2) return view
  const from = at < view.from ? at - margin : at - spanOf(view) + margin
  return clampView({ from, to: from + spanOf(view) }, limits)
}

/** A view on the way from one to another, for moves that are shown. Zooming goes by ratios. */
export function between(a: View, b: View, part: number): View {
  if (part >= 1) return b
  const spanA = spanOf(a)
  const spanB = spanOf(b)
  const span = spanA * (spanB / spanA) ** part
  // As the span goes by ratios, what lies still in both must lie still on the way.
  const done = spanA === spanB ? part : (span - spanA) / (spanB - spanA)
  const from = a.from + (b.from - a.from) * done
  return { from, to: from + span }
}
