import { STARVED_AFTER_MS, STUCK_AFTER_MS } from '../config'

/** What the watch of a player sees at one moment. */
export interface Sample {
  nowMs: number
  currentTime: number
  /** There is a picture for currentTime: a jump to where there is none is no progress. */
  hasData: boolean
  /** Segments handed to the decoder so far. */
  appended: number
  /** End of the newest segment in seconds, null before the first playlist. */
  edge: number | null
  targetDuration: number
  /** The picture is meant to move: not paused, and the page is seen. */
  expected: boolean
}

/**
 * Tells a player that is stuck from one whose camera is away or whose network is
 * slow: stuck is when the decoder gets segments and the picture does not move.
 */
export class ProgressWatch {
  private last: Sample | null = null

  /** Takes one sample and says whether the player is stuck. */
  isStuck(sample: Sample): boolean {
    const { last } = this
    if (!last || !sample.expected || (sample.hasData && sample.currentTime !== last.currentTime)) {
      this.last = { ...sample }
      return false
    }
    // The first playlist of all is no progress of the camera yet.
    if (last.edge === null) last.edge = sample.edge
    const waitedMs = sample.nowMs - last.nowMs
    if (sample.appended - last.appended >= 2 && waitedMs > STUCK_AFTER_MS) return true
    const edgeMoved = sample.edge === null || last.edge === null || sample.edge - last.edge > 2 * sample.targetDuration
    return edgeMoved && waitedMs > STARVED_AFTER_MS
  }

  /** Begins anew, after something was done about it. */
  restart(sample: Sample): void {
    this.last = { ...sample }
  }
}
