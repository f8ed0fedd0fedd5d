import { expect, test } from 'vitest'
import { Backoff, retryAfterMs } from '../../src/logic/backoff'

test('waits double up to the limit and begin anew after a success', () => {
  const backoff = new Backoff({ firstMs: 1000, maxMs: 15_000 }, () => 1)
  expect([1, 2, 3, 4, 5, 6].map(() => backoff.nextMs())).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000])
  backoff.reset()
  expect(backoff.nextMs()).toBe(1000)
})

test('jitter takes away at most half', () => {
  expect(new Backoff({ firstMs: 1000, maxMs: 15_000 }, () => 0).nextMs()).toBe(500)
})

test('a year of failures still waits no longer than the limit', () => {
  const backoff = new Backoff({ firstMs: 1000, maxMs: 15_000 })
  for (let i = 0; i < 3_000_000; i++) backoff.nextMs()
  const wait = backoff.nextMs()
  expect(wait).toBeGreaterThanOrEqual(7500)
  expect(wait).toBeLessThanOrEqual(15_000)
})

const now = Date.parse('2026-01-02T03:04:05Z')

test.each([
  [null, null],
  ['5', 5000],
  [' 0 ', 0],
  ['Fri, 02 Jan 2026 03:04:15 GMT', 10_000],
  ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
  ['86400', 60_000],
  ['soon', null],
])('Retry-After %s waits %s ms', (header, wait) => {
  expect(retryAfterMs(header, now)).toBe(wait)
})
