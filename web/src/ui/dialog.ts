import { iconButton, textButton } from './button'
import { h, uniqueId } from './dom'

export interface OpenDialog {
  close: () => void
}

/** Opens a modal dialog; the browser keeps the focus in it and gives it back. */
export function openDialog(title: string, testId: string, fill: (close: () => void) => HTMLElement): OpenDialog {
  const titleId = uniqueId('dialog')
  const dialog = h('dialog', { class: 'dialog', testId, attrs: { 'aria-labelledby': titleId } })
  const close = (): void => dialog.close()
  dialog.addEventListener('close', () => dialog.remove())
  dialog.append(
    h('div', { class: 'dialog-head' }, h('h2', { text: title, attrs: { id: titleId } }), iconButton({ label: 'Close', icon: 'close', testId: 'dialog-close', onClick: close })),
    h('div', { class: 'dialog-body' }, fill(close)),
  )
  document.body.append(dialog)
  dialog.showModal()
  return { close }
}

interface ConfirmOptions {
  title: string
  /** A paragraph each. */
  text: string[]
  action: string
  /** Rejects with an error whose message is shown; the dialog stays. */
  onConfirm: () => Promise<void>
}

/** Asks before something that cannot be undone. */
export function confirmDialog(options: ConfirmOptions): void {
  openDialog(options.title, 'confirm-dialog', (close) => {
    const error = h('p', { class: 'form-error', testId: 'confirm-error', attrs: { role: 'alert' } })
    error.hidden = true
    const confirm = async (): Promise<void> => {
      button.disabled = true
      try {
        await options.onConfirm()
        close()
      } catch (err) {
        error.textContent = err instanceof Error ? err.message : 'This did not work'
        error.hidden = false
        button.disabled = false
      }
    }
    const button = textButton({ label: options.action, kind: 'danger', testId: 'confirm-button', onClick: () => void confirm() })
    const cancel = textButton({ label: 'Cancel', testId: 'confirm-cancel', onClick: close })
    cancel.autofocus = true
    return h('div', {}, ...options.text.map((text) => h('p', { text })), error, h('div', { class: 'form-buttons' }, h('span', { class: 'spacer' }), cancel, button))
  })
}
