import { describe, expect, it } from 'vitest'
import { RateGuard, type Load } from '../../src/player/rateGuard'

const part = (startMs: number, over: Partial<Load> = {}): Load => ({
  startMs, firstByteMs: startMs + 5, endMs: null, mediaMs: 200, bytes: 0, totalBytes: 50_000, ...over,
})

describe('RateGuard', () => {
  it('says nothing while parts come quickly', () => {
    const guard = new RateGuard()
    for (let at = 0; at < 3_000; at += 200) {
      const load = part(at)
      guard.started(load)
      load.endMs = at + 60
      load.bytes = load.totalBytes
      expect(guard.check(at + 60, 300)).toBeNull()
    }
  })

  it('says what the network carries when a part will come too late', () => {
    const guard = new RateGuard()
    const load = part(0)
    guard.started(load)
    load.bytes = 10_000
    expect(guard.check(55, 350)).toBeNull() // too early to tell
    load.bytes = 20_000
    expect(guard.check(205, 200)).toEqual({ bitsPerSecond: 800_000, letCome: false })
  })

  it('lets a part come that is nearly there', () => {
    const guard = new RateGuard()
    guard.started(part(0, { bytes: 30_000 }))
    expect(guard.check(205, 200)).toEqual({ bitsPerSecond: 1_200_000, letCome: true })
  })

  it('lets a part be late that is buffered ahead of', () => {
    const guard = new RateGuard()
    guard.started(part(0, { bytes: 20_000 }))
    expect(guard.check(205, 900)).toBeNull()
  })

  it('lets a large part come that comes within its time', () => {
    const guard = new RateGuard()
    guard.started(part(0, { bytes: 40_000 }))
    expect(guard.check(125, 50)).toBeNull()
  })

  it('sees parts that each come a little too late', () => {
    const guard = new RateGuard()
    guard.started(part(0, { endMs: 230, bytes: 50_000 }))
    expect(guard.check(240, 400)).toBeNull()
    guard.started(part(230, { endMs: 470, bytes: 50_000 }))
    expect(guard.check(480, 400)?.bitsPerSecond).toBeCloseTo(800_000 / 0.47)
  })

  it('leaves it to hls.js where there is plenty to play', () => {
    const guard = new RateGuard()
    guard.started(part(0, { endMs: 900, bytes: 50_000 }))
    expect(guard.check(910, 2_000)).toBeNull()
  })

  it('forgets what was loaded of another variant', () => {
    const guard = new RateGuard()
    guard.started(part(0, { endMs: 900, bytes: 50_000 }))
    guard.reset()
    expect(guard.check(910, 300)).toBeNull()
  })
})
