import { iconButton } from './button'
import { h } from './dom'
import { setIcon } from './icons'

/** An address as a link, with a button that copies it. */
export function copyRow(label: string, url: string, testId: string): HTMLElement {
  const link = h('a', { text: url, testId, attrs: { href: url } })
  const button = iconButton({ label: `Copy: ${label}`, icon: 'copy', testId: `copy-${testId}`, onClick: () => void copy() })
  const copy = async (): Promise<void> => {
    const done = await copyText(url, link)
    setIcon(button, done ? 'check' : 'copy', done ? 'Copied' : 'Selected: copy it with the keyboard')
    setTimeout(() => setIcon(button, 'copy', `Copy: ${label}`), 2_000)
  }
  return h('div', { class: 'copy-row' }, h('span', { class: 'copy-label', text: label }), link, button)
}

/** Outside https and localhost a page has no clipboard: then the text is selected instead. */
async function copyText(text: string, element: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const range = document.createRange()
    range.selectNodeContents(element)
    getSelection()?.removeAllRanges()
    getSelection()?.addRange(range)
    // Deprecated, and the only way there is on plain http.
    return document.execCommand('copy')
  }
}
