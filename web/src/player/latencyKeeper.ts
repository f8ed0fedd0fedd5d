import { LATENCY_MARGIN_MS } from '../config'

/** What a player has in front of it at one moment. */
export interface Ahead {
  nowMs: number
  /** From the picture on the screen to the end of what is buffered, in milliseconds. */
  aheadMs: number
  /** The picture moves. */
  playing: boolean
}

/** What to do: a playback rate, and how far to jump ahead where that would take too long. */
export interface Pace {
  rate: number
  jumpMs: number
}

const LOOK_BACK_MS = 1_500
const DEAD_ZONE_MS = 40
/** Milliseconds too many for one percent of speed. */
const MS_PER_PERCENT = 25
const MAX_FASTER_PERCENT = 12
const MAX_SLOWER_PERCENT = 4
const JUMP_MS = 2_500
const STALL_ADDS_MS = 150
const MARGIN_MAX_MS = 1_500
const CALM_MS = 30_000

/**
 * Keeps a low-latency player as near to live as its network allows. What is
 * buffered rises with each part and falls until the next: its lowest points are
 * what is really to spare. Where that is more than a margin, the player goes a
 * little faster; where less, a little slower. A stall widens the margin for a
 * while. hls.js does as much only where more than a second is buffered, which is
 * all the latency there should be.
 */
export class LatencyKeeper {
  private lows: { atMs: number; aheadMs: number }[] = []
  private marginMs = LATENCY_MARGIN_MS
  private calmSinceMs: number | null = null

  /** Takes what is ahead, a few times a second, and says how fast to play. */
  sample({ nowMs, aheadMs, playing }: Ahead): Pace {
    if (!playing) {
      this.lows = []
      return { rate: 1, jumpMs: 0 }
    }
    this.calmSinceMs ??= nowMs
    if (nowMs - this.calmSinceMs > CALM_MS && this.marginMs > LATENCY_MARGIN_MS) {
      this.marginMs = Math.max(LATENCY_MARGIN_MS, this.marginMs - STALL_ADDS_MS / 2)
      this.calmSinceMs = nowMs
    }
    this.lows = this.lows.filter((low) => low.atMs > nowMs - LOOK_BACK_MS)
    this.lows.push({ atMs: nowMs, aheadMs })
    const spareMs = Math.min(...this.lows.map((low) => low.aheadMs)) - this.marginMs
    if (spareMs > JUMP_MS) {
      this.lows = []
      return { rate: 1, jumpMs: spareMs }
    }
    return { rate: rateFor(spareMs), jumpMs: 0 }
  }

  /** The picture stood still for want of data. */
  stalled(nowMs: number): void {
    this.marginMs = Math.min(MARGIN_MAX_MS, this.marginMs + STALL_ADDS_MS)
    this.calmSinceMs = nowMs
    this.lows = []
  }
}

function rateFor(spareMs: number): number {
  if (Math.abs(spareMs) <= DEAD_ZONE_MS) return 1
  const percent = Math.trunc((spareMs - Math.sign(spareMs) * DEAD_ZONE_MS) / MS_PER_PERCENT) + Math.sign(spareMs)
  return 1 + Math.max(-MAX_SLOWER_PERCENT, Math.min(MAX_FASTER_PERCENT, percent)) / 100
}
