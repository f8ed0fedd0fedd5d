export type Step = 'recover' | 'swap-audio' | 'reload'

const FORGET_AFTER_MS = 30_000

/**
 * What to do about a media error: first what the viewer notices least. A step is
 * taken back once the player has run for a while without an error.
 */
export class RecoveryLadder {
  private taken = 0
  private lastErrorMs = -Infinity

  next(nowMs: number): Step {
    if (nowMs - this.lastErrorMs > FORGET_AFTER_MS) this.taken = 0
    this.lastErrorMs = nowMs
    this.taken++
    if (this.taken === 1) return 'recover'
    if (this.taken === 2) return 'swap-audio'
    return 'reload'
  }
}
