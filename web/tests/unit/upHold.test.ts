import { describe, expect, it } from 'vitest'
import { UpHold } from '../../src/player/upHold'

describe('UpHold', () => {
  it('ends once, after a while', () => {
    const hold = new UpHold()
    expect(hold.ends(0)).toBe(false)
    hold.begin(1_000)
    expect(hold.ends(20_999)).toBe(false)
    expect(hold.ends(21_000)).toBe(true)
    expect(hold.ends(22_000)).toBe(false)
  })

  it('lasts twice as long where going up was too early, up to five minutes', () => {
    const hold = new UpHold()
    let now = 0
    for (const lastsMs of [20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      hold.begin(now)
      expect(hold.ends(now + lastsMs - 1)).toBe(false)
      expect(hold.ends(now + lastsMs)).toBe(true)
      now += lastsMs + 10_000
    }
    hold.begin(now + 100_000)
    expect(hold.ends(now + 120_000)).toBe(true)
  })
})
