import { fetchSightings, listenToDetections } from '../api/detections'
import { BoxBook, HOLD_MS, pictureRect, type SeenThing, type Sighting } from '../logic/boxes'

export interface OverlayOptions {
  cameraId: string
  video: HTMLVideoElement
  /** Over the video, as large as that. */
  canvas: HTMLCanvasElement
  /** The moment that is shown by the clock of the playlist, in Unix milliseconds; null if not known. */
  programMs: () => number | null
  /** The past is shown. */
  isPast: () => boolean
  /** Something is seen here, for the first time. */
  onFirst: () => void
}

/** The past is asked for in pieces of this length. */
const PIECE_MS = 30_000
/** Boxes that come this much later than their picture are drawn as such. */
const LATE_MS = 200
const COLOURS = ['#ffd400', '#4dd2ff', '#ff7ad9', '#7dff6b', '#ff9b54', '#b79cff']

/**
 * Draws what AI workers saw over the picture, in step with it: the time of the picture
 * that is on the screen is known by PROGRAM-DATE-TIME, and that of a report is its
 * frame's. A box fades as the picture moves on from the frame it was seen in.
 *
 * What tests may read of it is on the canvas: data-boxes, data-report-ms (the frame of
 * what is drawn), data-program-ms (the picture's) and data-late-ms (how much later than
 * its picture the newest report came).
 */
export class Overlay {
  private readonly book = new BoxBook()
  private readonly pieces = new Set<number>()
  private running: AbortController | null = null
  private wasPast = false
  private hasSeen = false
  private frame = 0
  private lateMs = 0

  constructor(private readonly options: OverlayOptions) {}

  get isOn(): boolean {
    return this.running !== null
  }

  start(): void {
    if (this.running) return
    const running = new AbortController()
    this.running = running
    // A page that nobody looks at needs no connection: browsers have six.
    let listening: AbortController | null = null
    const listen = (): void => {
      listening?.abort()
      listening = null
      if (document.hidden) return
      listening = new AbortController()
      listenToDetections(this.options.cameraId, listening.signal, (sighting) => this.onLive(sighting))
    }
    listen()
    document.addEventListener('visibilitychange', listen, { signal: running.signal })
    running.signal.addEventListener('abort', () => listening?.abort())
    this.schedule()
  }

  stop(): void {
    this.running?.abort()
    this.running = null
    this.forget()
    this.clear()
  }

  private onLive(sighting: Sighting): void {
    if (this.options.isPast()) return // the past has its own
    const programMs = this.options.programMs()
    this.lateMs = programMs === null ? 0 : Math.max(0, programMs - sighting.timeMs)
    this.take(sighting)
  }

  private take(sighting: Sighting): void {
    this.book.add(sighting)
    if (this.hasSeen || sighting.things.length === 0) return
    this.hasSeen = true
    this.options.onFirst()
  }

  private forget(): void {
    this.book.clear()
    this.pieces.clear()
    this.lateMs = 0
  }

  /** Draws with each picture where the browser says when there is one, and at least with each of the screen. */
  private schedule(): void {
    const { video } = this.options
    const running = this.running
    const draw = (aheadMs: number): void => {
      if (!running || running.signal.aborted) return
      this.draw(aheadMs)
    }
    if ('requestVideoFrameCallback' in video) {
      const onFrame: VideoFrameRequestCallback = (_now, { mediaTime }) => {
        draw((mediaTime - video.currentTime) * 1000)
        if (running && !running.signal.aborted) this.frame = video.requestVideoFrameCallback(onFrame)
      }
      this.frame = video.requestVideoFrameCallback(onFrame)
      // While the picture stands, what is new is drawn all the same.
      const timer = setInterval(() => video.paused && draw(0), 500)
      running?.signal.addEventListener('abort', () => {
        clearInterval(timer)
        video.cancelVideoFrameCallback(this.frame)
      })
      return
    }
    const onScreen = (): void => {
      draw(0)
      if (running && !running.signal.aborted) this.frame = requestAnimationFrame(onScreen)
    }
    this.frame = requestAnimationFrame(onScreen)
    running?.signal.addEventListener('abort', () => cancelAnimationFrame(this.frame))
  }

  /** aheadMs is how far the picture on the screen is ahead of the player's time, which is less exact. */
  private draw(aheadMs: number): void {
    const { options } = this
    const isPast = options.isPast()
    if (isPast !== this.wasPast) this.forget()
    this.wasPast = isPast
    const playerMs = options.programMs()
    if (playerMs === null) {
      this.clear()
      return
    }
    // More than that is no rounding: the two are of different moments of a seek.
    const programMs = playerMs + (Math.abs(aheadMs) < 500 ? aheadMs : 0)
    if (isPast) this.loadAround(programMs)
    this.paint(this.book.at(programMs), programMs)
  }

  private loadAround(programMs: number): void {
    const piece = Math.floor(programMs / PIECE_MS)
    const next = programMs % PIECE_MS > PIECE_MS / 2 ? piece + 1 : piece
    for (const wanted of new Set([piece, next])) {
      if (this.pieces.has(wanted)) continue
      if (this.pieces.size > 40) this.forget()
      this.pieces.add(wanted)
      void this.load(wanted)
    }
  }

  private async load(piece: number): Promise<void> {
    const { running } = this
    if (!running) return
    const fromMs = piece * PIECE_MS
    try {
      const found = await fetchSightings(this.options.cameraId, fromMs - HOLD_MS, fromMs + PIECE_MS, running.signal)
      if (this.wasPast) for (const sighting of found) this.take(sighting)
      // What is just now being recorded is not whole yet.
      if (fromMs + PIECE_MS > Date.now() - 5_000) setTimeout(() => this.pieces.delete(piece), 3_000)
    } catch {
      setTimeout(() => this.pieces.delete(piece), 5_000)
    }
  }

  private clear(): void {
    const { canvas } = this.options
    canvas.getContext('2d')?.clearRect(0, 0, canvas.width, canvas.height)
    canvas.dataset.boxes = '0'
  }

  private paint(sightings: readonly Sighting[], programMs: number): void {
    const { canvas, video } = this.options
    const context = canvas.getContext('2d')
    const ratio = window.devicePixelRatio || 1
    const width = Math.round(canvas.clientWidth * ratio)
    const height = Math.round(canvas.clientHeight * ratio)
    if (!context || width === 0 || height === 0) return
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width
      canvas.height = height
    }
    context.clearRect(0, 0, width, height)
    const rect = pictureRect(width, height, video.videoWidth, video.videoHeight)
    let boxes = 0
    let newest = 0
    for (const { timeMs, things } of sightings) {
      newest = Math.max(newest, timeMs)
      // Where it was then is where it is now for a moment only.
      context.globalAlpha = 1 - (0.75 * Math.max(0, programMs - timeMs)) / HOLD_MS
      for (const thing of things) {
        drawThing(context, thing, rect, ratio, this.lateMs > LATE_MS)
        boxes++
      }
    }
    context.globalAlpha = 1
    if (boxes > 0 && this.lateMs > LATE_MS) drawLate(context, rect, ratio, this.lateMs)
    canvas.dataset.boxes = String(boxes)
    canvas.dataset.reportMs = newest > 0 ? newest.toFixed(3) : ''
    canvas.dataset.programMs = programMs.toFixed(3)
    canvas.dataset.lateMs = String(Math.round(this.lateMs))
  }
}

function colourOf(label: string): string {
  let sum = 0
  for (const letter of label) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973
  return COLOURS[sum % COLOURS.length] ?? '#ffd400'
}

function drawThing(context: CanvasRenderingContext2D, thing: SeenThing, rect: { x: number; y: number; width: number; height: number }, ratio: number, late: boolean): void {
  const box = thing.box ?? { x: 0, y: 0, width: 1, height: 1 }
  const x = rect.x + box.x * rect.width
  const y = rect.y + box.y * rect.height
  context.strokeStyle = colourOf(thing.label)
  context.lineWidth = 2 * ratio
  context.setLineDash(late ? [6 * ratio, 4 * ratio] : [])
  context.strokeRect(x, y, box.width * rect.width, box.height * rect.height)
  const text = `${thing.label} ${Math.round(thing.score * 100)} %${thing.trackId ? ` #${thing.trackId}` : ''}`
  drawText(context, text, x, Math.max(rect.y, y - 18 * ratio), ratio, colourOf(thing.label))
}

function drawLate(context: CanvasRenderingContext2D, rect: { x: number; y: number }, ratio: number, lateMs: number): void {
  drawText(context, `boxes come ${(lateMs / 1000).toFixed(1)} s later than their picture`, rect.x + 8 * ratio, rect.y + 8 * ratio, ratio, '#f2f5f3')
}

function drawText(context: CanvasRenderingContext2D, text: string, x: number, y: number, ratio: number, colour: string): void {
  context.font = `${12 * ratio}px system-ui, sans-serif`
  context.textBaseline = 'top'
  context.fillStyle = 'rgb(6 9 8 / 72%)'
  context.fillRect(x, y, context.measureText(text).width + 8 * ratio, 18 * ratio)
  context.fillStyle = colour
  context.fillText(text, x + 4 * ratio, y + 2.5 * ratio)
}
