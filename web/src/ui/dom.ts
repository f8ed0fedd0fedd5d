type Child = Node | string | null | undefined | false

interface Props {
  class?: string
  text?: string
  testId?: string
  /** Attributes; false and undefined leave one out, true sets it empty. */
  attrs?: Record<string, string | boolean | undefined>
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void }
}

/**
 * Makes an element. Strings become text nodes and nothing else: what a server or
 * a camera says can never become markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  if (props.class) element.className = props.class
  if (props.text !== undefined) element.textContent = props.text
  if (props.testId) element.dataset.testid = props.testId
  for (const [name, value] of Object.entries(props.attrs ?? {})) {
    if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : value)
  }
  for (const [type, listener] of Object.entries(props.on ?? {})) {
    element.addEventListener(type, listener as EventListener)
  }
  element.append(...children.filter((child): child is Node | string => child instanceof Node || (typeof child === 'string' && child !== '')))
  return element
}

/** Sets a text only if it differs: a screen reader speaks what changes in a live region. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

export function show(element: HTMLElement, visible: boolean): void {
  if (element.hidden === visible) element.hidden = !visible
}

let lastId = 0

/** An id for a label and its field, unique in the page. */
export function uniqueId(prefix: string): string {
  return `${prefix}-${++lastId}`
}
