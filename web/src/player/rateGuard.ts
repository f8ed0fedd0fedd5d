/** A part or a segment being loaded, or one that was. */
export interface Load {
  startMs: number
  /** 0 before it. */
  firstByteMs: number
  /** When it was there; null while it is loaded. */
  endMs: number | null
  /** How long it plays. */
  mediaMs: number
  /** So far. */
  bytes: number
  /** What it will be; 0 where that is not known. */
  totalBytes: number
}

/** What to do about a network that carries too little. */
export interface Shortage {
  bitsPerSecond: number
  /** What is being loaded is best let come: it is there sooner than it is played. */
  letCome: boolean
}

const LOOK_BACK_MS = 1_500
/** Loading that took less tells nothing. */
const MIN_LOADING_MS = 300
/** Milliseconds of loading for one of media, beyond which the network carries too little. */
const TOO_SLOW = 1.1
/** With more than this in front there is time for hls.js to find out by itself. */
const AMPLE_MS = 1_200

/**
 * Sees that the network no longer carries what is loaded, while there is still
 * something to play. hls.js averages over seconds of loading, and believes that
 * average for whatever takes less than one: low latency has half a second to spare.
 * And it gives up a segment for a smaller variant's, but never for the smallest
 * one's, which is the only other that a camera has.
 */
export class RateGuard {
  private loads: Load[] = []

  started(load: Load): void {
    this.loads.push(load)
  }

  /** Begins anew, with another variant. */
  reset(): void {
    this.loads = []
  }

  /** Returns null while the network carries enough. */
  check(nowMs: number, aheadMs: number): Shortage | null {
    this.loads = this.loads.filter(({ endMs }) => endMs === null || endMs > nowMs - LOOK_BACK_MS)
    return this.comesTooLate(nowMs, aheadMs) ?? (aheadMs > AMPLE_MS ? null : this.fallsBehind())
  }

  /** What is being loaded will be there when there is next to nothing left to play. */
  private comesTooLate(nowMs: number, aheadMs: number): Shortage | null {
    const load = this.loads.at(-1)
    if (!load || load.endMs !== null || load.firstByteMs === 0) return null
    const streamingMs = nowMs - load.firstByteMs
    if (streamingMs < within(load.mediaMs / 4, 100, 500) || load.totalBytes === 0) return null
    const bytesPerMs = load.bytes / streamingMs
    const leftMs = (load.totalBytes - load.bytes) / bytesPerMs
    if (aheadMs - leftMs > within(load.mediaMs / 2, 100, 1_000) || streamingMs + leftMs < load.mediaMs) return null
    return { bitsPerSecond: bytesPerMs * 8_000, letCome: leftMs < load.mediaMs }
  }

  /** Of late, parts took longer to load than they play. */
  private fallsBehind(): Shortage | null {
    let loadingMs = 0
    let mediaMs = 0
    let bytes = 0
    for (const load of this.loads) {
      if (load.endMs === null) continue
      loadingMs += load.endMs - load.startMs
      mediaMs += load.mediaMs
      bytes += load.bytes
    }
    if (loadingMs < MIN_LOADING_MS || loadingMs < mediaMs * TOO_SLOW) return null
    return { bitsPerSecond: (bytes * 8_000) / loadingMs, letCome: false }
  }
}

function within(ms: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, ms))
}
