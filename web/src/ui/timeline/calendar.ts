import { getRecordedDays, type RecordedDay } from '../../api/recordings'
import { monthAway, monthDays } from '../../logic/monthDays'
import { lengthText, monthText, dayKey } from '../../logic/timeText'
import { formatBytes } from '../../logic/size'
import type { Zone } from '../../logic/zone'
import { iconButton } from '../button'
import { openDialog } from '../dialog'
import { h, setText } from '../dom'

export interface CalendarOptions {
  cameraId: string
  zone: Zone
  /** The month that is shown first is that of this moment. */
  at: number
  oldest: number
  now: number
  onDay: (startOfDay: number, endOfDay: number) => void
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** Opens a calendar in which days with footage can be chosen. */
export function openCalendar(options: CalendarOptions): void {
  openDialog('Days with footage', 'calendar', (close) => new Calendar(options, close).element)
}

class Calendar {
  readonly element: HTMLElement
  private readonly title = h('h3', { class: 'calendar-title', testId: 'calendar-month', attrs: { 'aria-live': 'polite' } })
  private readonly days = h('div', { class: 'calendar-days', attrs: { role: 'group', 'aria-label': 'Days' } })
  private readonly note = h('p', { class: 'field-hint', attrs: { role: 'status' } })
  private readonly back: HTMLButtonElement
  private readonly forward: HTMLButtonElement
  private year: number
  private month: number
  private asking = new AbortController()

  constructor(
    private readonly options: CalendarOptions,
    private readonly close: () => void,
  ) {
    const local = options.zone.local(options.at)
    this.year = local.year
    this.month = local.month
    this.back = iconButton({ label: 'Month before', icon: 'back', testId: 'calendar-back', onClick: () => this.turn(-1) })
    this.forward = iconButton({ label: 'Next month', icon: 'forward', testId: 'calendar-forward', onClick: () => this.turn(1) })
    this.element = h(
      'div',
      { class: 'calendar' },
      h('div', { class: 'calendar-head' }, this.back, this.title, this.forward),
      h('div', { class: 'calendar-days calendar-weekdays', attrs: { 'aria-hidden': 'true' } }, ...WEEKDAYS.map((text) => h('span', { text }))),
      this.days,
      this.note,
    )
    this.days.addEventListener('keydown', (event) => this.onKey(event))
    void this.fill()
  }

  private turn(by: number): void {
    const next = monthAway(this.year, this.month, by)
    this.year = next.year
    this.month = next.month
    void this.fill()
  }

  private async fill(): Promise<void> {
    this.asking.abort()
    const asking = new AbortController()
    this.asking = asking
    const { zone, cameraId, oldest, now } = this.options
    const from = zone.instant(this.year, this.month, 1)
    const to = zone.instant(this.year, this.month + 1, 1)
    setText(this.title, monthText(this.year, this.month))
    this.back.disabled = from <= oldest
    this.forward.disabled = to > now
    this.show(new Map())
    setText(this.note, 'Looking…')
    try {
      const found = await getRecordedDays(cameraId, from, Math.min(to, Math.max(now, from + 1000)), zone.name, asking.signal)
      if (asking.signal.aborted) return
      this.show(new Map(found.map((day) => [day.date, day])))
      setText(this.note, found.length > 0 ? `Days as by the clocks of ${zone.name.replaceAll('_', ' ')}` : 'No footage in this month')
      this.focusDay()
    } catch (err) {
      if (!asking.signal.aborted) setText(this.note, err instanceof Error ? err.message : 'The days could not be asked for')
    }
  }

  private show(recorded: ReadonlyMap<string, RecordedDay>): void {
    const { zone, now } = this.options
    const today = dayKey(now, zone)
    const cells = monthDays(this.year, this.month).map(({ date, day, column }) => {
      const found = recorded.get(date)
      const text = found ? `${lengthText(found.coveredSeconds * 1000)} of footage, ${formatBytes(found.bytes)}` : 'no footage'
      const cell = h(
        'button',
        {
          class: 'calendar-day',
          testId: 'calendar-day',
          attrs: { type: 'button', disabled: !found, title: text, 'aria-label': `${day} ${monthText(this.year, this.month)}, ${text}`, 'aria-current': date === today ? 'date' : undefined, 'data-date': date },
          on: { click: () => this.choose(day) },
        },
        h('span', { text: String(day) }),
        found ? coverBar(found, zone.instant(this.year, this.month, day + 1) - zone.instant(this.year, this.month, day)) : null,
      )
      if (day === 1) cell.style.gridColumnStart = String(column + 1)
      return cell
    })
    this.days.replaceChildren(...cells)
  }

  private choose(day: number): void {
    const { zone, onDay } = this.options
    this.close()
    onDay(zone.instant(this.year, this.month, day), zone.instant(this.year, this.month, day + 1))
  }

  private focusDay(): void {
    const chosen = this.days.querySelector<HTMLButtonElement>(`[data-date="${dayKey(this.options.at, this.options.zone)}"]:not(:disabled)`)
    chosen?.focus()
  }

  private onKey(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const cells = [...this.days.querySelectorAll<HTMLButtonElement>('button')]
    let index = cells.indexOf(document.activeElement as HTMLButtonElement) + step
    // Days without footage cannot be chosen: on to the next that can.
    while (cells[index]?.disabled) index += step
    cells[index]?.focus()
  }
}

function coverBar(day: RecordedDay, dayMs: number): HTMLElement {
  const fill = h('span', { class: 'calendar-fill' })
  fill.style.width = `${Math.min(100, Math.max(4, (day.coveredSeconds * 1000 * 100) / dayMs))}%`
  return h('span', { class: 'calendar-cover' }, fill)
}
