import type Hls from 'hls.js'
import { isFresh, isFreshText } from './freshness'

/** How often it is asked whether a source that went away is back. */
const ASK_AGAIN_MS = 5_000
const ANSWER_MS = 4_000

/**
 * Shows another source of the camera while the one that is shown has gone: hls.js
 * changes over for want of bandwidth, and otherwise stays where the picture ended.
 */
export class Detour {
  /** Another source is shown than hls.js would choose. */
  private taken = false
  /** The bandwidth as it was before, in bits per second. */
  private estimate = 0
  private asking = false
  private askedMs = -Infinity

  constructor(
    private readonly hls: Hls,
    /** The time of the playlists' server, in Unix milliseconds. */
    private readonly serverMs: () => number,
    private readonly signal: AbortSignal,
    /** hls.js is about to choose again: what was learnt from a source that had gone is no more. */
    private readonly onReturn: () => void,
  ) {}

  /** Looks after it; to be called about once a second. */
  async check(): Promise<void> {
    const { hls } = this
    const level = hls.levels[hls.loadLevel]
    if (hls.levels.length < 2 || this.asking || !(hls.autoLevelEnabled || this.taken)) return
    const gone = level?.details !== undefined && !isFresh(level.details, this.serverMs())
    if ((!gone && !this.taken) || performance.now() - this.askedMs < ASK_AGAIN_MS) return
    this.asking = true
    try {
      const other = await this.bestOther(hls.loadLevel)
      if (this.signal.aborted || other < 0) return
      if (gone) {
        this.estimate = hls.bandwidthEstimate
        hls.nextLevel = other
        this.taken = true
      } else if (other > hls.loadLevel) {
        const back = hls.levels[other]
        if (back) back.loadError = back.fragmentError = 0 // hls.js chooses none that has failed
        this.onReturn()
        // A small source says little of what the network carries.
        hls.bandwidthEstimate = Math.max(hls.bandwidthEstimate, this.estimate)
        hls.nextLevel = -1
        this.taken = false
      }
    } finally {
      this.asking = false
      this.askedMs = performance.now()
    }
  }

  /** A viewer has chosen: there is nothing to look after, or to go back to. */
  forget(): void {
    this.taken = false
  }

  /** The best level besides one whose playlist goes on; -1 where none does. */
  private async bestOther(than: number): Promise<number> {
    for (let i = this.hls.levels.length - 1; i >= 0; i--) {
      const url = this.hls.levels[i]?.url[0]
      if (i !== than && url !== undefined && (await this.goesOn(url))) return i
    }
    return -1
  }

  private async goesOn(url: string): Promise<boolean> {
    try {
      const response = await fetch(url, { signal: AbortSignal.any([this.signal, AbortSignal.timeout(ANSWER_MS)]), cache: 'no-cache' })
      return response.ok && isFreshText(await response.text(), this.serverMs())
    } catch {
      return false
    }
  }
}
