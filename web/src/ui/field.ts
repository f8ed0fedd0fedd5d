import { h, setText, show, uniqueId } from './dom'

interface FieldOptions {
  label: string
  testId: string
  type?: string
  placeholder?: string
  hint?: string
  /** For browsers and password managers. */
  autocomplete?: string
  /** The id of the form that it belongs to, where that is not the one around it. */
  formId?: string | undefined
  onInput?: () => void
}

/** A labelled input that can say what is wrong with it. */
export class Field {
  readonly element: HTMLElement
  readonly input: HTMLInputElement
  private readonly error: HTMLElement
  private readonly hint: HTMLElement

  constructor(options: FieldOptions) {
    const id = uniqueId('field')
    this.error = h('p', { class: 'field-error', testId: `${options.testId}-error`, attrs: { id: `${id}-error` } })
    this.hint = h('p', { class: 'field-hint', text: options.hint ?? '', attrs: { id: `${id}-hint` } })
    this.input = h('input', {
      testId: options.testId,
      attrs: {
        id,
        type: options.type ?? 'text',
        placeholder: options.placeholder,
        autocomplete: options.autocomplete ?? 'off',
        form: options.formId,
        autocapitalize: 'none',
        spellcheck: 'false',
        'aria-describedby': `${id}-error ${id}-hint`,
      },
      on: {
        input: () => {
          this.setError('')
          options.onInput?.()
        },
      },
    })
    show(this.error, false)
    show(this.hint, this.hint.textContent !== '')
    this.element = h('div', { class: 'field' }, h('label', { text: options.label, attrs: { for: id } }), this.input, this.error, this.hint)
  }

  get value(): string {
    return this.input.value
  }

  set value(value: string) {
    this.input.value = value
  }

  setHint(hint: string): void {
    setText(this.hint, hint)
    show(this.hint, hint !== '')
  }

  setError(reason: string): void {
    setText(this.error, reason)
    show(this.error, reason !== '')
    if (reason === '') this.input.removeAttribute('aria-invalid')
    else this.input.setAttribute('aria-invalid', 'true')
  }
}

/** A labelled choice. */
export function selectField(
  label: string,
  testId: string,
  choices: readonly (readonly [value: string, text: string])[],
  onChange: () => void,
): { element: HTMLElement; select: HTMLSelectElement } {
  const id = uniqueId('field')
  const select = h('select', { testId, attrs: { id }, on: { change: onChange } })
  for (const [value, text] of choices) select.append(h('option', { text, attrs: { value } }))
  return { element: h('div', { class: 'field' }, h('label', { text: label, attrs: { for: id } }), select), select }
}

/** A switch with its label. */
export function checkField(label: string, testId: string, hint: string): { element: HTMLElement; input: HTMLInputElement } {
  const input = h('input', { testId, attrs: { type: 'checkbox', role: 'switch' } })
  const element = h(
    'label',
    { class: 'switch' },
    input,
    h('span', { class: 'switch-text' }, h('span', { text: label }), hint === '' ? null : h('small', { text: hint })),
  )
  return { element, input }
}
