const FIRST_MS = 20_000
const MOST_MS = 300_000
/** Going down again so soon after it was allowed to go up means that it was too early. */
const TOO_SOON_MS = 60_000

/**
 * How long a player keeps to a smaller variant that it had to go over to. What small
 * parts tell about a network is mostly too good, and each try that fails may be seen.
 */
export class UpHold {
  private holdMs = FIRST_MS
  private endMs: number | null = null
  private endedMs = -Infinity

  /** It had to go down. */
  begin(nowMs: number): void {
    this.holdMs = nowMs - this.endedMs < TOO_SOON_MS ? Math.min(this.holdMs * 2, MOST_MS) : FIRST_MS
    this.endMs = nowMs + this.holdMs
  }

  /** Says once that it may go up again. */
  ends(nowMs: number): boolean {
    if (this.endMs === null || nowMs < this.endMs) return false
    this.endMs = null
    this.endedMs = nowMs
    return true
  }
}
