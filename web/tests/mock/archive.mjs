// What the mock server has recorded: a ledger of gaps, and the clips round and
// round where there is none.

import { CLIP_SEGMENTS } from './clips.mjs'

const SECOND = 1000

export class MockArchive {
  /** Gaps as the API shows them, but with times in Unix ms; `to` may be Infinity. */
  gaps = []
  bookmarks = []

  /** Recorded from `from` on, but for the gaps. */
  constructor(from) {
    this.from = from
  }

  covered(from, to) {
    let ms = Math.max(0, Math.min(to, Date.now()) - Math.max(from, this.from))
    for (const gap of this.gaps) ms -= Math.max(0, Math.min(to, gap.to, Date.now()) - Math.max(from, gap.from, this.from))
    return Math.max(0, ms)
  }

  recordings(query) {
    const from = Date.parse(query.get('from'))
    const to = Date.parse(query.get('to'))
    const step = Number(query.get('resolution') ?? (to - from) / 1e6) * SECOND
    // As the server does: spans closer together than a step are one, and shorter gaps are left out.
    const gaps = this.gaps.filter((gap) => gap.from < to && gap.to > from && gap.to - gap.from >= step)
    const edges = [Math.max(from, this.from), ...gaps.sort((a, b) => a.from - b.from).flatMap((gap) => [gap.from, gap.to]), Math.min(to, Date.now())]
    const spans = []
    for (let i = 0; i + 1 < edges.length; i += 2) {
      const [start, end] = [Math.max(from, edges[i]), Math.min(edges[i + 1], to, Date.now())]
      const covered = this.covered(start, end)
      if (covered > 0) spans.push({ from: iso(start), to: iso(end), bytes: Math.round(covered * 250), coverage_ratio: covered / (end - start) })
    }
    const bytes = spans.reduce((sum, span) => sum + span.bytes, 0)
    return {
      from: iso(from), to: iso(to), resolution_seconds: step / SECOND, source: 'main', zone: 'UTC', bytes,
      coverage_ratio: this.covered(from, to) / (to - from), spans,
      gaps: gaps.map(({ from: start, to: end, ...rest }) => ({ from: iso(start), ...(end < Infinity && { to: iso(end) }), ...rest })),
      bookmarks: this.bookmarks.filter((mark) => mark.from < to && mark.to >= from).map((mark) => ({ ...mark, from: iso(mark.from), to: iso(mark.to) })),
      more_gaps: false,
    }
  }

  days(query) {
    const zone = query.get('zone') ?? 'UTC'
    const date = new Intl.DateTimeFormat('en-CA', { timeZone: zone })
    const days = new Map()
    for (let at = Date.parse(query.get('from')); at < Math.min(Date.now(), Date.parse(query.get('to'))); at += 3600 * SECOND) {
      const key = date.format(at)
      days.set(key, (days.get(key) ?? 0) + this.covered(at, at + 3600 * SECOND) / SECOND)
    }
    return { days: [...days].filter(([, seconds]) => seconds > 0).map(([key, seconds]) => ({ date: key, bytes: Math.round(seconds * 250_000), covered_seconds: Math.round(seconds) })) }
  }

  /** The seconds with footage between two moments, as segments of the clip. */
  segments(from, to) {
    const found = []
    for (let n = Math.floor(from / SECOND); n * SECOND < Math.min(to, Date.now() - SECOND); n++) {
      if (this.covered(n * SECOND, (n + 1) * SECOND) > 999) found.push(n)
    }
    return found
  }

  playlist(query) {
    const to = query.has('to') ? Number(query.get('to')) : Infinity
    const segments = this.segments(Number(query.get('from')), to)
    if (segments.length === 0) return null
    const lines = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:1', '#EXT-X-MEDIA-SEQUENCE:0', '#EXT-X-DISCONTINUITY-SEQUENCE:0', `#EXT-X-PLAYLIST-TYPE:${to < Infinity ? 'VOD' : 'EVENT'}`, '#EXT-X-INDEPENDENT-SEGMENTS', '#EXT-X-MAP:URI="clip/init.mp4"']
    let last = segments[0] - 1
    for (const n of segments) {
      if ((n % CLIP_SEGMENTS === 0 || n !== last + 1) && n !== segments[0]) lines.push('#EXT-X-DISCONTINUITY')
      lines.push(`#EXT-X-PROGRAM-DATE-TIME:${iso(n * SECOND)}`, '#EXTINF:1.00000,', `clip/${n}.m4s`)
      last = n
    }
    if (to < Infinity) lines.push('#EXT-X-ENDLIST')
    return lines.join('\n') + '\n'
  }
}

const iso = (at) => new Date(at).toISOString()
