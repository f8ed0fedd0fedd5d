import { causeText, gapKind } from '../../logic/gapText'
import type { Bookmark, Gap, Recorded, Span } from '../../logic/recordings'
import { edgeLabel, ticks, transitionText } from '../../logic/ticks'
import { clockText } from '../../logic/timeText'
import { DAY, spanOf, xOf, type View } from '../../logic/timeView'
import type { Zone } from '../../logic/zone'
import type { Palette } from './palette'

/** All that is drawn at one moment. */
export interface Scene {
  view: View
  width: number
  zone: Zone
  now: number
  recorded: Recorded
  /** What is shown in the player, or null. */
  playhead: number | null
  hover: number | null
  /** What is marked for export, or null. */
  marked: { from: number; to: number } | null
}

export const BAR_HEIGHT = 92
const LABELS = 24
export const LANE_TOP = 34
export const LANE_HEIGHT = 38
const LANE_BOTTOM = LANE_TOP + LANE_HEIGHT
const RADIUS = 7
/** Narrower gaps are marks above the footage, or a bad hour would hide a good day. */
const NARROW_GAP = 3

type Context = CanvasRenderingContext2D

export function paint(context: Context, scene: Scene, palette: Palette): void {
  const { width, view, now } = scene
  const x = (at: number): number => xOf(view, width, at)
  context.clearRect(0, 0, width, BAR_HEIGHT)
  context.save()
  context.beginPath()
  context.roundRect(0, LANE_TOP, width, LANE_HEIGHT, RADIUS)
  context.clip()
  context.fillStyle = palette.lane
  context.fillRect(0, LANE_TOP, Math.min(width, x(now)), LANE_HEIGHT)
  for (const span of scene.recorded.spans) paintSpan(context, span, x, palette)
  for (const gap of scene.recorded.gaps) paintGap(context, gap, x, scene, palette)
  context.restore()
  paintTicks(context, scene, x, bubbles(context, scene, x, palette), palette)
  if (scene.marked) paintMarked(context, x(scene.marked.from), x(scene.marked.to), width, palette)
  paintBookmarks(context, scene, x, palette)
  paintNow(context, x(now), width, palette)
  if (scene.hover !== null) paintHover(context, scene.hover, x(scene.hover), scene, palette)
  if (scene.playhead !== null) paintPlayhead(context, scene.playhead, x(scene.playhead), scene, palette)
}

function paintSpan(context: Context, span: Span, x: (at: number) => number, palette: Palette): void {
  const left = x(span.from)
  const width = Math.max(1, x(span.to) - left)
  const height = span.coverage >= 0.999 ? LANE_HEIGHT : Math.max(4, LANE_HEIGHT * span.coverage)
  context.fillStyle = palette.footage
  context.fillRect(left, LANE_BOTTOM - height, width, height)
  // An edge of another shade, so that much of a colour is no flat block.
  context.fillStyle = palette.footageEdge
  context.fillRect(left, LANE_BOTTOM - height, width, 2)
}

function paintGap(context: Context, gap: Gap, x: (at: number) => number, scene: Scene, palette: Palette): void {
  const left = x(gap.from)
  const right = x(Math.min(gap.to, scene.now))
  const { pattern, strong, soft } = palette.gaps[gapKind(gap.cause)]
  if (right - left < NARROW_GAP) {
    context.fillStyle = strong
    context.fillRect((left + right) / 2 - 1, LANE_TOP, 2, 11)
    return
  }
  context.fillStyle = pattern
  context.fillRect(left, LANE_TOP, right - left, LANE_HEIGHT)
  context.fillStyle = strong
  context.fillRect(left, LANE_BOTTOM - 3, right - left, 3)
  const text = causeText(gap.cause)
  context.font = `600 12px ${palette.font}`
  const seenLeft = Math.max(0, left)
  const seenRight = Math.min(scene.width, right)
  const textWidth = context.measureText(text).width
  if (textWidth + 20 > seenRight - seenLeft) return
  const middle = (seenLeft + seenRight) / 2
  context.fillStyle = soft
  context.beginPath()
  context.roundRect(middle - textWidth / 2 - 7, LANE_TOP + 8, textWidth + 14, 20, 5)
  context.fill()
  context.fillStyle = palette.text
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText(text, middle, LANE_TOP + 18.5)
}

/** Where moments stand in the row of labels, which give way to them. */
function bubbles(context: Context, { playhead, hover, width }: Scene, x: (at: number) => number, palette: Palette): [number, number][] {
  context.font = `600 12px ${palette.font}`
  const half = context.measureText('00:00:00').width / 2 + 10
  return [playhead, hover].flatMap((at) => {
    if (at === null || x(at) < -2 || x(at) > width + 2) return []
    const middle = Math.min(Math.max(x(at), half), width - half)
    return [[middle - half, middle + half] as [number, number]]
  })
}

function paintTicks(context: Context, scene: Scene, x: (at: number) => number, taken: readonly [number, number][], palette: Palette): void {
  const { view, width, zone } = scene
  context.textBaseline = 'middle'
  const edge = edgeLabel(view, zone)
  context.font = `600 12px ${palette.font}`
  const edgeWidth = context.measureText(edge).width
  context.textAlign = 'left'
  context.fillStyle = palette.text
  if (!taken.some(([from]) => from < edgeWidth + 2)) context.fillText(edge, 2, LABELS / 2)
  for (const tick of ticks(view, width, zone)) {
    const at = Math.round(x(tick.at)) + 0.5
    const long = tick.label !== ''
    context.fillStyle = tick.strong ? palette.textSoft : palette.line
    if (long) context.fillRect(at - 0.5, LABELS - 1, 1, LANE_TOP - LABELS)
    else context.fillRect(at - 0.5, LANE_TOP - 5, 1, 4)
    if (tick.strong) {
      context.globalAlpha = 0.55
      context.fillRect(at - 0.5, LANE_TOP, 1, LANE_HEIGHT)
      context.globalAlpha = 1
    }
    if (!long) continue
    context.font = `${tick.strong ? 600 : 400} 12px ${palette.font}`
    const half = context.measureText(tick.label).width / 2
    // What the edge says it says for good; a label does not run over it, or out of the bar.
    if (at - half < edgeWidth + 14 || at + half > width) continue
    if (taken.some(([from, to]) => at + half > from && at - half < to)) continue
    context.fillStyle = tick.strong ? palette.text : palette.textSoft
    context.textAlign = 'center'
    context.fillText(tick.label, at, LABELS / 2)
  }
  if (spanOf(view) > 120 * DAY) return
  for (const { at, before, after } of zone.transitions(view.from, view.to)) paintTransition(context, x(at), transitionText(before, after), width, palette)
}

function paintTransition(context: Context, x: number, text: string, width: number, palette: Palette): void {
  context.save()
  context.strokeStyle = palette.textSoft
  context.setLineDash([3, 3])
  context.beginPath()
  context.moveTo(x, LABELS)
  context.lineTo(x, LANE_BOTTOM + 6)
  context.stroke()
  context.restore()
  context.font = `500 11px ${palette.font}`
  const half = context.measureText(text).width / 2
  const middle = Math.min(Math.max(x, half + 8), width - half - 8)
  context.fillStyle = palette.surface
  context.beginPath()
  context.roundRect(middle - half - 6, LANE_TOP + 10, 2 * half + 12, 18, 5)
  context.fill()
  context.fillStyle = palette.text
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText(text, middle, LANE_TOP + 19.5)
}

function paintMarked(context: Context, left: number, right: number, width: number, palette: Palette): void {
  context.fillStyle = palette.accent
  context.globalAlpha = 0.22
  context.fillRect(left, LANE_TOP - 4, right - left, LANE_HEIGHT + 8)
  context.globalAlpha = 1
  context.fillRect(Math.max(0, left), LANE_TOP - 4, Math.min(width, right) - Math.max(0, left), 2)
  context.fillRect(Math.max(0, left), LANE_BOTTOM + 2, Math.min(width, right) - Math.max(0, left), 2)
  for (const [at, side] of [[left, -1], [right, 1]] as const) {
    context.fillStyle = palette.accent
    context.beginPath()
    const start = side < 0 ? at - 10 : at
    context.roundRect(start, LANE_TOP - 4, 10, LANE_HEIGHT + 8, side < 0 ? [5, 0, 0, 5] : [0, 5, 5, 0])
    context.fill()
    context.fillStyle = palette.surface
    context.fillRect(start + 3.5, LANE_TOP + 12, 1, 14)
    context.fillRect(start + 5.5, LANE_TOP + 12, 1, 14)
  }
}

/** Flags, and their names where one has room before the next. */
function paintBookmarks(context: Context, { recorded, width }: Scene, x: (at: number) => number, palette: Palette): void {
  recorded.bookmarks.forEach((mark, i) => {
    const next = recorded.bookmarks[i + 1]
    paintBookmark(context, mark, x, Math.min(width, next ? x(next.from) - 4 : width), palette)
  })
}

function paintBookmark(context: Context, mark: Bookmark, x: (at: number) => number, room: number, palette: Palette): void {
  const left = x(mark.from)
  const right = Math.max(left + 2, x(mark.to))
  context.fillStyle = palette.bookmark
  context.fillRect(left, LANE_BOTTOM + 3, right - left, 3)
  context.beginPath()
  context.moveTo(left, LANE_BOTTOM + 3)
  context.lineTo(left + 9, LANE_BOTTOM + 3)
  context.lineTo(left + 9, LANE_BOTTOM + 16)
  context.lineTo(left + 4.5, LANE_BOTTOM + 12)
  context.lineTo(left, LANE_BOTTOM + 16)
  context.fill()
  if (mark.name === '') return
  context.font = `500 11px ${palette.font}`
  context.fillStyle = palette.textSoft
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  const name = mark.name.length > 24 ? `${mark.name.slice(0, 23)}…` : mark.name
  if (left + 13 + context.measureText(name).width <= room) context.fillText(name, left + 13, LANE_BOTTOM + 12)
}

function paintNow(context: Context, x: number, width: number, palette: Palette): void {
  if (x < 0 || x > width) return
  context.fillStyle = palette.live
  context.fillRect(x - 1, LANE_TOP - 4, 2, LANE_HEIGHT + 8)
  context.beginPath()
  context.arc(x, LANE_TOP - 5, 3, 0, 7)
  context.fill()
}

function paintHover(context: Context, at: number, x: number, scene: Scene, palette: Palette): void {
  context.fillStyle = palette.text
  context.globalAlpha = 0.5
  context.fillRect(x - 0.5, LANE_TOP - 6, 1, LANE_HEIGHT + 12)
  context.globalAlpha = 1
  bubble(context, clockText(at, scene.zone), x, scene.width, palette.surface, palette.text, palette, true)
}

function paintPlayhead(context: Context, at: number, x: number, scene: Scene, palette: Palette): void {
  if (x < -2 || x > scene.width + 2) return
  context.fillStyle = palette.text
  context.fillRect(x - 1, LABELS - 2, 2, BAR_HEIGHT - LABELS - 8)
  context.strokeStyle = palette.surface
  context.lineWidth = 1
  context.strokeRect(x - 1.5, LABELS - 2, 3, BAR_HEIGHT - LABELS - 8)
  bubble(context, clockText(at, scene.zone), x, scene.width, palette.text, palette.surface, palette, false)
}

function bubble(context: Context, text: string, x: number, width: number, back: string, front: string, palette: Palette, outlined: boolean): void {
  context.font = `600 12px ${palette.font}`
  const half = context.measureText(text).width / 2 + 8
  const middle = Math.min(Math.max(x, half + 1), width - half - 1)
  context.fillStyle = back
  context.beginPath()
  context.roundRect(middle - half, 1, 2 * half, LABELS - 2, 6)
  context.fill()
  if (outlined) {
    context.strokeStyle = palette.line
    context.lineWidth = 1
    context.stroke()
  }
  context.fillStyle = front
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText(text, middle, LABELS / 2 + 0.5)
}
