import { h } from './dom'
import { icon, type IconName } from './icons'

interface ButtonOptions {
  label: string
  icon?: IconName
  kind?: 'primary' | 'plain' | 'danger'
  testId?: string
  onClick: () => void
}

export function textButton(options: ButtonOptions): HTMLButtonElement {
  return h(
    'button',
    {
      class: `button ${options.kind ?? 'plain'}`,
      ...(options.testId ? { testId: options.testId } : {}),
      attrs: { type: 'button' },
      on: { click: options.onClick },
    },
    options.icon ? icon(options.icon) : null,
    h('span', { text: options.label }),
  )
}

/** A button that shows an icon alone; the label is for screen readers and as a hint. */
export function iconButton(options: ButtonOptions & { icon: IconName }): HTMLButtonElement {
  const button = h(
    'button',
    {
      class: 'icon-button',
      ...(options.testId ? { testId: options.testId } : {}),
      attrs: { type: 'button', 'aria-label': options.label, title: options.label },
      on: { click: options.onClick },
    },
    icon(options.icon),
  )
  button.dataset.icon = options.icon
  return button
}
