import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { nothingRecorded, type Recorded } from '../../src/logic/recordings'
import { levelFor, tileFrom, tilesFor, tileTo } from '../../src/logic/tiles'
import { DAY, HOUR, MINUTE } from '../../src/logic/timeView'
import { findFootage, RecordingStore } from '../../src/recordingStore'

const now = Date.UTC(2025, 9, 2, 12)

beforeEach(() => {
  vi.useFakeTimers()
  vi.setSystemTime(now)
})
afterEach(() => void vi.useRealTimers())

interface Question {
  from: number
  to: number
  resolution: number
  signal: AbortSignal
  answer: (recorded?: Partial<Recorded>) => void
  refuse: () => void
}

function setUp() {
  const questions: Question[] = []
  let problem = ''
  const onChange = vi.fn()
  const store = new RecordingStore({
    load: (from, to, resolution, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
        questions.push({ from, to, resolution, signal, answer: (more = {}) => resolve({ ...nothingRecorded(from, to), ...more }), refuse: () => reject(new Error('refused')) })
      }),
    onChange,
    onProblem: (text) => (problem = text),
  })
  return { store, questions, onChange, problem: () => problem }
}

test('a year is asked for by days, an hour by seconds', () => {
  expect(levelFor({ from: now - 365 * DAY, to: now }, 365)).toBe(DAY)
  expect(levelFor({ from: now - 365 * DAY, to: now }, 1000)).toBe(4 * HOUR)
  expect(levelFor({ from: now - HOUR, to: now }, 1000)).toBe(1000)
  expect(levelFor({ from: now - 10_000, to: now }, 1000)).toBe(1000)
})

test('tiles cover the view, few of them, and nothing is asked about the future', () => {
  for (const span of [10_000, HOUR, DAY, 40 * DAY, 365 * DAY]) {
    const view = { from: now - span, to: now + span / 10 }
    const tiles = tilesFor(view, 1200, now)
    expect(tiles.length).toBeLessThanOrEqual(6)
    expect(Math.min(...tiles.map(tileFrom))).toBeLessThanOrEqual(view.from)
    expect(Math.max(...tiles.map(tileTo))).toBeGreaterThanOrEqual(now)
    for (const tile of tiles) expect(tileFrom(tile)).toBeLessThanOrEqual(now)
  }
  expect(tilesFor({ from: now + HOUR, to: now + 2 * HOUR }, 1000, now)).toEqual([])
})

test('a hand that zooms asks once, when it rests, and two questions are on their way at most', async () => {
  const { store, questions } = setUp()
  for (let span = 30 * DAY; span > DAY; span *= 0.9) store.want({ from: now - span, to: now }, 1000)
  expect(questions).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(200)
  expect(questions.length).toBeGreaterThan(0)
  expect(questions.length).toBeLessThanOrEqual(2)
})

test('what is on its way for another view is given up', async () => {
  const { store, questions, problem } = setUp()
  store.want({ from: now - HOUR, to: now }, 1000)
  await vi.advanceTimersByTimeAsync(200)
  store.want({ from: now - 300 * DAY, to: now }, 1000)
  expect(questions[0]?.signal.aborted).toBe(true)
  await vi.advanceTimersByTimeAsync(200)
  expect(problem()).toBe('')
  expect(questions.at(-1)?.resolution).toBe(4 * 3600)
})

test('what is known is not asked for again, but for the piece that grows', async () => {
  const { store, questions, onChange } = setUp()
  const view = { from: now - 5 * DAY, to: now }
  const settle = async (): Promise<void> => {
    store.want(view, 1000)
    for (let i = 0; i < 8; i++) {
      await vi.advanceTimersByTimeAsync(150)
      for (const question of questions) question.answer()
    }
  }
  await settle()
  const first = questions.length
  expect(store.isComplete).toBe(true)
  expect(onChange).toHaveBeenCalledTimes(first)
  await settle()
  expect(questions).toHaveLength(first)
  await vi.advanceTimersByTimeAsync(6_000)
  await settle()
  expect(questions.length).toBe(first + 1)
  expect(questions.at(-1)?.to).toBeGreaterThan(now)
})

test('coarse answers show where finer ones are not there yet', async () => {
  const { store, questions } = setUp()
  store.want({ from: now - 100 * DAY, to: now }, 1000)
  await vi.advanceTimersByTimeAsync(200)
  for (let i = 0; i < 4; i++) {
    for (const question of questions) question.answer({ spans: [{ from: question.from, to: question.to, bytes: 5, coverage: 0.5 }] })
    await vi.advanceTimersByTimeAsync(1)
  }
  store.want({ from: now - HOUR, to: now }, 1000)
  expect(store.isComplete).toBe(false)
  expect(store.recorded(now - HOUR, now).spans).toMatchObject([{ from: now - HOUR, to: now, coverage: 0.5 }])
})

test('a server that refuses is asked again later, not in a loop', async () => {
  const { store, questions, problem } = setUp()
  const view = { from: now - HOUR, to: now }
  store.want(view, 1000)
  await vi.advanceTimersByTimeAsync(200)
  for (const question of questions) question.refuse()
  await vi.advanceTimersByTimeAsync(1)
  expect(problem()).toBe('refused')
  const asked = questions.length
  for (let i = 0; i < 10; i++) {
    store.want(view, 1000)
    await vi.advanceTimersByTimeAsync(200)
  }
  expect(questions.length).toBe(asked)
  await vi.advanceTimersByTimeAsync(3_000)
  store.want(view, 1000)
  await vi.advanceTimersByTimeAsync(200)
  expect(questions.length).toBeGreaterThan(asked)
  store.stop()
})

test('the next footage behind months without any is found in a few looks', async () => {
  const begins = now - 10 * DAY + 123_000
  const looks: number[] = []
  const load = (from: number, to: number, resolution: number): Promise<Recorded> => {
    looks.push(resolution)
    const step = resolution * 1000
    const spans = []
    for (let at = Math.floor(from / step) * step; at < to; at += step) {
      const covered = Math.min(at + step, now) - Math.max(at, begins)
      if (covered > 0) spans.push({ from: Math.max(at, from), to: at + step, bytes: 1, coverage: Math.min(1, covered / step) })
    }
    return Promise.resolve({ ...nothingRecorded(from, to), spans })
  }
  const { signal } = new AbortController()
  const found = await findFootage(load, now - 200 * DAY, now, signal)
  expect(Math.abs((found ?? 0) - begins)).toBeLessThan(10_000)
  expect(looks.length).toBeLessThan(6)
  expect(await findFootage(() => Promise.resolve(nothingRecorded(0, 0)), now - DAY, now, signal)).toBeNull()
  expect(await findFootage(load, now - 5 * MINUTE, now, signal)).toBe(now - 5 * MINUTE)
})
