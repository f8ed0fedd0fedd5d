import { expect, test } from 'vitest'
import { causeText, gapText } from '../../src/logic/gapText'
import { compose, footageFrom, gapAt, measure, nothingRecorded, spanAt, type Gap, type Recorded, type Span } from '../../src/logic/recordings'

const span = (from: number, to: number, coverage = 1): Span => ({ from, to, bytes: (to - from) * 10, coverage })
const gap = (from: number, to: number, more: Partial<Gap> = {}): Gap => ({ from, to, cause: 'network', detail: '', ...more })
const answer = (from: number, to: number, more: Partial<Recorded>): Recorded => ({ ...nothingRecorded(from, to), ...more })

test('a fine answer lies over a coarse one, which shows through beside it', () => {
  const coarse = answer(0, 1000, { spans: [span(0, 1000, 0.9)] })
  const fine = answer(200, 400, { spans: [span(200, 280), span(320, 400)], gaps: [gap(280, 320)] })
  const all = compose([coarse, fine], 100, 900)
  expect(all.spans.map(({ from, to }) => [from, to])).toEqual([[100, 200], [200, 280], [320, 400], [400, 900]])
  expect(all.gaps).toEqual([gap(280, 320)])
  expect(measure(all.spans, 100, 900)).toEqual({ ms: 100 * 0.9 + 160 + 500 * 0.9, bytes: 7600 })
})

test('what was cut where answers meet is one again', () => {
  const left = answer(0, 500, { spans: [span(0, 300)], gaps: [gap(300, 700)] })
  const right = answer(500, 1000, { spans: [span(700, 1000)], gaps: [gap(300, 700)] })
  const all = compose([left, right], 0, 1000)
  expect(all.gaps).toEqual([gap(300, 700)])
  const meeting = compose([answer(0, 500, { spans: [span(0, 500)] }), answer(500, 1000, { spans: [span(500, 1000)] })], 0, 1000)
  expect(meeting.spans).toEqual([span(0, 1000)])
})

test('a gap that goes on keeps going on', () => {
  const all = compose([answer(0, 1000, { gaps: [gap(600, Infinity)] })], 700, 900)
  expect(all.gaps).toEqual([gap(700, Infinity)])
  expect(gapText(gap(600, Infinity), 60_600)).toBe('Network was down, for 1 min now')
  expect(gapText(gap(0, 240_000, { cause: 'camera_off' }), 1e9)).toBe('Camera was off, 4 min')
  expect(causeText('by_request')).toBe('Not recorded, as set')
})

test('a bookmark that several answers hold is one', () => {
  const mark = { id: 'b1', from: 450, to: 550, kind: 'bookmark', name: 'Parcel', keep: true }
  expect(compose([answer(0, 500, { bookmarks: [mark] }), answer(500, 1000, { bookmarks: [mark] })], 0, 1000).bookmarks).toEqual([mark])
})

test('the footage and the gap at a moment are found', () => {
  const spans = [span(0, 100), span(200, 300), span(500, 600)]
  for (const [at, from] of [[0, 0], [99, 0], [200, 200], [599, 500]] as const) expect(spanAt(spans, at)?.from).toBe(from)
  for (const at of [-1, 100, 150, 600]) expect(spanAt(spans, at)).toBeNull()
  expect([50, 100, 250, 450].map((at) => footageFrom(spans, at))).toEqual([50, 200, 250, 500])
  expect(footageFrom(spans, 600)).toBeNull()
  const gaps = [gap(100, 200), gap(300, 500, { cause: 'deleted' }), gap(0, 1000, { cause: 'unknown' })]
  expect(gapAt(gaps, 150)?.cause).toBe('network')
  expect(gapAt(gaps, 205)?.cause).toBe('unknown')
  expect(gapAt(gaps, 205, 10)?.cause).toBe('network')
  expect(gapAt(gaps, 2000)).toBeNull()
})
