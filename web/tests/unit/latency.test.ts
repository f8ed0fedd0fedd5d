import { expect, test } from 'vitest'
import { LatencyKeeper } from '../../src/player/latencyKeeper'
import { livePlaylistPath, lowLatencyFits } from '../../src/player/playlistURL'

/** Plays parts of 200 ms that come every 200 ms, and returns what is ahead at the lowest, at the end. */
function play(keeper: LatencyKeeper, aheadMs: number, seconds: number, startMs = 0): { lowMs: number; rates: number[]; jumpedMs: number } {
  const rates: number[] = []
  let jumpedMs = 0
  let low = Infinity
  for (let at = 0; at < seconds * 1000; at += 50) {
    if (at % 200 === 0) aheadMs += 200
    const { rate, jumpMs } = keeper.sample({ nowMs: startMs + at, aheadMs, playing: true })
    rates.push(rate)
    jumpedMs += jumpMs
    aheadMs -= jumpMs + 50 * rate
    if (at > (seconds - 1) * 1000) low = Math.min(low, aheadMs)
  }
  return { lowMs: low, rates, jumpedMs }
}

test('what is too much is played faster, until a margin is left', () => {
  const { lowMs, rates, jumpedMs } = play(new LatencyKeeper(), 800, 20)
  expect(Math.max(...rates)).toBeCloseTo(1.12)
  expect(lowMs).toBeGreaterThan(100)
  expect(lowMs).toBeLessThan(250)
  expect(rates.at(-1)).toBe(1)
  expect(jumpedMs).toBe(0)
})

test('what is too little is played slower', () => {
  const { lowMs, rates } = play(new LatencyKeeper(), -120, 20)
  expect(Math.min(...rates)).toBeLessThan(1)
  expect(Math.min(...rates)).toBeGreaterThanOrEqual(0.96)
  expect(lowMs).toBeGreaterThan(50)
})

test('what would take too long to play is jumped over', () => {
  const { lowMs, jumpedMs } = play(new LatencyKeeper(), 6_000, 20)
  expect(jumpedMs).toBeGreaterThan(5_000)
  expect(lowMs).toBeGreaterThan(50)
  expect(lowMs).toBeLessThan(250)
})

test('a stall widens the margin, and calm narrows it again', () => {
  const keeper = new LatencyKeeper()
  keeper.stalled(0)
  keeper.stalled(0)
  const after = play(keeper, 800, 20)
  expect(after.lowMs).toBeGreaterThan(350)
  const later = play(keeper, after.lowMs, 300, 20_000)
  expect(later.lowMs).toBeLessThan(250)
})

test('a player that does not play is left alone', () => {
  const keeper = new LatencyKeeper()
  expect(keeper.sample({ nowMs: 0, aheadMs: 9_000, playing: false })).toEqual({ rate: 1, jumpMs: 0 })
})

test('low latency is for one picture, and for many where connections are shared', () => {
  expect(livePlaylistPath('door', '/s/abc')).toBe('/s/abc/hls/door/live.m3u8')
  expect(lowLatencyFits(false, 'http/1.1')).toBe(true)
  expect(lowLatencyFits(true, 'http/1.1')).toBe(false)
  expect(lowLatencyFits(true, 'h2')).toBe(true)
})
