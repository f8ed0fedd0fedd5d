import { RequestError } from '../../api/problem'
import { archiveTrouble, getRecordings, removeBookmark } from '../../api/recordings'
import type { Camera } from '../../api/types'
import { gapText } from '../../logic/gapText'
import { gapAt, spanAt, type Bookmark, type Recorded } from '../../logic/recordings'
import { clockText, dateText, dayText, momentText, shortZoneText, zoneText } from '../../logic/timeText'
import { between, clampView, DAY, HOUR, latestView, maxSpan, panView, revealed, SECOND, spanOf, zoomView, type Limits, type View } from '../../logic/timeView'
import { viewersZone, Zone } from '../../logic/zone'
import { findFootage, RecordingStore, type LoadRecordings } from '../../recordingStore'
import { h, show } from '../dom'
import type { PlayerView } from '../player'
import { Bar } from './bar'
import { openCalendar } from './calendar'
import { ExportPanel } from './exportPanel'
import { Legend } from './legend'
import { ScrubPreview } from './scrubPreview'
import { RATES, Toolbar } from './toolbar'

const TICK_MS = 250
const MOVE_MS = 180
const SURVEY_MS = 30_000
/** No archive reaches further back than this. */
const LONGEST = 20 * 365 * DAY
const ZONE_KEY = 'drover.zone'

/** What there is of a camera in all. */
export interface ArchiveFacts {
  bytes: number
  oldest: number | null
  /** How much of the last coverageMs there is: of 24 hours, or since the beginning if that is later. */
  coverage: number
  coverageMs: number
}

/** The past of a camera under its picture: what there is, and the way to any moment of it. */
export class Timeline {
  readonly element: HTMLElement
  private readonly bar: Bar
  private readonly toolbar: Toolbar
  private readonly legend: Legend
  private readonly panel: ExportPanel
  private readonly preview: ScrubPreview
  private readonly notice = h('div', { class: 'timeline-notice', testId: 'timeline-notice', attrs: { role: 'status' } })
  private readonly store: RecordingStore
  private readonly load: LoadRecordings
  private readonly own = viewersZone()
  private zone: Zone
  private view: View
  /** The view goes with what is shown, until a hand takes it elsewhere. */
  private follows = true
  private hover: number | null = null
  /** Where the playhead is dragged to, until it is let go. */
  private scrub: number | null = null
  /** Where playing was sent, until the player is there. */
  private sent: { at: number; untilMs: number } | null = null
  private marked: { from: number; to: number } | null = null
  private recorded: Recorded
  private oldest = Infinity
  /** When it was last asked where the archive begins. */
  private surveyedAtMs = -Infinity
  private camera: Camera | null = null
  private problem = ''
  /** Why the disk takes nothing, from the API. */
  private trouble = ''
  private noticeText = ''
  /** The server keeps no archive: then there is no bar of time. */
  private isOff = false
  private moving: { from: View; to: View; startMs: number } | null = null
  private frame = 0
  private readonly tick: ReturnType<typeof setInterval>
  private readonly leaving = new AbortController()
  private readonly calm = matchMedia('(prefers-reduced-motion: reduce)')

  constructor(
    private readonly cameraId: string,
    private readonly player: PlayerView,
    private readonly onSettings: () => void,
    private readonly onFacts: (facts: ArchiveFacts) => void,
  ) {
    this.load = (from, to, resolution, signal) => getRecordings(cameraId, from, to, resolution, signal)
    this.zone = storedZone() === 'UTC' ? new Zone('UTC') : this.own
    this.view = latestView(HOUR, Date.now())
    this.store = new RecordingStore({
      load: this.load,
      onChange: () => this.onRecorded(),
      onProblem: (problem) => {
        this.problem = problem
        this.redraw()
      },
    })
    this.recorded = this.store.recorded(this.view.from, this.view.to)
    this.bar = new Bar(
      {
        view: () => this.view,
        limits: () => this.limits(),
        marks: () => ({ playhead: this.playhead(), marked: this.marked }),
        onView: (view) => this.choose(view),
        onHover: (at) => this.onHover(at),
        onScrub: (at) => this.onScrub(at),
        onSeek: (at) => this.onSeek(at),
        onMark: (part, at) => this.mark(part, at),
        onKey: (event) => this.onBarKey(event),
      },
      () => this.redraw(),
    )
    this.toolbar = new Toolbar({
      onLive: () => this.goLive(),
      onSkip: (seconds) => this.skip(seconds),
      onFrame: (frames) => this.stepFrame(frames),
      onPlay: () => this.player.togglePlay(),
      onRate: (rate) => this.setRate(rate),
      onZoom: (factor) => this.zoom(factor),
      onSpan: (ms) => this.zoom(ms / spanOf(this.view)),
      onCalendar: () => this.calendar(),
      onExport: () => (this.panel.isOpen ? this.panel.close() : this.markAround()),
      onZone: () => this.changeZone(),
    })
    this.legend = new Legend({ onShow: (from, to) => this.showStretch(from, to), onRemove: (mark) => void this.removeBookmark(mark) })
    this.panel = new ExportPanel({
      cameraId,
      zone: () => this.zone,
      recorded: (from, to) => this.store.recorded(from, to),
      onRange: (from, to) => this.setMarked(from, to),
      onBookmark: () => this.store.refresh(),
      onClose: () => {
        this.marked = null
        this.redraw()
      },
    })
    this.preview = new ScrubPreview(cameraId)
    this.element = h(
      'section',
      { class: 'timeline', testId: 'timeline', attrs: { 'aria-label': 'Recordings' } },
      h('div', { class: 'timeline-stage' }, this.preview.element, this.bar.element),
      this.notice,
      this.toolbar.element,
      this.panel.element,
      this.legend.element,
    )
    show(this.notice, false)
    player.enablePast(
      { cameraId, nextFootage: (at, signal) => findFootage(this.load, at, Date.now(), signal), sources: () => this.camera?.record.sources ?? [] },
      () => this.onMode(),
    )
    this.tick = setInterval(() => this.onTick(), TICK_MS)
    this.listen()
  }

  destroy(): void {
    clearInterval(this.tick)
    cancelAnimationFrame(this.frame)
    this.leaving.abort()
    this.store.stop()
    this.preview.destroy()
    this.panel.destroy()
    this.bar.destroy()
    this.element.remove()
  }

  /** What is known of the camera now; null while there is none. */
  update(camera: Camera | null): void {
    const before = this.camera?.status.recording.state
    this.camera = camera
    show(this.element, camera !== null && !this.isOff)
    if (!camera) return
    void this.survey()
    if (before !== undefined && before !== camera.status.recording.state) this.store.refresh()
  }

  /** Finds out where the archive begins: retention moves that, so now and then. */
  private async survey(): Promise<void> {
    const now = Date.now()
    if (now - this.surveyedAtMs < SURVEY_MS) return
    this.surveyedAtMs = now
    try {
      const { signal } = this.leaving
      this.trouble = await archiveTrouble(signal)
      const { spans, bytes } = await this.load(now - LONGEST, now, DAY / 1000, signal)
      // From so far, answers are exact to an hour.
      const begins = spans[0] ? await findFootage(this.load, spans[0].from, Math.min(now, spans[0].from + 3 * HOUR), signal) : null
      this.oldest = begins ?? Infinity
      this.isOff = false
      const coverageMs = Math.min(DAY, Math.max(now - this.oldest, 60 * SECOND))
      const { coverage } = await this.load(now - coverageMs, now, HOUR / 1000, signal)
      this.onFacts({ bytes, oldest: begins, coverage, coverageMs })
    } catch (err) {
      // Then it is as old as what comes into view.
      this.isOff = err instanceof RequestError && err.status === 404
    }
  }

  private listen(): void {
    const { signal } = this.leaving
    document.addEventListener('keydown', (event) => this.onPageKey(event), { signal })
    const recolour = (): void => {
      this.bar.forgetColours()
      this.legend.forgetColours()
      this.redraw()
    }
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour, { signal })
    const themes = new MutationObserver(recolour)
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    signal.addEventListener('abort', () => themes.disconnect())
  }

  private limits(): Limits {
    const now = Date.now()
    return { oldest: Math.min(this.oldest, now - DAY), now }
  }

  /** The moment that is marked on the bar: dragged, sent to, or shown. */
  private playhead(): number | null {
    return this.scrub ?? this.sent?.at ?? this.player.wallMs()
  }

  private onTick(): void {
    if (document.hidden) return
    if (this.sent && Date.now() > this.sent.untilMs) this.sent = null
    this.follow()
    if (this.hover !== null) this.onHover(this.bar.pointedAt())
    this.renderNotice()
    this.redraw()
  }

  private follow(): void {
    if (!this.follows || this.moving || this.scrub !== null) return
    if (!this.player.isPast) {
      this.view = latestView(spanOf(this.view), Date.now())
      return
    }
    const at = this.playhead()
    if (at !== null && !this.player.paused) this.view = revealed(this.view, at, this.limits())
  }

  /** A hand has chosen what to look at. */
  private choose(view: View): void {
    this.moving = null
    this.view = clampView(view, this.limits())
    this.follows = this.isFollowable()
    this.redraw()
  }

  /** Live is followed while now is at its place at the right, the past while it is in view. */
  private isFollowable(): boolean {
    if (!this.player.isPast) return Math.abs(this.view.to - latestView(spanOf(this.view), Date.now()).to) < spanOf(this.view) * 0.03
    const at = this.playhead()
    return at !== null && at >= this.view.from && at <= this.view.to
  }

  /** Goes to another view, so that eyes can go with it. */
  private moveTo(view: View, follows: boolean): void {
    const target = clampView(view, this.limits())
    this.follows = follows
    if (this.calm.matches || document.hidden) {
      this.view = target
      this.moving = null
    } else {
      this.moving = { from: this.view, to: target, startMs: performance.now() }
    }
    this.redraw()
  }

  private zoom(factor: number): void {
    const target = this.moving?.to ?? this.view
    const limits = this.limits()
    if (this.follows && !this.player.isPast) {
      this.moveTo(latestView(Math.min(spanOf(target) * factor, maxSpan(limits)), limits.now), true)
      return
    }
    const at = this.playhead()
    const anchor = at !== null && at > target.from && at < target.to ? at : (target.from + target.to) / 2
    this.moveTo(zoomView(target, factor, anchor, limits), this.follows)
  }

  private redraw(): void {
    if (this.frame !== 0) return
    this.frame = requestAnimationFrame(() => {
      this.frame = 0
      this.draw()
    })
  }

  private draw(): void {
    const now = Date.now()
    if (this.moving) {
      const part = Math.min(1, (performance.now() - this.moving.startMs) / MOVE_MS)
      this.view = between(this.moving.from, this.moving.to, 1 - (1 - part) ** 3)
      if (part >= 1) this.moving = null
      else this.redraw()
    }
    const { view, bar, zone } = this
    const width = Math.max(1, bar.width)
    this.store.want(view, width)
    this.recorded = this.store.recorded(view.from, Math.min(view.to, now))
    const playhead = this.playhead()
    if (this.hover !== null) this.hover = bar.pointedAt()
    bar.draw({ view, width, zone, now, recorded: this.recorded, playhead, hover: this.scrub === null ? this.hover : null, marked: this.marked })
    this.legend.render(this.recorded, zone, now)
    this.renderTools(playhead, now)
    if (this.panel.isOpen) this.panel.render()
    this.describe(playhead, now)
    // Close up, time runs over the bar: then it is drawn with each picture of the screen.
    const moves = spanOf(view) < 10 * 60 * SECOND && !this.player.paused && !document.hidden && !this.calm.matches
    if (moves) {
      this.follow()
      this.redraw()
    }
  }

  private renderTools(playhead: number | null, now: number): void {
    const at = playhead ?? now
    const { player, zone } = this
    this.toolbar.render({
      clock: clockText(at, zone),
      date: dateText(at, zone),
      zone: shortZoneText(zone, at),
      zoneName: zoneText(zone, at),
      hasOtherZone: this.own.name !== 'UTC',
      isPast: player.isPast,
      paused: player.paused,
      rate: player.rate,
      spanMs: spanOf(this.view),
      isExporting: this.panel.isOpen,
    })
    if (player.isPast) player.setPastText(`${dayText(at, zone)} ${clockText(at, zone)}`)
  }

  /** For screen readers and tests. The value changes with each step of the viewer's, and else rarely. */
  private describe(playhead: number | null, now: number): void {
    const { element } = this.bar
    const at = playhead ?? now
    const set = (name: string, value: string): void => {
      if (element.getAttribute(name) !== value) element.setAttribute(name, value)
    }
    set('data-from', String(Math.round(this.view.from)))
    set('data-to', String(Math.round(this.view.to)))
    set('data-playhead', String(Math.round(at)))
    set('data-time', this.player.isPast ? 'past' : 'live')
    set('data-spans', String(this.recorded.spans.length))
    set('data-gaps', String(this.recorded.gaps.length))
    set('data-known', String(this.store.isComplete))
    const rough = document.activeElement === element && this.scrub === null && this.sent === null ? 30_000 : SECOND
    const shown = Math.floor(at / rough) * rough
    const { oldest } = this.limits()
    set('aria-valuemin', String(Math.floor(oldest / 1000)))
    set('aria-valuemax', String(Math.ceil(now / 30_000) * 30))
    set('aria-valuenow', String(Math.floor(shown / 1000)))
    const gap = gapAt(this.recorded.gaps, at)
    const state = !this.player.isPast && this.scrub === null && this.sent === null ? 'live' : gap ? gapText(gap, now) : ''
    set('aria-valuetext', [`${momentText(shown, this.zone)} ${zoneText(this.zone, at)}`, state].filter(Boolean).join(', '))
  }

  private renderNotice(): void {
    const { recording } = this.camera?.status ?? {}
    const { player } = this
    let text = ''
    let action: { label: string; run: () => void } | null = null
    if (player.hasCaughtUp) {
      text = 'This is as far as is recorded.'
      action = { label: 'Watch live', run: () => this.goLive() }
    } else if (this.problem !== '') {
      text = `Recordings: ${this.problem}`
    } else if (recording?.state === 'failed') {
      text = `Nothing is recorded just now: ${recording.reason || 'the recorder failed'}`
    } else if (this.trouble !== '' && recording && recording.mode !== 'off') {
      text = `The disk takes no recordings just now: ${this.trouble}`
    } else if (recording && recording.state === 'off' && this.oldest === Infinity && this.store.isComplete && this.recorded.spans.length === 0) {
      text = 'This camera is not recorded.'
      action = { label: this.camera?.readOnly ? 'Show settings' : 'Record it', run: this.onSettings }
    }
    if (text === this.noticeText) return
    this.noticeText = text
    const button = action && h('button', { class: 'link-button', text: action.label, testId: 'notice-action', attrs: { type: 'button' }, on: { click: action.run } })
    this.notice.replaceChildren(...[text === '' ? null : h('span', { text }), button].filter((node) => node !== null))
    show(this.notice, text !== '')
  }

  private onRecorded(): void {
    const first = this.store.recorded(0, Date.now()).spans[0]
    if (first) this.oldest = Math.min(this.oldest, first.from)
    this.redraw()
  }

  private onMode(): void {
    this.sent = this.player.isPast ? this.sent : null
    this.renderNotice()
    this.redraw()
  }

  private onHover(at: number | null): void {
    this.hover = at
    if (at === null) this.preview.hide()
    else this.showPreview(at)
    this.redraw()
  }

  private onScrub(at: number): void {
    this.scrub = Math.min(Math.max(at, this.limits().oldest), Date.now())
    this.showPreview(this.scrub)
    this.redraw()
  }

  private showPreview(at: number): void {
    const now = Date.now()
    const msPerPixel = spanOf(this.view) / Math.max(1, this.bar.width)
    const gap = gapAt(this.recorded.gaps, at, 2 * msPerPixel)
    const span = spanAt(this.recorded.spans, at)
    const bookmark = this.recorded.bookmarks.find((mark) => Math.abs(mark.from - at) < 8 * msPerPixel || (at >= mark.from && at <= mark.to))
    const moment = `${dayText(at, this.zone)} ${clockText(at, this.zone)}`
    let text = moment
    if (at > now) text = `${moment}: to come`
    else if (gap && (!span || gap.to - gap.from >= msPerPixel)) text = [gapText(gap, now), gap.detail, `from ${clockText(gap.from, this.zone)}${gap.to === Infinity ? '' : ` to ${clockText(gap.to, this.zone)}`}`].filter(Boolean).join('\n')
    else if (!span) text = `${moment}\nNo footage`
    if (bookmark && bookmark.name !== '') text = `${bookmark.name}\n${text}`
    const x = ((at - this.view.from) / spanOf(this.view)) * this.bar.width
    this.preview.showAt(at, x, this.bar.width, Math.max(SECOND, 4 * msPerPixel), text, span !== null && at <= now)
  }

  private onSeek(at: number): void {
    this.scrub = null
    this.preview.hide()
    // A click at now, as near as a hand can tell, means live.
    const slack = Math.max(2 * SECOND, (spanOf(this.view) / Math.max(1, this.bar.width)) * 6)
    if (at > Date.now() - slack) this.goLive()
    else this.seek(at)
  }

  private seek(at: number): void {
    const moment = Math.max(at, this.limits().oldest)
    // Until the player is there the mark stands where it was put.
    this.sent = { at: moment, untilMs: Date.now() + 400 }
    this.player.playAt(moment)
    this.follows = true
    this.view = revealed(this.view, moment, this.limits())
    this.redraw()
  }

  private goLive(): void {
    this.sent = null
    this.player.goLive()
    if (!this.follows || this.view.to < Date.now()) this.moveTo(latestView(spanOf(this.view), Date.now()), true)
    this.follows = true
  }

  private skip(seconds: number): void {
    const at = this.playhead()
    if (at === null) return
    const target = at + seconds * 1000
    if (target > Date.now() - 2 * SECOND) this.goLive()
    else this.seek(target)
  }

  private stepFrame(frames: -1 | 1): void {
    const fps = this.camera?.status.sources[0]?.tracks.find((track) => track.fps > 0)?.fps ?? 25
    this.sent = null
    this.player.step(frames / fps)
    this.redraw()
  }

  private setRate(rate: number): void {
    // Live cannot be played faster: a chosen speed is for the past that follows.
    this.player.setRate(rate)
    this.redraw()
  }

  private async removeBookmark(mark: Bookmark): Promise<void> {
    try {
      await removeBookmark(this.cameraId, mark.id)
    } catch (err) {
      this.problem = err instanceof Error ? err.message : 'the bookmark could not be removed'
    }
    this.store.refresh()
  }

  private showStretch(from: number, to: number): void {
    const span = Math.max(60 * SECOND, (to - from) * 3)
    const middle = (from + to) / 2
    this.moveTo({ from: middle - span / 2, to: middle + span / 2 }, false)
  }

  private calendar(): void {
    openCalendar({
      cameraId: this.cameraId,
      zone: this.zone,
      at: this.playhead() ?? Date.now(),
      oldest: this.limits().oldest,
      now: Date.now(),
      onDay: (from, to) => {
        this.moveTo({ from, to }, true)
        void this.playFirst(from, to)
      },
    })
  }

  private async playFirst(from: number, to: number): Promise<void> {
    const first = await findFootage(this.load, from, Math.min(to, Date.now()), this.leaving.signal).catch(() => null)
    if (first !== null && !this.leaving.signal.aborted) this.seek(first)
  }

  private changeZone(): void {
    this.zone = this.zone.name === 'UTC' ? this.own : new Zone('UTC')
    try {
      localStorage.setItem(ZONE_KEY, this.zone.name === 'UTC' ? 'UTC' : 'own')
    } catch {
      // Then it lasts for this page.
    }
    this.redraw()
  }

  /** A stretch to begin with: around what is shown, and not less than a hand can hold. */
  private markAround(): void {
    const at = this.playhead() ?? Date.now()
    const half = Math.max(5 * SECOND, Math.min(5 * 60 * SECOND, spanOf(this.view) / 12))
    const to = Math.min(at + half, Date.now() - SECOND)
    this.setMarked(to - 2 * half, to)
  }

  private mark(part: 'start' | 'end', at: number): void {
    const now = Date.now()
    const moment = Math.min(Math.max(at, this.limits().oldest), now)
    const length = Math.max(SECOND, spanOf(this.view) / 10)
    const from = part === 'start' ? moment : Math.min(this.marked?.from ?? moment - length, moment - SECOND)
    const to = part === 'end' ? moment : Math.max(this.marked?.to ?? Math.min(now, moment + length), moment + SECOND)
    this.setMarked(from, to)
  }

  private setMarked(from: number, to: number): void {
    this.marked = { from, to }
    this.panel.setRange(from, to)
    this.redraw()
  }

  private onBarKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = spanOf(this.view) / 4
    switch (event.key) {
      case 'ArrowLeft':
      case 'ArrowDown':
        this.skip(event.shiftKey ? -60 : -5)
        break
      case 'ArrowRight':
      case 'ArrowUp':
        this.skip(event.shiftKey ? 60 : 5)
        break
      case 'PageUp':
        this.moveTo(panView(this.moving?.to ?? this.view, -page, this.limits()), false)
        break
      case 'PageDown':
        this.moveTo(panView(this.moving?.to ?? this.view, page, this.limits()), false)
        break
      case 'Home':
        void this.playFirst(this.limits().oldest, Date.now())
        break
      case 'End':
        this.goLive()
        break
      default:
        return
    }
    event.preventDefault()
    event.stopPropagation()
  }

  private onPageKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    if (event.target instanceof HTMLElement && event.target.closest('input, select, textarea')) return
    const at = this.playhead()
    switch (event.key.toLowerCase()) {
      case 'j':
        this.skip(-10)
        break
      case 'k':
        this.skip(10)
        break
      case ',':
      case '.':
        this.stepFrame(event.key === ',' ? -1 : 1)
        break
      case '<':
      case '>':
        this.changeRate(event.key === '<' ? -1 : 1)
        break
      case '+':
      case '=':
        this.zoom(0.5)
        break
      case '-':
      case '_':
        this.zoom(2)
        break
      case 'i':
        if (at !== null) this.mark('start', at)
        break
      case 'o':
        if (at !== null) this.mark('end', at)
        break
      case 'escape':
        if (!this.panel.isOpen) return
        this.panel.close()
        break
      default:
        return
    }
    event.preventDefault()
  }

  private changeRate(by: -1 | 1): void {
    const index = RATES.findIndex((rate) => rate === this.player.rate)
    const rate = RATES[index + by]
    if (rate !== undefined) this.setRate(rate)
  }
}

function storedZone(): string | null {
  try {
    return localStorage.getItem(ZONE_KEY)
  } catch {
    return null
  }
}
