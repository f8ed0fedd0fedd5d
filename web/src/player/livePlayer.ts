import type Hls from 'hls.js'
import { HEALTHY_AFTER_MS, PLAYER_BACKOFF, UNSUPPORTED_RETRY_MS } from '../config'
import { Backoff } from '../logic/backoff'
import { sleep } from '../logic/sleep'
import { checkPlayability, fallbackMessage, unplayableMessage } from './codecs'
import { fetchPlaylist, NotYet, type Playlist, Unsupported } from './fetchPlaylist'
import { dropFrame, freezeFrame } from './freeze'
import { HlsSession } from './hlsSession'
import { loadHls } from './loadHls'
import { PlaybackReporter, reportPath, type PlayState } from './report'
import { NativeSession } from './nativeSession'
import type { Quality, Session } from './session'

export type PlayerStatus =
  | { kind: 'stopped' }
  | { kind: 'loading' }
  | { kind: 'playing' }
  | { kind: 'buffering' }
  /** The browser wants a click before it plays. */
  | { kind: 'blocked' }
  | { kind: 'waiting'; reason: string; retryAtMs: number }
  | { kind: 'unsupported'; message: string }

export interface LivePlayerOptions {
  cameraId: string
  video: HTMLVideoElement
  /** Under the video: holds the last picture while there is none. */
  canvas: HTMLCanvasElement
  url: string
  /** The same with low latency, where that fits. */
  liveUrl?: string
  /** A small, silent, cheap picture in a tile. */
  preview: boolean
  onStatus: (status: PlayerStatus) => void
}

/**
 * Plays one camera and never gives up: what cannot be mended in a running
 * session ends it, and the next begins after a back-off, until stop.
 *
 * What tests may read of it is on the video element: data-state, data-sessions
 * (how often playback began anew), data-mends (how often a session was helped
 * on) and data-notice.
 */
export class LivePlayer {
  private stopping: AbortController | null = null
  /** What holds the video element; it may have failed, and play out what it has. */
  private session: Session | null = null
  private running = false
  private sessions = 0
  private wantsPlay = true
  private quality = -1
  private readonly reporter: PlaybackReporter
  private played = false
  /** Why another source than the best is shown, or "". */
  notice = ''

  constructor(private readonly options: LivePlayerOptions) {
    const { video } = options
    this.reporter = new PlaybackReporter({
      url: reportPath(options.url),
      cameraId: options.cameraId,
      measure: () => ({ latencyMs: this.pictureAgeMs(), bitrateBps: this.session?.bitrateBps() ?? null }),
    })
    video.playsInline = true
    video.muted = true // else no browser starts it by itself
    video.disablePictureInPicture = options.preview
    video.addEventListener('playing', () => this.onPlaying())
    video.addEventListener('waiting', () => this.onWaiting())
    video.addEventListener('pause', () => this.onPause())
    video.addEventListener('play', () => {
      if (this.stopping) this.wantsPlay = true
    })
  }

  start(): void {
    if (this.stopping) return
    const stopping = new AbortController()
    this.stopping = stopping
    void this.run(stopping.signal)
  }

  stop(): void {
    if (!this.stopping) return
    this.stopping.abort()
    this.stopping = null
    this.endSession()
    this.setStatus({ kind: 'stopped' })
  }

  get paused(): boolean {
    return !this.wantsPlay
  }

  play(): void {
    this.wantsPlay = true
    if (this.session?.isBehind()) this.session.jumpToLive()
    this.session?.play()
  }

  pause(): void {
    this.wantsPlay = false
    this.options.video.pause()
  }

  jumpToLive(): void {
    this.session?.jumpToLive()
    this.play()
  }

  isBehind(): boolean {
    return this.session?.isBehind() ?? false
  }

  pictureAgeMs(): number | null {
    return this.session?.pictureAgeMs() ?? null
  }

  programMs(): number | null {
    return this.session?.programMs() ?? null
  }

  qualities(): Quality[] {
    return this.session?.qualities() ?? []
  }

  get chosenQuality(): number {
    return this.quality
  }

  chooseQuality(index: number): void {
    this.quality = index
    this.session?.chooseQuality(index)
  }

  private async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(PLAYER_BACKOFF)
    this.setStatus({ kind: 'loading' })
    while (!signal.aborted) {
      const startedMs = Date.now()
      try {
        const hlsClass = await loadHls(!this.options.preview)
        if (signal.aborted) return
        const url = this.urlFor(hlsClass)
        await this.playOnce(hlsClass, url, await fetchPlaylist(url, signal), signal)
      } catch (err) {
        if (signal.aborted) return
        if (Date.now() - startedMs > HEALTHY_AFTER_MS) backoff.reset()
        await this.waitAfter(err, backoff, signal)
      }
    }
  }

  private async waitAfter(err: unknown, backoff: Backoff, signal: AbortSignal): Promise<void> {
    if (err instanceof Unsupported) {
      this.endSession()
      this.reporter.error('unsupported')
      this.setStatus({ kind: 'unsupported', message: err.message })
      await sleep(UNSUPPORTED_RETRY_MS, signal)
      return
    }
    const ownMs = backoff.nextMs()
    const waitMs = Math.max(ownMs, err instanceof NotYet ? (err.retryMs ?? 0) : 0)
    const reason = err instanceof NotYet ? err.message : 'Playback failed'
    this.setStatus({ kind: 'waiting', reason, retryAtMs: Date.now() + waitMs })
    await sleep(waitMs, signal)
  }

  /** Plays until it fails or the signal is aborted; rejects in both cases. */
  private async playOnce(hlsClass: typeof Hls, url: string, playlist: Playlist, signal: AbortSignal): Promise<void> {
    const session = this.newSession(hlsClass, url, playlist)
    // The one before has played out what it had while the server was away.
    this.endSession()
    this.session = session
    this.options.video.dataset.sessions = String(++this.sessions)
    this.running = true
    try {
      await session.run(signal)
    } finally {
      this.running = false
    }
  }

  private endSession(): void {
    this.session?.end()
    this.session = null
  }

  /** Browsers' own players want more of a server for low latency than can be known here. */
  private urlFor(hlsClass: typeof Hls): string {
    const { url, liveUrl } = this.options
    return liveUrl !== undefined && hlsClass.isSupported() ? liveUrl : url
  }

  private newSession(hlsClass: typeof Hls, url: string, playlist: Playlist): Session {
    const { video, canvas, liveUrl, preview } = this.options
    const wantsPlay = (): boolean => this.wantsPlay
    const onBlocked = (): void => this.setStatus({ kind: 'blocked' })
    const onEnd = (): void => freezeFrame(video, canvas)
    if (!hlsClass.isSupported()) {
      if (video.canPlayType('application/vnd.apple.mpegurl') === '') {
        throw new Unsupported('This browser cannot play live video. Try a current Firefox, Chrome, Edge or Safari.')
      }
      return new NativeSession(video, url, wantsPlay, onBlocked, onEnd)
    }
    this.checkCodecs(playlist)
    return new HlsSession(hlsClass, {
      video,
      url,
      mode: preview ? 'preview' : url === liveUrl ? 'live' : 'watch',
      clockSkewMs: playlist.clockSkewMs,
      wantsPlay,
      onBlocked,
      onEnd,
      onQualities: () => this.restoreQuality(),
      onFatal: (code) => this.reporter.error(code),
    })
  }

  private checkCodecs(playlist: Playlist): void {
    if (playlist.variants.length === 0) return
    const source = window.MediaSource ?? (window as { ManagedMediaSource?: typeof MediaSource }).ManagedMediaSource
    const check = checkPlayability(playlist.variants, (mime) => source?.isTypeSupported(mime) ?? false)
    if (check.playable.length === 0) throw new Unsupported(unplayableMessage(check.missing))
    this.notice = fallbackMessage(check) ?? ''
    this.options.video.dataset.notice = this.notice
  }

  private restoreQuality(): void {
    if (this.quality >= (this.session?.qualities().length ?? 0)) this.quality = -1
    if (this.quality >= 0) this.session?.chooseQuality(this.quality)
  }

  private onPlaying(): void {
    // Stopped, the element may play something else.
    if (!this.stopping) return
    dropFrame(this.options.canvas)
    this.setStatus({ kind: 'playing' })
  }

  private onWaiting(): void {
    if (this.running && !this.paused) this.setStatus({ kind: 'buffering' })
  }

  private onPause(): void {
    // Browsers pause by themselves in hidden pages and while a session ends:
    // that is not the viewer's wish.
    if (this.session && !document.hidden && !this.options.video.ended && this.options.video.error === null) {
      this.wantsPlay = false
      this.reporter.setState('a')
    }
  }

  private setStatus(status: PlayerStatus): void {
    this.options.video.dataset.state = status.kind
    if (status.kind === 'playing') this.played = true
    if (status.kind === 'stopped') this.played = false
    this.reporter.setState(reportedState(status.kind, this.played))
    this.options.onStatus(status)
  }
}

/** What a status is in CMCD. Waiting for the first picture is a start, not a stall. */
function reportedState(kind: PlayerStatus['kind'], played: boolean): PlayState {
  switch (kind) {
    case 'loading':
      return 's'
    case 'playing':
      return 'p'
    case 'buffering':
      return played ? 'r' : 's'
    case 'blocked':
      return 'a'
    case 'waiting':
      return 'w'
    case 'unsupported':
      return 'f'
    case 'stopped':
      return 'q'
  }
}
