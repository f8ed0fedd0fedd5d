import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Announcer } from '../../src/logic/announcer'
import { LRU } from '../../src/logic/lru'
import { mediaTimeOf, wallTimeOf } from '../../src/logic/mediaClock'
import { Newest } from '../../src/logic/newest'
import { formatBytes, parseAge, parseBytes } from '../../src/logic/size'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

// Two segments, five seconds without footage, two more.
const T = Date.UTC(2025, 0, 1)
const segments = [
  { start: 10, duration: 2, programDateTime: T },
  { start: 12, duration: 2, programDateTime: T + 2_000 },
  { start: 14, duration: 2, programDateTime: T + 9_000 },
  { start: 16, duration: 2, programDateTime: T + 11_000 },
]

test('the wall clock and the player’s time are each other’s inverse where there is footage', () => {
  for (const ms of [0, 500, 3_999, 9_000, 12_500]) expect(wallTimeOf(segments, mediaTimeOf(segments, T + ms) ?? NaN)).toBeCloseTo(T + ms, 3)
})

test('a moment without footage is played from the next there is', () => {
  expect(mediaTimeOf(segments, T + 6_000)).toBe(14)
  expect(mediaTimeOf(segments, T - 60_000)).toBe(10)
  expect(mediaTimeOf(segments, T + 13_000)).toBeNull()
  expect(mediaTimeOf([], T)).toBeNull()
  expect(wallTimeOf([], 5)).toBeNull()
  expect(wallTimeOf(segments, 14)).toBe(T + 9_000)
  expect(wallTimeOf(segments, 99)).toBe(T + 13_000)
})

test('one job runs at a time, and of those that wait only the newest', async () => {
  const done: number[] = []
  let finish: () => void = () => {}
  const newest = new Newest<number>(async (job) => {
    await new Promise<void>((resolve) => (finish = resolve))
    done.push(job)
    if (job === 1) throw new Error('one that fails stops nothing')
  })
  for (const job of [1, 2, 3, 4]) newest.ask(job)
  for (let i = 0; i < 3; i++) {
    finish()
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(done).toEqual([1, 4])
})

test('what is dropped is not begun, and what runs hears of it', async () => {
  const seen: boolean[] = []
  let finish: () => void = () => {}
  const newest = new Newest<number>(async (_job, signal) => {
    await new Promise<void>((resolve) => (finish = resolve))
    seen.push(signal.aborted)
  })
  newest.ask(1)
  newest.ask(2)
  newest.drop()
  finish()
  await vi.advanceTimersByTimeAsync(0)
  newest.ask(3)
  finish()
  await vi.advanceTimersByTimeAsync(0)
  expect(seen).toEqual([true, false])
})

test('a bounded map forgets what was not used for longest', () => {
  const forgotten: string[] = []
  const lru = new LRU<string, string>(2, (value) => forgotten.push(value))
  lru.set('a', 'A')
  lru.set('b', 'B')
  lru.get('a')
  lru.set('c', 'C')
  expect(forgotten).toEqual(['B'])
  expect(lru.values()).toEqual(['A', 'C'])
  lru.clear()
  expect(forgotten).toEqual(['B', 'A', 'C'])
})

test('a text that changes all the time is spoken rarely, and its last state in the end', () => {
  const spoken: string[] = []
  const announcer = new Announcer((text) => spoken.push(text), 15_000)
  announcer.set('The camera refuses the connection')
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(1_000)
    announcer.set(i % 2 === 0 ? 'Connecting' : 'The camera refuses the connection')
  }
  vi.advanceTimersByTime(60_000)
  expect(spoken).toEqual(['The camera refuses the connection'])
  announcer.set('')
  expect(spoken.at(-1)).toBe('')
  announcer.set('Stalled')
  announcer.set('Connecting')
  vi.advanceTimersByTime(15_000)
  expect(spoken.slice(-2)).toEqual(['Stalled', 'Connecting'])
})

test('sizes and ages are read as people write them', () => {
  const sizes: [string, number | null][] = [['', 0], ['500 GB', 5e11], ['1.5TB', 1.5e12], ['1,5 tb', 1.5e12], ['2GiB', 2 * 1024 ** 3], ['100', 100], ['many', null], ['-1GB', null], ['1e9', null]]
  for (const [text, bytes] of sizes) expect(parseBytes(text)).toBe(bytes)
  const ages: [string, string | null][] = [['', ''], ['30', '30d'], ['30 days', '30d'], ['12h', '12h'], ['2 weeks', '14d'], ['1y', '365d'], ['0d', null], ['soon', null]]
  for (const [text, age] of ages) expect(parseAge(text)).toBe(age)
  for (const [bytes, text] of [[0, '0 B'], [999, '999 B'], [1500, '1.5 KB'], [8.44e9, '8.4 GB'], [999.7e6, '1 GB'], [5e11, '500 GB']] as const) {
    expect(formatBytes(bytes)).toBe(text)
    expect(Math.abs((parseBytes(text) ?? NaN) - bytes)).toBeLessThanOrEqual(bytes * 0.06)
  }
})
