import type { CameraInput, RecordMode, RecordSettings } from '../api/types'
import { formatBytes, parseAge, parseBytes } from '../logic/size'
import { viewersZone } from '../logic/zone'
import { h, setText, show } from './dom'
import { Field, selectField } from './field'

const MODES = [
  ['off', 'Not recorded'],
  ['continuous', 'All the time'],
  ['event', 'When something happens'],
  ['schedule', 'In chosen hours'],
] as const

const HINTS: Record<RecordMode, string> = {
  off: 'What is recorded already stays until it is old enough',
  continuous: 'Each picture is kept, until it is too old or there is too much',
  event: 'Some seconds before and behind each event',
  schedule: 'In these hours of each week',
}

/** When a camera is recorded, and for how long that is kept. */
export class RecordFields {
  readonly element: HTMLDetailsElement
  readonly maxAge: Field
  readonly maxBytes: Field
  readonly hours: Field
  private readonly mode: ReturnType<typeof selectField>
  private readonly limits: HTMLElement
  private readonly zone: string
  private readonly hint = h('p', { class: 'field-hint' })
  private readonly summary = h('summary', { testId: 'record-summary' })

  constructor(
    private readonly stored: RecordSettings | null,
    private readonly onChange: () => void,
  ) {
    this.mode = selectField('Record', 'field-record-mode', MODES, () => this.changed())
    this.zone = stored && stored.hours.length > 0 ? stored.zone : viewersZone().name
    this.hours = new Field({ label: 'Hours', testId: 'field-record-hours', placeholder: 'mon-fri 08:00-18:00; sat,sun 22:00-06:00', hint: `By the clocks of ${this.zone || 'UTC'}; more than one with ; between`, onInput: () => this.changed() })
    this.hours.value = stored?.hours.join('; ') ?? ''
    this.maxAge = new Field({ label: 'Keep for', testId: 'field-record-age', placeholder: 'as long as there is room', hint: 'For example 30 days', onInput: () => this.changed() })
    this.maxBytes = new Field({ label: 'At most', testId: 'field-record-bytes', placeholder: 'no limit', hint: 'For example 500 GB; then the oldest goes', onInput: () => this.changed() })
    this.mode.select.value = stored?.mode ?? 'off'
    this.maxAge.value = stored?.maxAge ?? ''
    this.maxBytes.value = stored && stored.maxBytes > 0 ? exactSize(stored.maxBytes) : ''
    this.limits = h('div', { class: 'field-pair' }, this.maxAge.element, this.maxBytes.element)
    this.mode.element.append(this.hint)
    this.element = h('details', { class: 'more', testId: 'record' }, this.summary, h('div', { class: 'more-body' }, this.mode.element, this.hours.element, this.limits))
    this.element.open = stored !== null && stored.mode !== 'off'
    this.render()
  }

  /** Says what is wrong in the fields themselves; false if something is. */
  validate(): boolean {
    const age = parseAge(this.maxAge.value)
    const bytes = parseBytes(this.maxBytes.value)
    this.maxAge.setError(age === null ? 'A time like 30 days, 12 h or 2 weeks; empty for no limit' : '')
    this.maxBytes.setError(bytes === null ? 'A size like 500 GB or 2 TB; empty for no limit' : '')
    const noHours = this.mode.select.value === 'schedule' && this.spans().length === 0
    this.hours.setError(noHours ? 'Say when: for example mon-fri 08:00-18:00' : '')
    const wrong = noHours ? this.hours : age === null ? this.maxAge : bytes === null ? this.maxBytes : null
    if (!wrong) return true
    this.element.open = true
    wrong.input.focus()
    return false
  }

  /** What to send: nothing where nothing was changed. */
  input(): Pick<CameraInput, 'record'> {
    const chosen = this.mode.select.value as RecordMode
    const record = { mode: chosen, max_age: parseAge(this.maxAge.value) ?? '', max_bytes: parseBytes(this.maxBytes.value) ?? 0 }
    const { mode, maxAge, maxBytes, hours } = this.stored ?? { mode: 'off', maxAge: '', maxBytes: 0, hours: [] }
    // An age that is written otherwise is the same age.
    const same = record.mode === mode && record.max_age === (parseAge(maxAge) ?? maxAge) && record.max_bytes === maxBytes
    const spans = this.spans()
    if (chosen === 'schedule') return same && spans.join() === hours.join() ? {} : { record: { ...record, schedule: { zone: this.zone, spans } } }
    return same ? {} : { record }
  }

  private spans(): string[] {
    return this.hours.value.split(/[;\n]/).map((span) => span.trim().toLowerCase()).filter(Boolean)
  }

  private changed(): void {
    this.render()
    this.onChange()
  }

  private render(): void {
    const mode = this.mode.select.value as RecordMode
    setText(this.hint, HINTS[mode])
    show(this.hours.element, mode === 'schedule')
    show(this.limits, mode !== 'off' || this.maxAge.value !== '' || this.maxBytes.value !== '')
    setText(this.summary, `Recording: ${summaryText(mode, this.maxAge.value, this.maxBytes.value)}`)
  }
}

function summaryText(mode: RecordMode, age: string, size: string): string {
  const word = { off: 'off', continuous: 'all the time', event: 'on events', schedule: 'in chosen hours' }[mode]
  const limits = [age.trim(), size.trim() === '' ? '' : `at most ${size.trim()}`].filter(Boolean).join(', ')
  return mode === 'off' || limits === '' ? word : `${word}, ${limits}`
}

/** A size as it is read back: rounded only where that changes nothing. */
function exactSize(bytes: number): string {
  const text = formatBytes(bytes)
  return parseBytes(text) === bytes ? text : String(bytes)
}
