import { addCamera, changeCamera } from '../api/client'
import { RequestError } from '../api/problem'
import type { Camera, SourceInput } from '../api/types'
import { proposeId, validId } from '../logic/proposeId'
import { sentence } from '../logic/stateText'
import { textButton } from './button'
import { h, setText, show, uniqueId } from './dom'
import { checkField, Field } from './field'
import { RecordFields } from './recordFields'
import { SourceFields } from './sourceFields'

export interface CameraFormOptions {
  /** The camera to edit, or null to add one. */
  camera: Camera | null
  /** Ids that exist, so that the proposed one is free. */
  taken: ReadonlySet<string>
  onDone: (camera: Camera) => void
  onCancel?: () => void
  /** On the empty page: the URL is all that is asked at first. */
  big?: boolean
}

export interface CameraForm {
  element: HTMLElement
  setURL: (url: string) => void
}

export function cameraForm(options: CameraFormOptions): CameraForm {
  const form = new Form(options)
  return { element: form.element, setURL: (url) => form.main.setURL(url) }
}

class Form {
  readonly element: HTMLElement
  /**
   * The second source's login is of a form of its own: browsers and password
   * managers take what is in one form as one login.
   */
  private readonly subForm = h('form', { attrs: { id: uniqueId('sub-form'), novalidate: true, autocomplete: 'off' }, on: { submit: (event) => this.onSubmit(event) } })
  readonly main: SourceFields
  private readonly sub: SourceFields
  private readonly id: Field
  private readonly name: Field
  private readonly enabled = checkField('Enabled', 'field-enabled', 'Off: the camera is kept, but not connected')
  private readonly onDemand = checkField('Connect only while somebody watches', 'field-on-demand', 'The first viewer waits for a few seconds')
  private readonly more = h('details', { class: 'more' })
  private readonly record: RecordFields
  private readonly error = h('p', { class: 'form-error', testId: 'form-error', attrs: { role: 'alert' } })
  private readonly check: HTMLButtonElement
  private readonly save: HTMLButtonElement
  private idTouched = false
  /** Nothing is left to check: saving is the next step. */
  private isReady = false
  private probing = false
  private saving = false

  constructor(private readonly options: CameraFormOptions) {
    const { camera } = options
    const changed = (): void => this.onChange()
    this.main = new SourceFields({ name: camera?.sources[0]?.name ?? 'main', testPrefix: '', cameraId: camera?.id ?? null, stored: camera?.sources[0] ?? null, onChange: changed })
    this.sub = new SourceFields({ name: camera?.sources[1]?.name ?? 'sub', testPrefix: 'sub-', cameraId: camera?.id ?? null, stored: camera?.sources[1] ?? null, formId: this.subForm.id, onChange: changed })
    this.record = new RecordFields(camera?.record ?? null, changed)
    this.id = new Field({
      label: 'Id',
      testId: 'field-id',
      placeholder: 'front-door',
      hint: 'Part of its addresses, such as /camera/front-door. It cannot be changed later',
      onInput: () => (this.idTouched = this.id.value !== ''),
    })
    this.name = new Field({ label: 'Name', testId: 'field-name', placeholder: 'Front door', hint: 'For people; may stay empty' })
    this.check = textButton({ label: 'Check camera', kind: 'primary', testId: 'probe-button', onClick: () => void this.probe() })
    this.save = h('button', { class: 'button plain', testId: 'save-button', attrs: { type: 'submit' } }, h('span'))
    this.element = this.build()
    this.fill()
    this.onChange()
  }

  private build(): HTMLElement {
    const { camera, onCancel, big } = this.options
    this.more.append(
      h('summary', { text: 'More settings: transport, on demand, second source', testId: 'more-summary' }),
      h('div', { class: 'more-body' }, this.main.transport.element, this.enabled.element, this.onDemand.element, ...this.subFields()),
    )
    const identity = h('div', { class: 'field-pair' }, this.id.element, this.name.element)
    const cancel = onCancel ? textButton({ label: 'Cancel', testId: 'cancel-button', onClick: onCancel }) : null
    const readOnly = camera?.readOnly
      ? h('p', {
          class: 'notice',
          testId: 'read-only-notice',
          text: 'This camera comes from the configuration file. Change it there, then restart Drover.',
        })
      : null
    this.subForm.hidden = true
    const form = h(
      'form',
      {
        class: big ? 'camera-form big' : 'camera-form',
        testId: 'camera-form',
        attrs: { novalidate: true, autocomplete: 'off' },
        on: { submit: (event) => this.onSubmit(event), keydown: (event) => this.onKey(event) },
      },
      readOnly,
      this.main.url.element,
      this.main.login,
      this.main.probePanel.element,
      identity,
      this.record.element,
      this.more,
      this.error,
      h('div', { class: 'form-buttons' }, cancel, h('span', { class: 'spacer' }), ...(camera?.readOnly ? [] : [this.save, this.check])),
    )
    return h('div', {}, form, this.subForm)
  }

  private subFields(): HTMLElement[] {
    const hint = h('p', {
      class: 'field-hint',
      text: 'Many cameras offer a second, smaller stream. It saves data in the grid and on phones, and stands in where a browser cannot play the main one.',
    })
    const title = h('h3', { text: 'Second source (sub)' })
    return [title, hint, this.sub.url.element, this.sub.login, this.sub.transport.element, this.sub.probePanel.element]
  }

  private fill(): void {
    const { camera } = this.options
    this.enabled.input.checked = camera?.enabled ?? true
    this.onDemand.input.checked = camera?.onDemand ?? false
    show(this.error, false)
    if (!camera) return
    this.id.value = camera.id
    this.id.input.readOnly = true
    this.name.value = camera.name
    this.more.open = !camera.enabled || camera.onDemand || camera.sources.length > 1
    if (camera.readOnly) {
      for (const control of this.element.querySelectorAll('input, select')) control.setAttribute('disabled', '')
    }
  }

  private onChange(): void {
    if (!this.options.camera && !this.idTouched) this.id.value = proposeId(this.main.url.value, this.options.taken)
    const unchecked = this.used().some((source) => source.isChanged && !source.isProbed)
    const verb = this.options.camera ? 'Save' : 'Add camera'
    // On a form that is still empty there is nothing to save "anyway".
    const label = unchecked && !this.main.isEmpty ? (this.options.camera ? 'Save anyway' : 'Add anyway') : verb
    setText(this.save.querySelector('span') ?? this.save, label)
    this.isReady = !unchecked && !this.main.isEmpty
    this.save.className = `button ${this.isReady ? 'primary' : 'plain'}`
    this.check.className = `button ${this.isReady ? 'plain' : 'primary'}`
  }

  private used(): SourceFields[] {
    return this.sub.isEmpty ? [this.main] : [this.main, this.sub]
  }

  private async probe(): Promise<void> {
    if (this.probing) return
    this.probing = true
    this.check.disabled = true
    this.setError('')
    for (const source of this.used()) await source.probe()
    this.probing = false
    this.check.disabled = false
    this.onChange()
    // Where the button that was pressed is no longer the next step, the focus moves on.
    if (this.isReady && document.activeElement === document.body) this.save.focus()
  }

  /** Enter checks first; once that is done, it saves. */
  private onKey(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.isComposing || !(event.target instanceof HTMLInputElement)) return
    event.preventDefault()
    if (this.isReady) void this.submit()
    else void this.probe()
  }

  private onSubmit(event: Event): void {
    event.preventDefault()
    void this.submit()
  }

  private async submit(): Promise<void> {
    if (this.saving || this.options.camera?.readOnly || !this.validate()) return
    this.saving = true
    this.save.disabled = true
    this.setError('')
    try {
      this.options.onDone(await this.send())
    } catch (err) {
      this.showProblem(err instanceof RequestError ? err : new RequestError('The answer could not be read', 0))
    } finally {
      this.saving = false
      this.save.disabled = false
    }
  }

  private validate(): boolean {
    if (!this.used().every((source) => source.validate())) return false
    if (!this.record.validate()) return false
    if (!this.options.camera && !validId(this.id.value)) {
      this.id.setError('Small letters, digits, - and _, beginning with a letter or digit: for example front-door')
      this.id.input.focus()
      return false
    }
    return true
  }

  private send(): Promise<Camera> {
    const { camera } = this.options
    const common = { name: this.name.value.trim(), enabled: this.enabled.input.checked, on_demand: this.onDemand.input.checked, ...this.record.input() }
    if (!camera) return addCamera({ id: this.id.value, ...common, sources: this.sources() })
    // Sources that are sent may be connected anew: not for a new name.
    const same = camera.sources.length < 2 === this.sub.isEmpty && !this.used().some((source) => source.isChanged)
    return changeCamera(camera.id, same ? common : { ...common, sources: this.sources() })
  }

  /** A third source and on has no fields here, and stays as it is. */
  private sources(): SourceInput[] {
    const others = this.options.camera?.sources.slice(2) ?? []
    return [
      ...this.used().map((source) => source.input()),
      ...others.map(({ name, url, username, transport }) => ({ name, url, username, transport })),
    ]
  }

  private showProblem(err: RequestError): void {
    if (err.status === 409 && !this.options.camera) {
      this.id.setError('There is already a camera with this id: choose another id')
      this.id.input.focus()
      return
    }
    const rest: string[] = []
    let inFields = false
    for (const { field, reason } of err.fields) {
      const target = this.fieldOf(field)
      inFields ||= target !== null
      if (target) target.setError(sentence(reason))
      else rest.push(field === '' ? reason : `${field}: ${reason}`)
    }
    // What stands at its field need not be said twice.
    this.setError(inFields ? [err.title, ...rest].join('. ') : sentence(err.message))
  }

  /** The input for a field as the API names it: "id", "url", "sources[1].password". */
  private fieldOf(field: string): Field | null {
    const match = /^(?:sources\[(\d+)\]\.|record\.(?:schedule\.)?)?(\w+)(?:\[\d+\])?$/.exec(field)
    const source = match?.[1] === '1' ? this.sub : this.main
    switch (match?.[2]) {
      case 'id':
        return this.id
      case 'name':
        return match[1] === undefined ? this.name : null
      case 'url':
        return source.url
      case 'max_age':
        return this.record.maxAge
      case 'spans':
        return this.record.hours
      case 'max_bytes':
        return this.record.maxBytes
      case 'username':
        return source.username
      case 'password':
        return source.password
      default:
        return null
    }
  }

  private setError(message: string): void {
    setText(this.error, message)
    show(this.error, message !== '')
  }
}
