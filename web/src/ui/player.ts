import { Announcer } from '../logic/announcer'
import { formatSeconds } from '../logic/format'
import { ArchivePlayer, type ArchivePlayerOptions } from '../player/archivePlayer'
import { LivePlayer, type PlayerStatus } from '../player/livePlayer'
import { Overlay } from '../player/overlay'
import { livePlaylistPath, lowLatencyFits, playlistPath } from '../player/playlistURL'
import { iconButton } from './button'
import { h, setText, show } from './dom'
import { icon, setIcon } from './icons'

const HIDE_CONTROLS_AFTER_MS = 3_000

/** The big picture with its controls: of the player page, and alone in /watch. */
export class PlayerView {
  readonly element: HTMLElement
  private readonly video = h('video', { testId: 'player-video', attrs: { tabindex: '-1' } })
  private readonly canvas = h('canvas', { attrs: { 'aria-hidden': 'true', width: '0', height: '0' } })
  private readonly messageText = h('span', { testId: 'player-message' })
  private readonly messageHint = h('span', { class: 'player-hint', testId: 'player-hint' })
  private readonly spinner = h('span', { class: 'spinner', attrs: { 'aria-hidden': 'true' } })
  private readonly message = h('div', { class: 'player-message', attrs: { 'aria-hidden': 'true' } }, this.spinner, this.messageText, this.messageHint)
  /** What stands on the picture, for screen readers: without its countdowns, and rarely. */
  private readonly spoken = h('span', { class: 'visually-hidden', testId: 'player-spoken', attrs: { role: 'status' } })
  private readonly announcer = new Announcer((text) => setText(this.spoken, text))
  private readonly notice = h('p', { class: 'player-notice', testId: 'player-notice', attrs: { role: 'status' } })
  private readonly start = h('button', { class: 'big-play', testId: 'big-play', attrs: { type: 'button', 'aria-label': 'Play' }, on: { click: () => this.play() } }, icon('play'))
  private readonly latency = h('span', { class: 'latency', testId: 'player-latency', attrs: { title: 'How old the picture is' } })
  private readonly live = h('button', { class: 'live-button', testId: 'jump-live', attrs: { type: 'button', title: 'Jump to live (L)' }, on: { click: () => this.goLive() } }, h('span', { class: 'dot' }), h('span', { text: 'Live' }))
  private readonly playPause = iconButton({ label: 'Pause (space)', icon: 'pause', testId: 'play-pause', onClick: () => this.togglePlay() })
  private readonly mute = iconButton({ label: 'Unmute (M)', icon: 'muted', testId: 'mute', onClick: () => this.toggleMute() })
  private readonly pip = iconButton({ label: 'Picture in picture (P)', icon: 'pip', testId: 'pip', onClick: () => void this.togglePip() })
  private readonly fullscreen = iconButton({ label: 'Full screen (F)', icon: 'fullscreen', testId: 'fullscreen', onClick: () => void this.toggleFullscreen() })
  private readonly boxesCanvas = h('canvas', { class: 'boxes', testId: 'boxes', attrs: { 'aria-hidden': 'true', width: '0', height: '0' } })
  private readonly boxes = iconButton({ label: 'Hide what is seen (B)', icon: 'boxes', testId: 'toggle-boxes', onClick: () => this.toggleBoxes() })
  private overlay: Overlay | null = null
  private readonly quality = h('select', { class: 'quality', testId: 'quality', attrs: { 'aria-label': 'Source shown' }, on: { change: () => this.player.chooseQuality(Number(this.quality.value)) } })
  private readonly player: LivePlayer
  private past: ArchivePlayer | null = null
  private pastText = ''
  private onPast: () => void = () => {}
  /** What is shown in full screen: this, or what is around it. */
  stage: HTMLElement
  private readonly leaving = new AbortController()
  private status: PlayerStatus = { kind: 'stopped' }
  private cameraReason = ''
  private spokenReason = ''
  private hideTimer: ReturnType<typeof setTimeout> | undefined

  constructor(
    cameraId: string,
    prefix = '',
    /** Told what stands on the picture, each time that is drawn; "" for nothing. */
    private readonly onMessage: (text: string) => void = () => {},
  ) {
    const controls = h('div', { class: 'controls' }, this.playPause, this.live, this.latency, h('span', { class: 'spacer' }), this.boxes, this.quality, this.mute, this.pip, this.fullscreen)
    this.element = h(
      'div',
      { class: 'player', testId: 'player', attrs: { role: 'region', 'aria-label': `Live picture of ${cameraId}` } },
      this.canvas,
      this.video,
      this.boxesCanvas,
      this.notice,
      this.message,
      this.spoken,
      this.start,
      controls,
    )
    this.stage = this.element
    this.player = new LivePlayer({
      cameraId,
      video: this.video,
      canvas: this.canvas,
      url: playlistPath(cameraId, prefix),
      ...(lowLatencyFits(window.parent !== window, pageProtocol()) && { liveUrl: livePlaylistPath(cameraId, prefix) }),
      preview: false,
      onStatus: (status) => this.onStatus(status),
    })
    show(this.pip, document.pictureInPictureEnabled === true)
    show(this.quality, false)
    show(this.boxes, false)
    this.listen()
    this.player.start()
  }

  /** Nothing keeps it from playing. */
  get isPlaying(): boolean {
    return this.status.kind === 'playing'
  }

  /** Why the camera itself has no picture, from the API; "" if it has one. Spoken without its countdown. */
  setCameraReason(reason: string, spoken = reason): void {
    this.cameraReason = reason
    this.spokenReason = spoken
    this.render()
  }

  /** From now on the past can be played, too; onChange hears when that begins and ends. */
  enablePast(options: Pick<ArchivePlayerOptions, 'cameraId' | 'nextFootage' | 'sources'>, onChange: () => void): void {
    this.onPast = onChange
    this.past = new ArchivePlayer({
      ...options,
      video: this.video,
      canvas: this.canvas,
      onStatus: (status) => this.isPast && this.onStatus(status),
      onLive: () => this.goLive(),
    })
  }

  /** From now on what AI workers see is drawn over the picture, unless the viewer wants it not. */
  enableBoxes(cameraId: string): void {
    this.overlay = new Overlay({
      cameraId,
      video: this.video,
      canvas: this.boxesCanvas,
      programMs: () => (this.isPast ? (this.past?.wallMs ?? null) : this.player.programMs()),
      isPast: () => this.isPast,
      onFirst: () => show(this.boxes, true),
    })
    if (wantsBoxes()) this.overlay.start()
    else show(this.boxes, true)
    this.render()
  }

  private toggleBoxes(): void {
    const { overlay } = this
    if (!overlay) return
    if (overlay.isOn) overlay.stop()
    else overlay.start()
    rememberBoxes(overlay.isOn)
    this.render()
  }

  get isPast(): boolean {
    return this.past?.isActive ?? false
  }

  /** The past is played so near to now that live is the better way to watch. */
  get hasCaughtUp(): boolean {
    return this.isPast && (this.past?.isAtEdge ?? false)
  }

  get paused(): boolean {
    return this.isPast ? (this.past?.paused ?? false) : this.player.paused
  }

  get rate(): number {
    return this.isPast ? (this.past?.rate ?? 1) : 1
  }

  /** The moment that is shown; null before the first picture. */
  wallMs(): number | null {
    if (this.isPast) return this.past?.wallMs ?? null
    const age = this.player.pictureAgeMs()
    return this.status.kind === 'playing' || this.status.kind === 'buffering' ? Date.now() - (age ?? 0) : null
  }

  playAt(wallMs: number): void {
    const { past } = this
    if (!past) return
    const begins = !past.isActive
    const play = begins || !past.paused
    if (begins) this.player.stop()
    past.playFrom(wallMs, play)
    if (begins) this.onPast()
    this.render()
  }

  goLive(): void {
    if (this.past?.isActive) {
      this.past.stop()
      this.player.play()
      this.player.start()
      this.onPast()
    } else {
      this.player.jumpToLive()
    }
    this.render()
  }

  /** Only the past can be played faster or slower than it was. */
  setRate(rate: number): void {
    if (this.isPast) this.past?.setRate(rate)
    this.render()
  }

  step(seconds: number): void {
    if (this.isPast) this.past?.step(seconds)
    this.render()
  }

  /** What to say of the moment in place of how old the picture is. */
  setPastText(text: string): void {
    this.pastText = text
    setText(this.latency, text)
  }

  play(): void {
    if (this.isPast) this.past?.play()
    else this.player.play()
    this.render()
  }

  destroy(): void {
    this.leaving.abort()
    clearTimeout(this.hideTimer)
    this.announcer.stop()
    this.overlay?.stop()
    this.past?.stop()
    this.player.stop()
    this.element.remove()
  }

  private listen(): void {
    const { signal } = this.leaving
    const tick = setInterval(() => this.render(), 500)
    signal.addEventListener('abort', () => clearInterval(tick))
    document.addEventListener('keydown', (event) => this.onKey(event), { signal })
    document.addEventListener('visibilitychange', () => this.onVisible(), { signal })
    this.video.addEventListener('volumechange', () => this.render())
    this.video.addEventListener('dblclick', () => void this.toggleFullscreen())
    this.element.addEventListener('pointermove', () => this.showControls())
    this.element.addEventListener('pointerdown', () => this.showControls())
    this.element.addEventListener('focusin', () => this.showControls())
    this.showControls()
  }

  private onVisible(): void {
    if (document.hidden || this.isPast || this.player.paused) return
    this.player.play() // jumps to live if it fell behind
  }

  private onStatus(status: PlayerStatus): void {
    if (this.isPast && status.kind === 'stopped') return // that was live
    this.status = status
    this.render()
  }

  private render(): void {
    this.renderMessage()
    const { video, player } = this
    const { paused, isPast } = this
    show(this.start, this.status.kind === 'blocked' || (paused && !isPast && this.status.kind !== 'unsupported'))
    setText(this.notice, isPast ? '' : player.notice)
    show(this.notice, !isPast && player.notice !== '')
    const age = isPast ? null : player.pictureAgeMs()
    const shown = age !== null && video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA
    setText(this.latency, isPast ? this.pastText : shown ? `${formatSeconds(age / 1000)} behind` : '')
    this.latency.title = isPast ? 'When this was' : 'How old the picture is'
    this.element.dataset.time = isPast ? 'past' : 'live'
    if (shown) video.dataset.latencyMs = String(Math.round(age))
    else delete video.dataset.latencyMs
    this.live.dataset.live = String(!isPast && this.status.kind === 'playing' && !paused && !player.isBehind())
    setIcon(this.playPause, paused ? 'play' : 'pause', paused ? 'Play (space)' : 'Pause (space)')
    setIcon(this.mute, video.muted ? 'muted' : 'sound', video.muted ? 'Unmute (M)' : 'Mute (M)')
    setIcon(this.boxes, 'boxes', this.overlay?.isOn ? 'Hide what is seen (B)' : 'Show what is seen (B)')
    this.boxes.setAttribute('aria-pressed', String(this.overlay?.isOn ?? false))
    this.renderQualities()
  }

  private renderMessage(): void {
    const { status } = this
    let text = ''
    let hint = ''
    // What the camera does now is nothing to its past.
    const reason = this.isPast ? '' : this.cameraReason
    // What is buffered plays on while the server is away: no need for words yet.
    const playsOn = !this.paused && this.video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA
    if (status.kind === 'unsupported') text = status.message
    else if (status.kind === 'waiting' && !playsOn) {
      text = reason || status.reason
      const seconds = Math.ceil((status.retryAtMs - Date.now()) / 1000)
      // Until the camera is back, the player's own tries are nobody's concern.
      if (reason === '') hint = seconds > 0 ? `Trying again in ${seconds} s` : 'Trying again…'
    } else if (status.kind === 'loading') text = reason || 'Loading…'
    else if (status.kind === 'buffering') text = reason || 'Waiting for the next picture…'
    setText(this.messageText, text)
    setText(this.messageHint, hint)
    const visible = text !== '' && !(status.kind === 'buffering' && this.paused)
    // A pause between two pictures is not worth a word.
    const quiet = !visible || status.kind === 'buffering' || (status.kind === 'loading' && reason === '')
    this.announcer.set(quiet ? '' : text === this.cameraReason ? this.spokenReason : text)
    show(this.message, visible)
    this.onMessage(visible ? text : '')
    show(this.spinner, status.kind !== 'unsupported')
    this.element.dataset.state = status.kind
  }

  private renderQualities(): void {
    const qualities = this.player.qualities()
    const key = qualities.map((quality) => quality.label).join()
    show(this.quality, qualities.length > 1 && !this.isPast)
    if (this.quality.dataset.key === key) return
    this.quality.dataset.key = key
    const options = [{ index: -1, label: 'Auto' }, ...qualities]
    this.quality.replaceChildren(...options.map(({ index, label }) => h('option', { text: label, attrs: { value: String(index) } })))
    this.quality.value = String(this.player.chosenQuality)
  }

  private showControls(): void {
    this.element.dataset.controls = 'shown'
    clearTimeout(this.hideTimer)
    this.hideTimer = setTimeout(() => {
      // Whoever is on a control by keyboard keeps it.
      if (this.element.querySelector('.controls :focus-visible')) this.showControls()
      else delete this.element.dataset.controls
    }, HIDE_CONTROLS_AFTER_MS)
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    if (event.target instanceof HTMLElement && event.target.closest('input, select, textarea')) return
    const onButton = event.target instanceof HTMLElement && event.target.closest('button, a, summary') !== null
    switch (event.key.toLowerCase()) {
      case ' ':
        if (onButton) return // it presses that button
        this.togglePlay()
        break
      case 'm':
        this.toggleMute()
        break
      case 'f':
        void this.toggleFullscreen()
        break
      case 'l':
        this.goLive()
        break
      case 'b':
        this.toggleBoxes()
        break
      case 'p':
        void this.togglePip()
        break
      default:
        return
    }
    event.preventDefault()
    this.showControls()
  }

  togglePlay(): void {
    if (this.paused) this.play()
    else if (this.isPast) this.past?.pause()
    else this.player.pause()
    this.render()
  }

  private toggleMute(): void {
    this.video.muted = !this.video.muted
    this.render()
  }

  private async togglePip(): Promise<void> {
    try {
      if (document.pictureInPictureElement) await document.exitPictureInPicture()
      else await this.video.requestPictureInPicture()
    } catch {
      // Refused by the browser or before the first picture: the picture stays where it is.
    }
  }

  private async toggleFullscreen(): Promise<void> {
    try {
      if (document.fullscreenElement) await document.exitFullscreen()
      else if (this.stage.requestFullscreen) await this.stage.requestFullscreen()
      // iPhones show only the video element itself in full screen.
      else (this.video as { webkitEnterFullscreen?: () => void }).webkitEnterFullscreen?.()
    } catch {
      // A frame may forbid it.
    }
  }
}

const BOXES_KEY = 'drover.boxes'

function wantsBoxes(): boolean {
  try {
    return localStorage.getItem(BOXES_KEY) !== 'off'
  } catch {
    return true // storage is forbidden here
  }
}

function rememberBoxes(on: boolean): void {
  try {
    localStorage.setItem(BOXES_KEY, on ? 'on' : 'off')
  } catch {
    // It holds for this page then.
  }
}

/** The protocol by which the page came, and by which its connections are shared or not. */
function pageProtocol(): string {
  const [entry] = performance.getEntriesByType('navigation')
  return entry instanceof PerformanceNavigationTiming ? entry.nextHopProtocol : ''
}
