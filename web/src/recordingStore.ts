import { RECORDINGS_DEBOUNCE_MS, RECORDINGS_KEPT, RECORDINGS_LIVE_MS, RECORDINGS_STALE_MS } from './config'
import { LRU } from './logic/lru'
import { compose, type Recorded } from './logic/recordings'
import { tileFrom, tileName, tilesFor, tileTo, type TileKey } from './logic/tiles'
import type { View } from './logic/timeView'

interface Tile extends TileKey {
  recorded: Recorded
  askedAtMs: number
}

export type LoadRecordings = (from: number, to: number, resolutionSeconds: number, signal: AbortSignal) => Promise<Recorded>

export interface RecordingStoreOptions {
  load: LoadRecordings
  onChange: () => void
  /** What went wrong with the last question; "" when it was answered. */
  onProblem: (problem: string) => void
  now?: () => number
}

/** Questions on their way at once; a browser has six connections, and the picture needs some. */
const AT_ONCE = 2

/**
 * What is known of a camera's recordings: asked for in pieces as they come into
 * view, kept within bounds, and asked for anew where they may have changed.
 */
export class RecordingStore {
  private readonly tiles = new LRU<string, Tile>(RECORDINGS_KEPT)
  private readonly asking = new Map<string, AbortController>()
  private wanted: TileKey[] = []
  private debounce: ReturnType<typeof setTimeout> | undefined
  private stopped = false
  private failedAtMs = -Infinity
  private readonly now: () => number

  constructor(private readonly options: RecordingStoreOptions) {
    this.now = options.now ?? Date.now
  }

  /** Says what is looked at. What is on its way for another view is given up. */
  want(view: View, width: number): void {
    this.wanted = tilesFor(view, width, this.now())
    for (const key of this.wanted) this.tiles.get(tileName(key)) // counts as use
    const names = new Set(this.wanted.map(tileName))
    for (const [name, asking] of this.asking) {
      if (!names.has(name)) asking.abort()
    }
    // A hand that zooms passes many views: only one that stays is asked about.
    this.debounce ??= setTimeout(() => {
      this.debounce = undefined
      this.ask()
    }, RECORDINGS_DEBOUNCE_MS)
  }

  /** What is known of a stretch of time, by the finest answers there are; those of the view's resolution on top. */
  recorded(from: number, to: number): Recorded {
    const finest = this.wanted[0]?.levelMs ?? 0
    const tiles = this.tiles.values()
    // Coarse below fine; much finer ones than the view's would be a patchwork on it.
    const usable = tiles.filter((tile) => tile.levelMs >= finest).sort((a, b) => b.levelMs - a.levelMs)
    return compose(usable.map((tile) => tile.recorded), from, to)
  }

  /** Everything in view is known. */
  get isComplete(): boolean {
    return this.wanted.every((key) => this.tiles.peek(tileName(key)))
  }

  /** What is in view may have changed. */
  refresh(): void {
    this.tiles.clear()
    this.ask()
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.debounce)
    for (const asking of this.asking.values()) asking.abort()
  }

  private ask(): void {
    const now = this.now()
    if (this.stopped || now < this.failedAtMs + 3_000) return
    for (const key of this.wanted) {
      if (this.asking.size >= AT_ONCE) return
      const name = tileName(key)
      if (!this.asking.has(name) && this.isStale(key, now)) void this.load(key, name)
    }
  }

  private isStale(key: TileKey, now: number): boolean {
    const tile = this.tiles.peek(tileName(key))
    if (!tile) return true
    // The piece that holds the present grows; of the others only retention takes away.
    const goodMs = tileTo(key) > tile.askedAtMs - 60_000 ? RECORDINGS_LIVE_MS : RECORDINGS_STALE_MS
    return now - tile.askedAtMs > goodMs
  }

  private async load(key: TileKey, name: string): Promise<void> {
    const asking = new AbortController()
    this.asking.set(name, asking)
    const askedAtMs = this.now()
    try {
      const recorded = await this.options.load(tileFrom(key), Math.min(tileTo(key), askedAtMs), key.levelMs / 1000, asking.signal)
      if (asking.signal.aborted) return
      this.tiles.set(name, { ...key, recorded, askedAtMs })
      this.options.onProblem('')
      this.options.onChange()
    } catch (err) {
      if (asking.signal.aborted) return
      this.failedAtMs = this.now()
      this.options.onProblem(err instanceof Error ? err.message : 'The recordings could not be asked for')
    } finally {
      this.asking.delete(name)
      if (!this.stopped) this.ask()
    }
  }
}

/** The first moment with footage at or behind one, found from afar first, then closer. */
export async function findFootage(load: LoadRecordings, at: number, now: number, signal: AbortSignal): Promise<number | null> {
  let from = at
  let to = now
  for (let look = 0; look < 6 && from < to; look++) {
    const resolution = Math.max(1, Math.ceil((to - from) / 1000 / 500))
    const { spans } = await load(from, to, resolution, signal)
    const span = spans.find((candidate) => candidate.to > from)
    if (!span) return null
    const start = Math.max(from, span.from)
    if (span.coverage >= 0.999 || resolution <= 5) return start
    from = start
    // In this step or at the beginning of the next.
    to = Math.min(to, Math.max(start + 2 * resolution * 1000, Math.min(span.to, start + 500_000)))
  }
  return from < to ? from : null
}
