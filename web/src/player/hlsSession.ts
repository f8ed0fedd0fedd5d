import type Hls from 'hls.js'
import type { ErrorData, Fragment, FragLoadedData, FragLoadingData, Level, LevelDetails, LoaderStats } from 'hls.js'
import { LATENCY_CHECK_MS, MAX_BEHIND_TARGET_MS } from '../config'
import { Detour } from './detour'
import { NotYet } from './fetchPlaylist'
import { isFresh } from './freshness'
import { liveConfig, previewConfig, watchConfig } from './hlsConfig'
import { RecoveryLadder } from './ladder'
import { LatencyKeeper } from './latencyKeeper'
import { ProgressWatch, type Sample } from './progress'
import { RateGuard, type Load } from './rateGuard'
import type { Quality, Session } from './session'
import { UpHold } from './upHold'

export interface HlsSessionOptions {
  video: HTMLVideoElement
  url: string
  /** preview: a tile; watch: one picture; live: the same with low latency. */
  mode: 'preview' | 'watch' | 'live'
  clockSkewMs: number
  /** False while the viewer has paused. */
  wantsPlay: () => boolean
  onBlocked: () => void
  /** The picture is about to be taken from the video element. */
  onEnd: () => void
  /** The sources can be chosen from now on. */
  onQualities: () => void
  /** Something failed that could not be mended without the viewer noticing; hls.js's own code. */
  onFatal: (code: string) => void
}

/** Plays by hls.js, and mends what can be mended without starting over. */
export class HlsSession implements Session {
  private readonly hls: Hls
  private readonly ladder = new RecoveryLadder()
  private readonly progress = new ProgressWatch()
  private readonly keeper = new LatencyKeeper()
  private readonly guard = new RateGuard()
  private upHold = new UpHold()
  /** To be given up once the part that is being loaded is there. */
  private leaving: Fragment | null = null
  private detour: Detour | null = null
  private loading: { data: FragLoadingData; load: Load; stats: LoaderStats } | null = null
  private hasParts = true
  private appended = 0
  private fail: (reason: string) => void = () => {}

  constructor(
    private readonly hlsClass: typeof Hls,
    private readonly options: HlsSessionOptions,
  ) {
    this.hls = new hlsClass({ preview: previewConfig, watch: watchConfig, live: liveConfig }[options.mode])
  }

  async run(signal: AbortSignal): Promise<never> {
    const { hls, hlsClass } = this
    let watch: ReturnType<typeof setInterval> | undefined
    let pace: ReturnType<typeof setInterval> | undefined
    const abort = (): void => this.fail('stopped')
    const ended = new AbortController()
    if (this.options.mode !== 'preview') this.detour = new Detour(hls, () => this.serverMs(), ended.signal, () => this.forgetShortage())
    try {
      return await new Promise<never>((_, reject) => {
        this.fail = (reason) => reject(new NotYet(reason))
        signal.addEventListener('abort', abort)
        if (signal.aborted) abort()
        hls.on(hlsClass.Events.ERROR, (_event, data) => this.onError(data))
        hls.on(hlsClass.Events.FRAG_BUFFERED, () => this.appended++)
        hls.on(hlsClass.Events.MANIFEST_PARSED, (_event, { levels }) => {
          // Levels come in the order of their bit rate. The first guess of a bandwidth
          // is too timid for a camera in the same house.
          if (this.options.mode !== 'preview') hls.startLevel = levels.length - 1
          this.options.onQualities()
          this.play()
        })
        if (this.options.mode === 'live') hls.on(hlsClass.Events.LEVEL_LOADED, (_event, { details }) => this.settle(details))
        if (this.options.mode === 'preview') hls.on(hlsClass.Events.LEVEL_LOADED, (_event, { details }) => this.nearLive(details))
        if (this.options.mode !== 'preview') {
          hls.on(hlsClass.Events.FRAG_LOADING, (_event, data) => this.onLoading(data))
          hls.on(hlsClass.Events.FRAG_LOADED, (_event, data) => this.onLoaded(data))
          hls.on(hlsClass.Events.LEVEL_SWITCHING, (_event, { level }) => this.onSwitching(level))
          hls.on(hlsClass.Events.LEVEL_UPDATED, (_event, { details }) => mendParts(details))
          hls.on(hlsClass.Events.AUDIO_TRACK_UPDATED, (_event, { details }) => mendParts(details))
        }
        hls.loadSource(this.options.url)
        hls.attachMedia(this.options.video)
        watch = setInterval(() => this.check(), 1_000)
        if (this.options.mode !== 'preview') pace = setInterval(() => this.keepPace(), LATENCY_CHECK_MS)
      })
    } finally {
      clearInterval(watch)
      clearInterval(pace)
      ended.abort()
      this.options.video.playbackRate = 1
      signal.removeEventListener('abort', abort)
      hls.stopLoad()
    }
  }

  end(): void {
    this.options.onEnd()
    this.hls.destroy()
  }

  play(): void {
    if (!this.options.wantsPlay()) return
    this.options.video.play().catch((err: unknown) => {
      // AbortError: another load or a pause came first, which is no failure.
      if (err instanceof DOMException && err.name === 'NotAllowedError') this.options.onBlocked()
    })
  }

  jumpToLive(): void {
    const live = this.hls.liveSyncPosition
    if (live !== null && live > this.options.video.currentTime) this.options.video.currentTime = live
  }

  pictureAgeMs(): number | null {
    const shownAt = this.hls.playingDate
    if (shownAt) {
      const age = Date.now() + this.options.clockSkewMs - shownAt.getTime()
      // A camera server without a proper clock: better no figure than a silly one.
      return age > -2_000 && age < 86_400_000 ? Math.max(0, age) : null
    }
    return this.hls.latency > 0 ? this.hls.latency * 1000 : null
  }

  programMs(): number | null {
    return this.hls.playingDate?.getTime() ?? null
  }

  bitrateBps(): number | null {
    return this.hls.levels[this.hls.currentLevel]?.bitrate ?? null
  }

  isBehind(): boolean {
    const live = this.hls.liveSyncPosition
    return live !== null && (live - this.options.video.currentTime) * 1000 > MAX_BEHIND_TARGET_MS / 4
  }

  qualities(): Quality[] {
    return this.hls.levels.map((level, index) => ({ index, label: qualityLabel(level) })).reverse()
  }

  chooseQuality(index: number): void {
    this.detour?.forget()
    this.hls.nextLevel = index
  }

  private onError(data: ErrorData): void {
    if (data.details === this.hlsClass.ErrorDetails.BUFFER_STALLED_ERROR) this.keeper.stalled(Date.now())
    if (!data.fatal) return
    this.options.onFatal(data.details)
    switch (data.type) {
      case this.hlsClass.ErrorTypes.MEDIA_ERROR:
        if (data.details === this.hlsClass.ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR) {
          this.fail('This browser cannot play the camera’s codecs')
        } else {
          this.mend('The browser could not decode the stream')
        }
        return
      case this.hlsClass.ErrorTypes.NETWORK_ERROR:
        this.fail('The connection to the server was lost')
        return
      default:
        this.fail('Playback failed')
    }
  }

  /** One step up the ladder; the last step ends this session. */
  private mend(reason: string): void {
    const { hls } = this
    const { dataset } = this.options.video
    dataset.mends = String(Number(dataset.mends ?? 0) + 1)
    switch (this.ladder.next(Date.now())) {
      case 'recover':
        hls.recoverMediaError()
        break
      case 'swap-audio':
        hls.swapAudioCodec()
        hls.recoverMediaError()
        break
      case 'reload':
        this.fail(reason)
        return
    }
    this.play()
  }

  private check(): void {
    const { video } = this.options
    void this.detour?.check()
    const sample = this.sample()
    if (video.error) {
      this.mend('The browser could not decode the stream')
      this.progress.restart(sample)
    } else if (this.progress.isStuck(sample)) {
      this.mend('The picture stood still')
      this.jumpToLive()
      this.progress.restart(sample)
    } else if (this.isFarBehind() && sample.expected) {
      this.jumpToLive()
    } else if (video.ended) {
      this.fail('The stream has ended')
    }
  }

  /** Where the playlist has no parts after all, there is no low latency to keep. */
  private settle(details: LevelDetails): void {
    this.hasParts = details.partTarget > 0
    if (!this.hasParts) delete this.hls.config.liveSyncDuration
  }

  /**
   * Sources of a camera have one target duration, that of the source with the longest
   * segments. A tile shows the smallest alone, and goes by what its segments last.
   */
  private nearLive({ fragments, targetduration }: LevelDetails): void {
    const longest = Math.max(0, ...fragments.map((fragment) => fragment.duration))
    if (longest > 0 && longest < targetduration * 0.75) this.hls.config.liveSyncDuration = 3 * longest
    else delete this.hls.config.liveSyncDuration
  }

  private onLoading(data: FragLoadingData): void {
    if (data.frag.type !== 'main' || data.frag.sn === 'initSegment') return
    const { duration, stats } = data.part ?? data.frag
    const load: Load = { startMs: performance.now(), firstByteMs: 0, endMs: null, mediaMs: duration * 1000, bytes: 0, totalBytes: 0 }
    this.loading = { data, load, stats }
    this.guard.started(load)
  }

  private onLoaded({ frag, part }: FragLoadedData): void {
    if (this.leaving && frag === this.leaving) {
      // hls.js would go on with the next part of the same segment.
      this.leaving = null
      setTimeout(() => frag.abortRequests())
    }
    if (!this.loading || frag !== this.loading.data.frag || (part ?? undefined) !== (this.loading.data.part ?? undefined)) return
    const { load, stats } = this.loading
    load.endMs = performance.now()
    load.bytes = stats.loaded
    this.loading = null
  }

  /** Goes over to a smaller variant before there is nothing left to play. */
  private keepUp(aheadMs: number): void {
    const { hls, loading } = this
    if (loading) {
      loading.load.bytes = loading.stats.loaded
      loading.load.totalBytes = loading.stats.total
      loading.load.firstByteMs = loading.stats.loading.first
    }
    const nowMs = performance.now()
    if (this.upHold.ends(nowMs)) hls.autoLevelCapping = -1
    if (!hls.autoLevelEnabled || hls.loadLevel <= hls.minAutoLevel) return
    const shortage = this.guard.check(nowMs, aheadMs)
    if (!shortage) return
    const { bitsPerSecond } = shortage
    this.guard.reset()
    hls.bandwidthEstimate = Math.max(bitsPerSecond, 1)
    let level = hls.loadLevel - 1
    while (level > hls.minAutoLevel && (hls.levels[level]?.bitrate ?? 0) > bitsPerSecond) level--
    this.upHold.begin(nowMs)
    hls.autoLevelCapping = level
    hls.nextAutoLevel = level
    hls.nextLoadLevel = level
    if (shortage.letCome) this.leaving = loading?.data.frag ?? null
    else loading?.data.frag.abortRequests()
    this.loading = null
  }

  /**
   * Where the playlist that hls.js has of a level has nothing in common with the next,
   * it takes one for the continuation of the other, however long that is ago, and puts
   * the picture at a wrong time. Without the old one it goes by the level that is shown.
   */
  private onSwitching(index: number): void {
    this.guard.reset()
    const level = this.hls.levels[index]
    if (level?.details && !isFresh(level.details, this.serverMs())) delete level.details
  }

  private serverMs(): number {
    return Date.now() + this.options.clockSkewMs
  }

  private forgetShortage(): void {
    this.guard.reset()
    this.upHold = new UpHold()
    this.hls.autoLevelCapping = -1
  }

  private keepPace(): void {
    const { video, mode } = this.options
    const { buffered } = video
    const playing = !video.paused && !video.seeking && !document.hidden && video.readyState > HTMLMediaElement.HAVE_CURRENT_DATA
    const aheadMs = buffered.length > 0 ? (buffered.end(buffered.length - 1) - video.currentTime) * 1000 : 0
    if (!video.paused && !video.seeking && !document.hidden) this.keepUp(Math.max(0, aheadMs))
    if (mode !== 'live' || !this.hasParts) return
    const { rate, jumpMs } = this.keeper.sample({ nowMs: Date.now(), aheadMs, playing: playing && buffered.length > 0 })
    if (jumpMs > 0) video.currentTime += jumpMs / 1000
    if (video.playbackRate !== rate) video.playbackRate = rate
  }

  private isFarBehind(): boolean {
    const live = this.hls.liveSyncPosition
    return live !== null && (live - this.options.video.currentTime) * 1000 > MAX_BEHIND_TARGET_MS
  }

  private sample(): Sample {
    const details = this.details()
    return {
      nowMs: Date.now(),
      currentTime: this.options.video.currentTime,
      hasData: this.options.video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA,
      appended: this.appended,
      edge: details?.edge ?? null,
      targetDuration: details?.targetduration ?? 0,
      expected: this.options.wantsPlay() && !document.hidden,
    }
  }

  private details(): LevelDetails | undefined {
    const { hls } = this
    return hls.levels[hls.currentLevel]?.details ?? hls.levels[hls.loadLevel]?.details
  }
}

/**
 * Where a playlist comes while a part is loaded, hls.js forgets that it has the parts
 * before that, and at the end of their segment it waits for them until they have left
 * the playlist. What a segment has of parts is loaded one by one.
 */
function mendParts({ partList }: LevelDetails): void {
  if (!partList) return
  for (let i = partList.length - 1; i > 0; i--) {
    const part = partList[i]
    const before = partList[i - 1]
    if (part?.loaded && before && !before.loaded && before.fragment.sn === part.fragment.sn) {
      before.elementaryStreams = part.elementaryStreams
    }
  }
}

function qualityLabel(level: Level): string {
  if (level.height > 0) return `${level.height}p`
  return `${Math.round(level.bitrate / 1000)} kbit/s`
}
