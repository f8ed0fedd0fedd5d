import type { Source, SourceInput, Transport } from '../api/types'
import { splitLogin, urlProblem } from '../logic/rtspURL'
import { h } from './dom'
import { Field, selectField } from './field'
import { ProbePanel } from './probePanel'

const TRANSPORTS = [
  ['auto', 'Automatic (TCP first)'],
  ['tcp', 'TCP'],
  ['udp', 'UDP'],
  ['multicast', 'Multicast'],
  ['tunnel', 'RTSP over HTTP'],
] as const

export interface SourceFieldsOptions {
  name: string
  /** The camera that is edited, or null. */
  cameraId: string | null
  /** In front of each data-testid: "" for the main source, "sub-" for the second. */
  testPrefix: string
  stored: Source | null
  /** The form of the fields, where that is not the one around them. */
  formId?: string
  onChange: () => void
}

/** The fields of one source of a camera, and what a probe of it found. */
export class SourceFields {
  readonly url: Field
  readonly username: Field
  readonly password: Field
  readonly transport: ReturnType<typeof selectField>
  readonly probePanel: ProbePanel
  readonly login: HTMLElement
  /** What the probe panel's result was for. */
  private probed = ''

  constructor(private readonly options: SourceFieldsOptions) {
    const { testPrefix, stored, formId } = options
    const changed = (): void => this.onEdit()
    this.url = new Field({
      label: 'RTSP URL',
      testId: `field-${testPrefix}url`,
      type: 'url',
      placeholder: 'rtsp://192.168.1.20/stream1',
      formId,
      onInput: changed,
    })
    this.url.input.inputMode = 'url'
    this.url.input.addEventListener('change', () => this.takeLoginOut())
    this.url.input.addEventListener('paste', () => setTimeout(() => this.takeLoginOut()))
    this.username = new Field({ label: 'User name', testId: `field-${testPrefix}username`, placeholder: 'none', formId, onInput: changed })
    this.password = new Field({
      label: 'Password',
      testId: `field-${testPrefix}password`,
      type: 'password',
      autocomplete: 'new-password',
      placeholder: stored?.hasPassword ? 'unchanged' : 'none',
      formId,
      onInput: changed,
    })
    this.transport = selectField('Transport', `field-${testPrefix}transport`, TRANSPORTS, changed)
    this.login = h('div', { class: 'field-pair' }, this.username.element, this.password.element)
    this.probePanel = new ProbePanel(`${testPrefix}probe`)
    if (stored) this.fill(stored)
  }

  get isEmpty(): boolean {
    return this.url.value.trim() === ''
  }

  /** The connection differs from what is stored: worth a probe before saving. */
  get isChanged(): boolean {
    const { stored } = this.options
    if (!stored) return !this.isEmpty
    return (
      this.url.value.trim() !== stored.url ||
      this.username.value !== stored.username ||
      this.password.value !== '' ||
      this.transport.select.value !== stored.transport
    )
  }

  get isProbed(): boolean {
    return this.probed !== '' && this.probed === this.fingerprint()
  }

  setURL(url: string): void {
    this.url.value = url
    this.takeLoginOut()
    this.onEdit()
  }

  /** Says what is wrong in the fields themselves; false if something is. */
  validate(): boolean {
    this.takeLoginOut()
    const problem = urlProblem(this.url.value)
    this.url.setError(problem ?? '')
    if (problem) this.url.input.focus()
    return problem === null
  }

  input(): SourceInput {
    const { stored } = this.options
    const input: SourceInput = {
      name: this.options.name,
      url: this.url.value.trim(),
      username: this.username.value,
      transport: this.transport.select.value as Transport,
    }
    // A password left alone is kept by the server; a login taken away takes its password with it.
    if (this.password.value !== '') input.password = this.password.value
    else if (stored?.hasPassword && input.username === '') input.password = ''
    return input
  }

  async probe(): Promise<boolean> {
    if (!this.validate()) return false
    const { url, username, password, transport, name } = this.input()
    const asked = this.fingerprint()
    const ok = await this.probePanel.run({
      url,
      username,
      transport,
      // Of a stored source the server knows the password, which the page does not.
      ...(this.options.cameraId && this.options.stored ? { camera: this.options.cameraId, source: name } : {}),
      ...(password === undefined ? {} : { password }),
    })
    if (ok && asked === this.fingerprint()) this.probed = asked
    return ok
  }

  private fill(stored: Source): void {
    this.url.value = stored.url
    this.username.value = stored.username
    this.transport.select.value = stored.transport
  }

  private takeLoginOut(): void {
    const { url, username, password } = splitLogin(this.url.value)
    if (url !== this.url.value) this.url.value = url
    if (username !== '') this.username.value = username
    if (password !== '') this.password.value = password
    if (username !== '' || password !== '') this.onEdit()
  }

  private onEdit(): void {
    if (!this.isProbed) {
      this.probed = ''
      this.probePanel.clear()
    }
    this.options.onChange()
  }

  private fingerprint(): string {
    const fields = [this.url.value.trim(), this.username.value, this.password.value, this.transport.select.value]
    return JSON.stringify(fields)
  }
}
