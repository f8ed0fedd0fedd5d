// What is known of a camera's recordings over a stretch of time, and questions to it.
// Times are Unix milliseconds.

export type GapCause =
  | 'camera_off'
  | 'network'
  | 'login_refused'
  | 'loss'
  | 'disk_slow'
  | 'disk_full'
  | 'disk_error'
  | 'process_down'
  | 'deleted'
  | 'by_request'
  | 'unknown'

/** Time with footage: all of it, or a part where it was looked at from afar. */
export interface Span {
  from: number
  to: number
  bytes: number
  /** From above 0 to 1. */
  coverage: number
}

export interface Gap {
  from: number
  /** Infinity while it goes on. */
  to: number
  cause: GapCause
  detail: string
}

export interface Bookmark {
  id: string
  from: number
  to: number
  kind: string
  name: string
  keep: boolean
}

/** An answer to: what is there, from one moment to another? */
export interface Recorded {
  from: number
  to: number
  resolutionMs: number
  spans: Span[]
  gaps: Gap[]
  bookmarks: Bookmark[]
  /** There are more gaps than told. */
  moreGaps: boolean
  /** Which of the camera's sources this is of; "" if not told. */
  source: string
  /** Of the whole of it: how many bytes, and how much of the time up to now there is footage of. */
  bytes: number
  coverage: number
}

export function nothingRecorded(from: number, to: number): Recorded {
  return { from, to, resolutionMs: 0, spans: [], gaps: [], bookmarks: [], moreGaps: false, source: '', bytes: 0, coverage: 0 }
}

/**
 * Lays answers over each other, the later over the earlier ones, within a stretch
 * of time: coarse answers show through where there are no finer ones yet.
 */
export function compose(answers: readonly Recorded[], from: number, to: number): Recorded {
  const all = nothingRecorded(from, to)
  const bookmarks = new Map<string, Bookmark>()
  for (const answer of answers) {
    const start = Math.max(from, answer.from)
    const end = Math.min(to, answer.to)
    if (start >= end) continue
    all.spans = [...cutOut(all.spans, start, end, clipSpan), ...within(answer.spans, start, end, clipSpan)]
    all.gaps = [...cutOut(all.gaps, start, end, clipGap), ...within(answer.gaps, start, end, clipGap)]
    all.resolutionMs = Math.max(all.resolutionMs, answer.resolutionMs)
    all.moreGaps ||= answer.moreGaps
    all.source ||= answer.source
    for (const bookmark of answer.bookmarks) bookmarks.set(bookmark.id, bookmark)
  }
  all.spans = joinSpans(all.spans.sort(byFrom))
  all.gaps = joinGaps(all.gaps.sort(byFrom))
  all.bookmarks = [...bookmarks.values()].filter((mark) => mark.from < to && mark.to >= from).sort(byFrom)
  return all
}

type Timed = { from: number; to: number }

function byFrom(a: Timed, b: Timed): number {
  return a.from - b.from
}

function within<T extends Timed>(items: readonly T[], from: number, to: number, clip: (item: T, from: number, to: number) => T): T[] {
  return items.filter((item) => item.from < to && item.to > from).map((item) => clip(item, from, to))
}

function cutOut<T extends Timed>(items: readonly T[], from: number, to: number, clip: (item: T, from: number, to: number) => T): T[] {
  return items.flatMap((item) => {
    if (item.to <= from || item.from >= to) return [item]
    const rest: T[] = []
    if (item.from < from) rest.push(clip(item, item.from, from))
    if (item.to > to) rest.push(clip(item, to, item.to))
    return rest
  })
}

function clipSpan(span: Span, from: number, to: number): Span {
  if (span.from >= from && span.to <= to) return span
  const start = Math.max(span.from, from)
  const end = Math.min(span.to, to)
  return { ...span, from: start, to: end, bytes: span.bytes * ((end - start) / (span.to - span.from)) }
}

function clipGap(gap: Gap, from: number, to: number): Gap {
  // One that goes on keeps going on: only its beginning can be cut.
  return { ...gap, from: Math.max(gap.from, from), to: gap.to === Infinity ? Infinity : Math.min(gap.to, to) }
}

const WHOLE = 0.999

/** Neighbours become one where the bytes of both are spread alike, or as good as. */
function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last && span.from - last.to < 1 && Math.min(last.coverage, span.coverage) >= WHOLE) {
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, span.to), bytes: last.bytes + span.bytes, coverage: 1 }
    } else {
      joined.push(span)
    }
  }
  return joined
}

/** A gap that was cut where two answers meet is one again. */
function joinGaps(gaps: readonly Gap[]): Gap[] {
  const joined: Gap[] = []
  for (const gap of gaps) {
    const last = joined.at(-1)
    if (last && gap.from <= last.to && gap.cause === last.cause && gap.detail === last.detail) {
      joined[joined.length - 1] = { ...last, to: Math.max(last.to, gap.to) }
    } else {
      joined.push(gap)
    }
  }
  return joined
}

/** The span that a moment is in, or null. Spans are in their order. */
export function spanAt(spans: readonly Span[], at: number): Span | null {
  const span = spans[lastBefore(spans, at)]
  return span && at < span.to ? span : null
}

/** The gap that a moment is in, or null; the shortest where several are seen as one from afar. */
export function gapAt(gaps: readonly Gap[], at: number, slackMs = 0): Gap | null {
  let best: Gap | null = null
  for (const gap of gaps) {
    if (at < gap.from - slackMs || at >= gap.to + slackMs) continue
    if (!best || gap.to - gap.from < best.to - best.from) best = gap
  }
  return best
}

/** The first moment with footage at or behind one, or null. */
export function footageFrom(spans: readonly Span[], at: number): number | null {
  const span = spans.find((candidate) => candidate.to > at)
  return span ? Math.max(at, span.from) : null
}

/** How much of a range is footage, and how many bytes that is, as far as is known. */
export function measure(spans: readonly Span[], from: number, to: number): { ms: number; bytes: number } {
  let ms = 0
  let bytes = 0
  for (const span of within(spans, from, to, clipSpan)) {
    ms += (span.to - span.from) * span.coverage
    bytes += span.bytes
  }
  return { ms, bytes }
}

function lastBefore(spans: readonly Span[], at: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.from ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}
