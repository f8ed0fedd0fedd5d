import { STUCK_AFTER_MS } from '../config'

/** What the watch of a player sees at one moment. */
export interface Sample {
  nowMs: number
  currentTime: number
  /** End of the newest segment in seconds, null before the first playlist. */
  edge: number | null
  targetDuration: number
  /** The picture is meant to move: not paused, and the page is seen. */
  expected: boolean
}

/**
 * Tells a player that is stuck from a camera that is away: stuck is when new
 * segments arrive and the picture still does not move.
 */
export class ProgressWatch {
  private lastTime = -1
  private sinceMs = -1
  private edgeThen: number | null = null

  /** Takes one sample and says whether the player is stuck. */
  isStuck(sample: Sample): boolean {
    if (this.sinceMs < 0 || !sample.expected || sample.currentTime !== this.lastTime) {
      this.restart(sample)
      return false
    }
    // The first playlist of all is no progress of the camera yet.
    if (this.edgeThen === null) this.edgeThen = sample.edge
    const waitedMs = sample.nowMs - this.sinceMs
    if (sample.edge === null || this.edgeThen === null) return waitedMs > 2 * STUCK_AFTER_MS
    return waitedMs > STUCK_AFTER_MS && sample.edge - this.edgeThen > 2 * sample.targetDuration
  }

  /** Begins anew, after something was done about it. */
  restart(sample: Sample): void {
    this.lastTime = sample.currentTime
    this.sinceMs = sample.nowMs
    this.edgeThen = sample.edge
  }
}
