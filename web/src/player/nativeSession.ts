import { NotYet } from './fetchPlaylist'
import { ProgressWatch } from './progress'
import type { Quality, Session } from './session'

/**
 * Plays by the browser's own HLS, only where hls.js cannot run (iPhones before
 * iOS 17). The browser tells little, so that what fails is started over.
 */
export class NativeSession implements Session {
  constructor(
    private readonly video: HTMLVideoElement,
    private readonly url: string,
    private readonly wantsPlay: () => boolean,
    private readonly onBlocked: () => void,
    private readonly onEnd: () => void,
  ) {}

  async run(signal: AbortSignal): Promise<never> {
    const { video } = this
    const events = new AbortController()
    let watch: ReturnType<typeof setInterval> | undefined
    try {
      return await new Promise<never>((_, reject) => {
        const fail = (reason: string) => (): void => reject(new NotYet(reason))
        signal.addEventListener('abort', fail('stopped'), { signal: events.signal })
        video.addEventListener('error', fail('The browser could not play the stream'), { signal: events.signal })
        video.addEventListener('ended', fail('The stream has ended'), { signal: events.signal })
        if (signal.aborted) fail('stopped')()
        video.src = this.url
        this.play()
        watch = this.watchProgress(fail('The picture stood still'))
      })
    } finally {
      clearInterval(watch)
      events.abort()
    }
  }

  programMs(): number | null {
    const start = (this.video as { getStartDate?: () => Date }).getStartDate?.().getTime() ?? NaN
    return Number.isFinite(start) ? start + this.video.currentTime * 1000 : null
  }

  end(): void {
    this.onEnd()
    this.video.removeAttribute('src')
    this.video.load()
  }

  private watchProgress(onStuck: () => void): ReturnType<typeof setInterval> {
    const progress = new ProgressWatch()
    return setInterval(() => {
      const stuck = progress.isStuck({
        nowMs: Date.now(),
        currentTime: this.video.currentTime,
        hasData: this.video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA,
        appended: 0, // not told
        edge: this.liveEnd(),
        targetDuration: 2,
        expected: this.wantsPlay() && !document.hidden,
      })
      if (stuck) onStuck()
    }, 1_000)
  }

  private liveEnd(): number | null {
    const { seekable } = this.video
    return seekable.length > 0 ? seekable.end(seekable.length - 1) : null
  }

  play(): void {
    if (!this.wantsPlay()) return
    this.video.play().catch((err: unknown) => {
      if (err instanceof DOMException && err.name === 'NotAllowedError') this.onBlocked()
    })
  }

  jumpToLive(): void {
    const end = this.liveEnd()
    if (end !== null) this.video.currentTime = Math.max(0, end - 4)
  }

  pictureAgeMs(): number | null {
    const end = this.liveEnd()
    return end === null ? null : Math.max(0, (end - this.video.currentTime) * 1000)
  }

  bitrateBps(): null {
    return null
  }

  isBehind(): boolean {
    return (this.pictureAgeMs() ?? 0) > 10_000
  }

  qualities(): Quality[] {
    return []
  }

  chooseQuality(): void {
    // The browser chooses.
  }
}
