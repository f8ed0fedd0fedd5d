import { isGapCause } from '../logic/gapText'
import type { Bookmark, Gap, Recorded, Span } from '../logic/recordings'
import { call, cameraPath } from './client'
import { fields, list, number, text } from './read'

// The archive's part of the API. Times become Unix milliseconds here, as the bar
// of time counts.

function ms(value: unknown, absent: number): number {
  const at = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(at) ? absent : at
}

function readSpan(value: unknown): Span {
  const f = fields(value)
  const coverage = typeof f.coverage_ratio === 'number' ? f.coverage_ratio : 1
  return { from: ms(f.from, NaN), to: ms(f.to, NaN), bytes: number(f.bytes), coverage: Math.min(1, coverage) }
}

function readGap(value: unknown): Gap {
  const f = fields(value)
  const cause = text(f.cause)
  return { from: ms(f.from, NaN), to: ms(f.to, Infinity), cause: isGapCause(cause) ? cause : 'unknown', detail: text(f.detail) }
}

function readBookmark(value: unknown): Bookmark {
  const f = fields(value)
  const from = ms(f.from, NaN)
  return { id: text(f.id) || String(number(f.id)), from, to: ms(f.to, from), kind: text(f.kind), name: text(f.name), keep: f.keep === true }
}

export function readRecorded(value: unknown, from: number, to: number): Recorded {
  const f = fields(value)
  return {
    from: ms(f.from, from),
    to: ms(f.to, to),
    resolutionMs: number(f.resolution_seconds) * 1000,
    spans: list(f.spans).map(readSpan).filter((span) => span.to > span.from && span.coverage > 0),
    gaps: list(f.gaps).map(readGap).filter((gap) => gap.to > gap.from),
    bookmarks: list(f.bookmarks).map(readBookmark).filter((mark) => mark.to >= mark.from),
    moreGaps: f.more_gaps === true,
    source: text(f.source),
    bytes: number(f.bytes),
    coverage: number(f.coverage_ratio),
  }
}

/** Marks a time of a camera for people; what is kept is not deleted. */
export async function addBookmark(cameraId: string, mark: { from: number; to: number; name: string; keep: boolean }): Promise<void> {
  const body = { from: new Date(mark.from).toISOString(), to: new Date(mark.to).toISOString(), name: mark.name, keep: mark.keep }
  await call(`${cameraPath(cameraId)}/bookmarks`, { method: 'POST', body })
}

/** The mark goes; the recordings stay, as long as they would have without it. */
export async function removeBookmark(cameraId: string, id: string): Promise<void> {
  await call(`${cameraPath(cameraId)}/bookmarks/${encodeURIComponent(id)}`, { method: 'DELETE' })
}

/** Why the server's disk takes no recordings just now; "" while it does, or where that is not told. */
export async function archiveTrouble(signal: AbortSignal): Promise<string> {
  try {
    const f = fields(await call('/archive', { signal }))
    return text(f.trouble) === '' ? '' : text(f.detail) || text(f.trouble).replaceAll('_', ' ')
  } catch {
    return '' // a server that does not answer says so elsewhere
  }
}

const iso = (at: number): string => encodeURIComponent(new Date(at).toISOString())

/** What is recorded between two moments, in steps of so many seconds. */
export async function getRecordings(cameraId: string, from: number, to: number, resolutionSeconds: number, signal?: AbortSignal): Promise<Recorded> {
  const query = `from=${iso(from)}&to=${iso(to)}&resolution=${resolutionSeconds}`
  return readRecorded(await call(`${cameraPath(cameraId)}/recordings?${query}`, { signal }), from, to)
}

/** A day of a calendar with footage. */
export interface RecordedDay {
  /** "2025-10-02", by the clocks of the zone that was asked for. */
  date: string
  bytes: number
  coveredSeconds: number
}

export async function getRecordedDays(cameraId: string, from: number, to: number, zone: string, signal?: AbortSignal): Promise<RecordedDay[]> {
  const query = `from=${iso(from)}&to=${iso(to)}&zone=${encodeURIComponent(zone)}`
  return list(fields(await call(`${cameraPath(cameraId)}/recordings/days?${query}`, { signal })).days).map((value) => {
    const f = fields(value)
    return { date: text(f.date), bytes: number(f.bytes), coveredSeconds: number(f.covered_seconds) }
  })
}
