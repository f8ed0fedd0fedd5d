import { lengthText } from './timeText'
import type { Gap, GapCause } from './recordings'

/** Causes that look alike on the bar: whose fault it is decides what somebody does about it. */
export type GapKind = 'camera' | 'disk' | 'server' | 'chosen' | 'unknown'

const CAUSES: Record<GapCause, { kind: GapKind; text: string }> = {
  camera_off: { kind: 'camera', text: 'Camera was off' },
  network: { kind: 'camera', text: 'Network was down' },
  login_refused: { kind: 'camera', text: 'Camera refused the login' },
  loss: { kind: 'camera', text: 'Picture was lost on the way' },
  disk_slow: { kind: 'disk', text: 'Disk was too slow' },
  disk_full: { kind: 'disk', text: 'Disk was full' },
  disk_error: { kind: 'disk', text: 'Disk failed' },
  process_down: { kind: 'server', text: 'Drover was not running' },
  deleted: { kind: 'chosen', text: 'Deleted' },
  by_request: { kind: 'chosen', text: 'Not recorded, as set' },
  unknown: { kind: 'unknown', text: 'No footage' },
}

export const GAP_KINDS: readonly { kind: GapKind; text: string }[] = [
  { kind: 'camera', text: 'Camera or network' },
  { kind: 'disk', text: 'Disk' },
  { kind: 'server', text: 'Drover was not running' },
  { kind: 'chosen', text: 'Deleted or not recorded' },
  { kind: 'unknown', text: 'Cause unknown' },
]

export function gapKind(cause: GapCause): GapKind {
  return CAUSES[cause].kind
}

export function isGapCause(text: string): text is GapCause {
  return Object.hasOwn(CAUSES, text)
}

export function causeText(cause: GapCause): string {
  return CAUSES[cause].text
}

/** "Camera was off, 4 min". */
export function gapText(gap: Gap, now: number): string {
  const length = lengthText(Math.min(gap.to, now) - gap.from)
  return `${causeText(gap.cause)}, ${gap.to === Infinity ? `for ${length} now` : length}`
}
