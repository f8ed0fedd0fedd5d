import { preciseMs, type SeenThing, type Sighting } from '../logic/boxes'
import { call } from './client'
import { fields, list, number, text } from './read'

/** Pages of what was seen that are asked for at most, each of 2000. */
const MAX_PAGES = 10

function readThing(value: unknown): SeenThing | null {
  const thing = fields(value)
  const label = text(thing.label)
  if (label === '') return null
  const box = fields(thing.box)
  return {
    label,
    score: number(thing.score),
    trackId: number(thing.track_id),
    box: number(box.width) > 0 ? { x: number(box.x), y: number(box.y), width: number(box.width), height: number(box.height) } : null,
  }
}

/** Reads what came of a live stream; null if it makes no sense. */
export function readSighting(value: unknown): Sighting | null {
  const report = fields(value)
  const timeMs = preciseMs(text(report.time))
  if (!Number.isFinite(timeMs) || !Array.isArray(report.detections)) return null
  return { timeMs, worker: text(report.worker), things: list(report.detections).map(readThing).filter((thing) => thing !== null) }
}

/** Puts detections of one frame and worker together again. */
export function gatherSightings(detections: readonly unknown[]): Sighting[] {
  const found = new Map<string, Sighting>()
  for (const value of detections) {
    const one = readSighting({ ...fields(value), detections: [value] })
    if (!one) continue
    const key = `${one.worker} ${one.timeMs}`
    const known = found.get(key)
    if (known) known.things.push(...one.things)
    else found.set(key, one)
  }
  return [...found.values()]
}

/** Hears of what is seen of a camera from now on, until the signal is aborted. The browser comes back by itself. */
export function listenToDetections(cameraId: string, signal: AbortSignal, onSighting: (sighting: Sighting) => void): void {
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  const open = (): void => {
    source = new EventSource(`/api/v1/detections?camera=${encodeURIComponent(cameraId)}`)
    source.onmessage = (event) => {
      try {
        const sighting = readSighting(JSON.parse(String(event.data)))
        if (sighting) onSighting(sighting)
      } catch {
        // A message that was cut off by the server's end.
      }
    }
    source.onerror = () => {
      // After an answer that is none, browsers do not try again.
      if (source?.readyState !== EventSource.CLOSED) return
      clearTimeout(retry)
      retry = setTimeout(open, 10_000)
    }
  }
  open()
  signal.addEventListener('abort', () => {
    clearTimeout(retry)
    source?.close()
  })
}

/** What was seen of a camera in a time. */
export async function fetchSightings(cameraId: string, fromMs: number, toMs: number, signal: AbortSignal): Promise<Sighting[]> {
  const all: unknown[] = []
  let cursor = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ camera: cameraId, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), limit: '2000' })
    if (cursor !== '') query.set('cursor', cursor)
    const answer = fields(await call(`/detections?${query}`, { signal }))
    all.push(...list(answer.detections))
    cursor = text(answer.cursor)
    if (cursor === '') break
  }
  return gatherSightings(all)
}
