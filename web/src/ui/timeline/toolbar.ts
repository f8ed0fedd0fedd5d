import { DAY, HOUR, MINUTE } from '../../logic/timeView'
import { iconButton, textButton } from '../button'
import { h, setText, show } from '../dom'
import { setIcon } from '../icons'

export interface ToolbarActions {
  onLive: () => void
  onSkip: (seconds: number) => void
  onFrame: (frames: -1 | 1) => void
  onPlay: () => void
  onRate: (rate: number) => void
  onZoom: (factor: number) => void
  onSpan: (ms: number) => void
  onCalendar: () => void
  onExport: () => void
  onZone: () => void
}

export const RATES = [0.5, 1, 2, 4, 8, 16] as const

const SPANS = [
  ['10 min', 10 * MINUTE],
  ['1 h', HOUR],
  ['6 h', 6 * HOUR],
  ['1 day', DAY],
  ['1 week', 7 * DAY],
  ['1 month', 30 * DAY],
  ['1 year', 365 * DAY],
] as const

/** What the toolbar shows. */
export interface ToolbarState {
  clock: string
  date: string
  zone: string
  zoneName: string
  /** False where the viewer's own clocks show UTC. */
  hasOtherZone: boolean
  isPast: boolean
  paused: boolean
  rate: number
  spanMs: number
  isExporting: boolean
}

/** The moment in words, and the buttons for all that hands and keys do. */
export class Toolbar {
  readonly element: HTMLElement
  private readonly clock = h('span', { class: 'time-clock', testId: 'time-clock' })
  private readonly date = h('span', { class: 'time-date', testId: 'time-date' })
  private readonly zone: HTMLButtonElement
  private readonly live: HTMLButtonElement
  private readonly play: HTMLButtonElement
  private readonly rate: HTMLSelectElement
  private readonly span: HTMLSelectElement
  private readonly frames: HTMLButtonElement[]
  private readonly exporting: HTMLButtonElement

  constructor(actions: ToolbarActions) {
    this.zone = h('button', { class: 'zone-button', testId: 'time-zone', attrs: { type: 'button' }, on: { click: actions.onZone } })
    this.live = h('button', { class: 'live-chip', testId: 'timeline-live', attrs: { type: 'button' }, on: { click: actions.onLive } }, h('span', { class: 'dot' }), h('span', { text: 'Live' }))
    this.play = iconButton({ label: 'Pause (space)', icon: 'pause', testId: 'timeline-play', onClick: actions.onPlay })
    this.frames = [
      iconButton({ label: 'One picture back (,)', icon: 'frameBack', testId: 'frame-back', onClick: () => actions.onFrame(-1) }),
      iconButton({ label: 'One picture on (.)', icon: 'frameNext', testId: 'frame-next', onClick: () => actions.onFrame(1) }),
    ]
    this.rate = h('select', { testId: 'rate', attrs: { 'aria-label': 'Speed', title: 'Speed (< and >)' }, on: { change: () => actions.onRate(Number(this.rate.value)) } })
    for (const rate of RATES) this.rate.append(h('option', { text: `${rate}×`, attrs: { value: String(rate) } }))
    this.span = h('select', { testId: 'span', attrs: { 'aria-label': 'Time shown' }, on: { change: () => actions.onSpan(Number(this.span.value)) } })
    this.span.append(h('option', { attrs: { value: '', hidden: true } }))
    for (const [text, ms] of SPANS) this.span.append(h('option', { text, attrs: { value: String(ms) } }))
    this.exporting = textButton({ label: 'Export', icon: 'download', testId: 'export-open', onClick: actions.onExport })
    this.exporting.title = 'Mark a stretch and export it (I and O)'
    this.exporting.setAttribute('aria-label', 'Export')
    this.element = h(
      'div',
      { class: 'timeline-tools' },
      h('div', { class: 'time-now' }, this.clock, h('div', { class: 'time-more' }, this.date, this.zone)),
      h(
        'div',
        { class: 'tool-group', attrs: { role: 'group', 'aria-label': 'Playing' } },
        iconButton({ label: '10 seconds back (J)', icon: 'back10', testId: 'skip-back', onClick: () => actions.onSkip(-10) }),
        this.frames[0] ?? null,
        this.play,
        this.frames[1] ?? null,
        iconButton({ label: '10 seconds on (K)', icon: 'next10', testId: 'skip-next', onClick: () => actions.onSkip(10) }),
        this.rate,
        this.live,
      ),
      h('span', { class: 'spacer' }),
      h(
        'div',
        { class: 'tool-group', attrs: { role: 'group', 'aria-label': 'Time line' } },
        iconButton({ label: 'Show more time (−)', icon: 'zoomOut', testId: 'zoom-out', onClick: () => actions.onZoom(2) }),
        this.span,
        iconButton({ label: 'Look closer (+)', icon: 'zoomIn', testId: 'zoom-in', onClick: () => actions.onZoom(0.5) }),
        iconButton({ label: 'Days with footage', icon: 'calendar', testId: 'calendar-open', onClick: actions.onCalendar }),
        this.exporting,
      ),
    )
  }

  render(state: ToolbarState): void {
    setText(this.clock, state.clock)
    setText(this.date, state.date)
    setText(this.zone, state.zone)
    const zoneTitle = `Times are ${state.zoneName}${state.hasOtherZone ? ': press to change between the local time and UTC' : ''}`
    if (this.zone.title !== zoneTitle) this.zone.title = zoneTitle
    this.zone.disabled = !state.hasOtherZone
    this.live.dataset.live = String(!state.isPast)
    this.live.title = state.isPast ? 'Back to live (L)' : 'This is live'
    this.live.setAttribute('aria-pressed', String(!state.isPast))
    setIcon(this.play, state.paused ? 'play' : 'pause', state.paused ? 'Play (space)' : 'Pause (space)')
    for (const button of this.frames) button.disabled = !state.isPast
    this.rate.disabled = !state.isPast
    if (document.activeElement !== this.rate) this.rate.value = String(state.rate)
    this.renderSpan(state.spanMs)
    this.exporting.setAttribute('aria-expanded', String(state.isExporting))
  }

  hideExport(hidden: boolean): void {
    show(this.exporting, !hidden)
  }

  private renderSpan(spanMs: number): void {
    if (document.activeElement === this.span && this.span.matches(':open, :focus-visible')) return
    const near = SPANS.find(([, ms]) => Math.abs(spanMs / ms - 1) < 0.02)
    const other = this.span.options[0]
    if (!near && other) setText(other, spanText(spanMs))
    this.span.value = near ? String(near[1]) : ''
  }
}

function spanText(ms: number): string {
  for (const [unit, name] of [[365 * DAY, 'years'], [DAY, 'days'], [HOUR, 'h'], [MINUTE, 'min']] as const) {
    if (ms >= 1.2 * unit) return `${Number((ms / unit).toFixed(ms < 10 * unit ? 1 : 0))} ${name}`
  }
  return `${Math.round(ms / 1000)} s`
}
