import type Hls from 'hls.js'
import type { ErrorData, LevelDetails } from 'hls.js'
import { PLAYER_BACKOFF } from '../config'
import { Backoff } from '../logic/backoff'
import { mediaTimeOf, wallTimeOf, type TimedSegment } from '../logic/mediaClock'
import { archivePlaylistPath, holds, stretchAround, type Stretch } from './archiveURL'
import { dropFrame, freezeFrame } from './freeze'
import { archiveConfig } from './hlsConfig'
import { loadHls } from './loadHls'
import type { PlayerStatus } from './livePlayer'

export interface ArchivePlayerOptions {
  cameraId: string
  video: HTMLVideoElement
  /** Under the video: holds the last picture while there is none. */
  canvas: HTMLCanvasElement
  /** The first moment with footage at or behind one; null if there is none but live. */
  nextFootage: (at: number, signal: AbortSignal) => Promise<number | null>
  /** The sources that are recorded, where more than one is: what to try where the first cannot be played. */
  sources: () => readonly string[]
  onStatus: (status: PlayerStatus) => void
  /** There is nothing more to play but what happens now. */
  onLive: () => void
}

/** Nearer to the end of what is recorded than this there is no playing faster. */
const AT_EDGE_S = 3
/** A picture that stands still this long although there is data gets a push. */
const STUCK_MS = 6_000
/** Tracks seldom end together: where one has ended and nothing moves any more, that is the end. */
const END_S = 0.6
const END_MS = 600

/**
 * Plays a camera's past in the video element of its live picture: hour by hour,
 * from any moment on, over gaps, until there is nothing more but live.
 */
export class ArchivePlayer {
  private hls: Hls | null = null
  private running: AbortController | null = null
  private stretch: Stretch | null = null
  private details: LevelDetails | null = null
  /** Where to go, until the playlist is there by which it is known where that is. */
  private target: number | null = null
  /** What the stretch was loaded for. */
  private wanted: number | null = null
  /** The source that is played; "" is the one that was recorded first. */
  private source = ''
  private readonly unplayable = new Set<string>()
  private wantsPlay = true
  private chosenRate = 1
  private atEdge = false
  /** The end of the stretch has been reached, and what comes behind it is looked for. */
  private isOver = false
  /** Counts what was asked for, so that what was found out for an older wish is dropped. */
  private wishes = 0
  private watch: ReturnType<typeof setInterval> | undefined
  private movedAtMs = 0
  private lastTime = -1
  private readonly backoff = new Backoff(PLAYER_BACKOFF)
  private retry: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly options: ArchivePlayerOptions) {
    const { video } = options
    video.addEventListener('playing', () => this.running && this.onPlaying())
    video.addEventListener('seeked', () => this.running && this.onSeeked())
    video.addEventListener('waiting', () => this.running && this.wantsPlay && this.setStatus({ kind: 'buffering' }))
    video.addEventListener('ended', () => this.running && this.onEnded())
    video.addEventListener('pause', () => {
      if (this.running && this.hls && !document.hidden && !video.ended && !video.seeking && video.error === null) this.wantsPlay = false
    })
    video.addEventListener('play', () => {
      if (this.running) this.wantsPlay = true
    })
  }

  get isActive(): boolean {
    return this.running !== null
  }

  get paused(): boolean {
    return !this.wantsPlay
  }

  get rate(): number {
    return this.chosenRate
  }

  /** The moment that is shown, or that is on its way. */
  get wallMs(): number | null {
    if (this.target !== null) return this.target
    return wallTimeOf(this.segments(), this.options.video.currentTime)
  }

  /** It plays what is recorded just now. */
  get isAtEdge(): boolean {
    return this.atEdge
  }

  /** Plays from a moment on, or stands there if playing is not wanted. */
  playFrom(wallMs: number, play = this.wantsPlay || !this.isActive): void {
    this.wantsPlay = play
    this.atEdge = false
    this.isOver = false
    this.running ??= this.begin()
    const media = this.stretch && holds(this.stretch, wallMs) && this.details ? mediaTimeOf(this.segments(), wallMs) : null
    if (media !== null && this.target === null) {
      this.options.video.currentTime = media
      this.resume()
      return
    }
    void this.load(stretchAround(wallMs, Date.now()), wallMs)
  }

  play(): void {
    this.wantsPlay = true
    this.resume()
  }

  pause(): void {
    this.wantsPlay = false
    this.options.video.pause()
  }

  setRate(rate: number): void {
    this.chosenRate = rate
    this.applyRate()
  }

  /** Goes by single pictures, standing. */
  step(seconds: number): void {
    this.pause()
    const { video } = this.options
    video.currentTime = Math.max(0, video.currentTime + seconds)
  }

  stop(): void {
    if (!this.running) return
    this.running.abort()
    this.running = null
    clearInterval(this.watch)
    this.endHls()
    this.stretch = null
    this.target = null
    this.chosenRate = 1
    this.wantsPlay = true
    this.options.video.playbackRate = 1
    this.options.video.defaultPlaybackRate = 1
    delete this.options.video.dataset.wallMs
  }

  private begin(): AbortController {
    this.watch = setInterval(() => this.check(), 250)
    return new AbortController()
  }

  private segments(): readonly TimedSegment[] {
    return this.details?.fragments ?? []
  }

  private async load(stretch: Stretch, at: number): Promise<void> {
    const { running } = this
    if (!running) return
    this.wishes++
    clearTimeout(this.retry)
    this.stretch = stretch
    this.target = at
    this.wanted = at
    this.isOver = false
    this.setStatus({ kind: 'loading' })
    const hlsClass = await loadHls(false)
    // Another moment may have been asked for meanwhile, or live.
    if (running.signal.aborted || this.stretch !== stretch) return
    this.endHls()
    if (!hlsClass.isSupported()) {
      this.setStatus({ kind: 'unsupported', message: 'This browser cannot play recordings here. Export them, or try a current Firefox, Chrome, Edge or Safari.' })
      return
    }
    const hls = new hlsClass({ ...archiveConfig, autoStartLoad: false })
    this.hls = hls
    hls.on(hlsClass.Events.ERROR, (_event, data) => this.hls === hls && this.onError(data))
    hls.on(hlsClass.Events.LEVEL_LOADED, (_event, { details }) => this.hls === hls && this.onDetails(hls, details))
    hls.on(hlsClass.Events.LEVEL_UPDATED, (_event, { details }) => {
      if (this.hls === hls) this.details = details
    })
    hls.on(hlsClass.Events.FRAG_BUFFERED, () => this.backoff.reset())
    hls.loadSource(archivePlaylistPath(this.options.cameraId, stretch, this.source))
    hls.attachMedia(this.options.video)
  }

  /** The first playlist says where the moment that is wanted lies in it. */
  private onDetails(hls: Hls, details: LevelDetails): void {
    this.details = details
    const { target, stretch } = this
    if (target === null || !stretch) return
    const media = mediaTimeOf(this.segments(), target)
    if (media === null) {
      if (stretch.to === null) this.toLive()
      else void this.skipTo(stretch.to)
      return
    }
    this.target = null
    this.applyRate()
    this.movedAtMs = Date.now()
    hls.startLoad(media)
    this.resume()
  }

  private async skipTo(at: number): Promise<void> {
    const { running } = this
    if (!running) return
    const wish = ++this.wishes
    const next = await this.options.nextFootage(at, running.signal).catch(() => at)
    if (running.signal.aborted || wish !== this.wishes) return
    if (next === null || next > Date.now() - 10_000) this.toLive()
    else void this.load(stretchAround(next, Date.now()), next)
  }

  private toLive(): void {
    this.options.onLive()
  }

  private resume(): void {
    this.movedAtMs = Date.now()
    if (!this.wantsPlay) return
    this.options.video.play().catch((err: unknown) => {
      if (err instanceof DOMException && err.name === 'NotAllowedError') this.setStatus({ kind: 'blocked' })
    })
  }

  private onPlaying(): void {
    dropFrame(this.options.canvas)
    this.setStatus({ kind: 'playing' })
  }

  /** A picture that stands is a picture, too: nothing is being waited for. */
  private onSeeked(): void {
    if (this.wantsPlay) return
    dropFrame(this.options.canvas)
    this.setStatus({ kind: 'playing' })
  }

  private onEnded(): void {
    const { stretch } = this
    if (!stretch || this.isOver) return
    this.isOver = true
    if (stretch.to === null) this.toLive()
    else void this.skipTo(stretch.to)
  }

  private onError(data: ErrorData): void {
    if (!data.fatal) return
    const { stretch, hls } = this
    const at = this.wallMs ?? stretch?.from ?? Date.now()
    if (data.response?.code === 404 && this.target !== null && stretch) {
      void this.skipTo(stretch.to ?? Math.max(at, stretch.from))
      return
    }
    if (data.type === 'mediaError' && data.details !== 'bufferAddCodecError' && data.details !== 'manifestIncompatibleCodecsError') {
      hls?.recoverMediaError()
      this.resume()
      return
    }
    if (data.type === 'mediaError' && stretch && this.tryOtherSource()) {
      void this.load(stretch, this.wanted ?? at)
      return
    }
    if (data.type === 'mediaError') {
      // The next wish begins anew: the camera's settings may be others by then.
      this.endHls()
      this.stretch = null
      this.target = this.wanted ?? at // and not where the playlist begins: the bar stays where it was
      this.setStatus({ kind: 'unsupported', message: 'This browser cannot play what was recorded, probably H.265. Export it, or try Safari, or Firefox or Edge with hardware support.' })
      return
    }
    const waitMs = this.backoff.nextMs()
    this.setStatus({ kind: 'waiting', reason: 'The recording could not be loaded', retryAtMs: Date.now() + waitMs })
    this.target = at
    clearTimeout(this.retry)
    this.retry = setTimeout(() => void this.load(stretchAround(at, Date.now()), at), waitMs)
  }

  /** A second, smaller source is often H.264 where the first is not. */
  private tryOtherSource(): boolean {
    const sources = this.options.sources()
    this.unplayable.add(this.source === '' ? (sources[0] ?? '') : this.source)
    const other = sources.find((name) => !this.unplayable.has(name))
    if (other === undefined) return false
    this.source = other
    return true
  }

  private check(): void {
    const { video } = this.options
    const wall = this.wallMs
    if (wall !== null) video.dataset.wallMs = String(Math.round(wall))
    this.atEdge = this.edgeDistance() < AT_EDGE_S && !video.seeking && this.target === null
    this.applyRate()
    if (video.currentTime !== this.lastTime || !this.wantsPlay || document.hidden) {
      this.lastTime = video.currentTime
      this.movedAtMs = Date.now()
    } else if (Date.now() - this.movedAtMs > END_MS && this.isAtEnd()) {
      this.onEnded()
    } else if (Date.now() - this.movedAtMs > STUCK_MS) {
      this.unstick()
    }
  }

  /** Over what could not be decoded, or a hole that hls.js has not jumped. */
  private unstick(): void {
    const { video } = this.options
    this.movedAtMs = Date.now()
    for (let i = 0; i < video.buffered.length; i++) {
      const start = video.buffered.start(i)
      if (start > video.currentTime && start < video.currentTime + 30) {
        video.currentTime = start + 0.01
        break
      }
    }
    this.resume()
  }

  private isAtEnd(): boolean {
    const { details, target } = this
    return details !== null && target === null && !details.live && details.edge - this.options.video.currentTime < END_S
  }

  /** How many seconds there are to the newest picture; without end while the stretch has one. */
  private edgeDistance(): number {
    if (!this.details || this.stretch?.to !== null) return Infinity
    return this.details.edge - this.options.video.currentTime
  }

  private applyRate(): void {
    const { video } = this.options
    // What is not recorded yet cannot be played faster than it comes.
    const rate = this.atEdge ? Math.min(1, this.chosenRate) : this.chosenRate
    try {
      if (video.playbackRate !== rate) video.playbackRate = rate
      if (video.defaultPlaybackRate !== rate) video.defaultPlaybackRate = rate
    } catch {
      this.chosenRate = video.playbackRate // so fast this browser cannot play
    }
    if (this.hls) this.hls.config.maxBufferLength = Math.min(120, Math.max(20, 15 * rate))
  }

  private setStatus(status: PlayerStatus): void {
    this.options.video.dataset.state = status.kind
    this.options.onStatus(status)
  }

  private endHls(): void {
    clearTimeout(this.retry)
    if (!this.hls) return
    freezeFrame(this.options.video, this.options.canvas)
    const { hls } = this
    this.hls = null
    this.details = null
    hls.destroy()
  }
}
