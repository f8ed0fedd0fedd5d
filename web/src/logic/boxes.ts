/** One thing that a worker saw, its box in fractions of the picture; null is all of it. */
export interface SeenThing {
  label: string
  score: number
  trackId: number
  box: { x: number; y: number; width: number; height: number } | null
}

/** What a worker saw in one frame. */
export interface Sighting {
  /** When the frame was taken, in Unix milliseconds with fractions. */
  timeMs: number
  worker: string
  things: SeenThing[]
}

/** A box stands this long without a newer report: workers look at a few pictures a second. */
export const HOLD_MS = 1_000
/** Clocks of frames and of the playlist differ by a little; a box may come that much early. */
const EARLY_MS = 40
/** Of one worker. At 25 a second those of two minutes. */
const MAX_SIGHTINGS = 3_000
const MAX_WORKERS = 8

/**
 * Remembers what was seen by the time of its frame, and knows what belongs over the
 * picture of a moment.
 */
export class BoxBook {
  private readonly byWorker = new Map<string, Sighting[]>()

  add(sighting: Sighting): void {
    let list = this.byWorker.get(sighting.worker)
    if (!list) {
      if (this.byWorker.size >= MAX_WORKERS) return
      list = []
      this.byWorker.set(sighting.worker, list)
    }
    const at = after(list, sighting.timeMs)
    if (list[at - 1]?.timeMs === sighting.timeMs) list[at - 1] = sighting
    else list.splice(at, 0, sighting)
    if (list.length > MAX_SIGHTINGS) list.splice(0, list.length - MAX_SIGHTINGS)
  }

  clear(): void {
    this.byWorker.clear()
  }

  /** The newest of each worker that is not of the future, and not too old to stand. */
  at(programMs: number): Sighting[] {
    const found: Sighting[] = []
    for (const list of this.byWorker.values()) {
      const sighting = list[after(list, programMs + EARLY_MS) - 1]
      if (sighting && programMs - sighting.timeMs <= HOLD_MS) found.push(sighting)
    }
    return found
  }
}

/** Where the first of those behind a moment is. */
function after(list: readonly Sighting[], timeMs: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.timeMs ?? Infinity) <= timeMs) low = middle + 1
    else high = middle
  }
  return low
}

/** RFC 3339 to Unix milliseconds, microseconds kept. */
export function preciseMs(text: string): number {
  const whole = Date.parse(text)
  const micros = /\.\d{3}(\d{1,3})/.exec(text)?.[1]
  return micros === undefined ? whole : whole + Number(micros.padEnd(3, '0')) / 1000
}

export interface Rect {
  x: number
  y: number
  width: number
  height: number
}

/** Where a picture is that keeps its shape within an element: object-fit: contain. */
export function pictureRect(elementWidth: number, elementHeight: number, videoWidth: number, videoHeight: number): Rect {
  if (videoWidth <= 0 || videoHeight <= 0) return { x: 0, y: 0, width: 0, height: 0 }
  const scale = Math.min(elementWidth / videoWidth, elementHeight / videoHeight)
  const width = videoWidth * scale
  const height = videoHeight * scale
  return { x: (elementWidth - width) / 2, y: (elementHeight - height) / 2, width, height }
}
