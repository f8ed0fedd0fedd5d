import { addShare, listShares, revokeShare } from '../api/client'
import type { Camera, GivenShare, Share, ShareAction } from '../api/types'
import { formatSeconds, plural } from '../logic/format'
import { timeShiftPath } from '../player/archiveURL'
import { iconButton, textButton } from './button'
import { copyRow } from './copyRow'
import { openDialog } from './dialog'
import { h, setText, show } from './dom'
import { Field, selectField } from './field'

const LIFETIMES = [
  ['1h', 'An hour'],
  ['24h', 'A day'],
  ['7d', 'A week'],
  ['30d', 'A month'],
] as const

const ACTIONS = [
  ['watch', 'Live picture only'],
  ['archive', 'Recordings too'],
] as const

const HINTS: Record<ShareAction, string> = {
  watch: 'Who has the link sees this camera live, with what AI workers see there, and no other camera. It is shown this once.',
  archive:
    'Who has the link sees this camera live and what was recorded of it, with what AI workers see there, and no other camera. The page is of the live picture; the recordings have an address of their own. Both are shown this once.',
}

/** The most that the API takes. */
const MAX_NAME = 200
const MAX_VIEWERS = 20_000

/** Makes links to a camera that can be given away, and takes them back. */
export function openShareDialog(camera: Camera): void {
  openDialog(`Share ${camera.name || camera.id}`, 'share-dialog', () => new SharePanel(camera.id).element)
}

class SharePanel {
  readonly element: HTMLElement
  private readonly hint = h('p', { class: 'field-hint', text: HINTS.watch })
  private readonly action = selectField('The link shows', 'share-action', ACTIONS, () => setText(this.hint, HINTS[this.chosen()]))
  private readonly lifetime = selectField('The link works for', 'share-lifetime', LIFETIMES, () => {})
  private readonly name = new Field({ label: 'Name', testId: 'share-name', placeholder: 'For the neighbours', hint: 'To know it by; may stay empty' })
  private readonly viewers = new Field({ label: 'Viewers at once', testId: 'share-viewers', placeholder: 'Any number', hint: 'At most so many; may stay empty' })
  private readonly make = textButton({ label: 'Make a link', icon: 'share', kind: 'primary', testId: 'share-make', onClick: () => void this.add() })
  private readonly made = h('div', { class: 'share-made' })
  private readonly error = h('p', { class: 'form-error', testId: 'share-error', attrs: { role: 'alert' } })
  private readonly heading = h('h3', { text: 'Links that work' })
  private readonly links = h('ul', { class: 'share-list', testId: 'share-list' })

  constructor(private readonly cameraId: string) {
    this.lifetime.select.value = '24h'
    this.name.input.maxLength = MAX_NAME
    this.viewers.input.inputMode = 'numeric'
    show(this.error, false)
    show(this.heading, false)
    this.element = h(
      'div',
      { class: 'share-panel' },
      this.hint,
      h('div', { class: 'field-pair' }, this.action.element, this.lifetime.element),
      h('div', { class: 'field-pair' }, this.name.element, this.viewers.element),
      h('div', { class: 'form-buttons' }, this.make),
      this.error,
      this.made,
      this.heading,
      this.links,
    )
    void this.attempt(() => this.refresh())
  }

  private chosen(): ShareAction {
    return this.action.select.value === 'archive' ? 'archive' : 'watch'
  }

  private async add(): Promise<void> {
    const maxViewers = parseViewers(this.viewers.value)
    if (maxViewers === null) {
      this.viewers.setError(`A number up to ${MAX_VIEWERS.toLocaleString('en')}; empty for no limit`)
      this.viewers.input.focus()
      return
    }
    this.make.disabled = true
    await this.attempt(async () => {
      const share = await addShare({ camera: this.cameraId, action: this.chosen(), lifetime: this.lifetime.select.value, name: this.name.value.trim(), maxViewers })
      this.made.replaceChildren(...addresses(share))
      this.name.value = ''
      await this.refresh()
    })
    this.make.disabled = false
  }

  private async refresh(): Promise<void> {
    const mine = (await listShares()).filter((share) => share.camera === this.cameraId)
    show(this.heading, mine.length > 0)
    this.links.replaceChildren(...mine.map((share) => this.line(share)))
  }

  private line(share: Share): HTMLElement {
    const left = share.expiresAt ? `for ${formatSeconds((share.expiresAt.getTime() - Date.now()) / 1000)} more` : ''
    const limit = share.maxViewers > 0 ? `at most ${plural(share.maxViewers, 'viewer')}, ${share.viewers} now` : ''
    const text = [share.name || 'A link', share.action === 'archive' ? 'recordings too' : '', left, limit].filter(Boolean).join(', ')
    const revoke = iconButton({
      label: 'Take this link back',
      icon: 'trash',
      testId: 'share-revoke',
      onClick: () =>
        void this.attempt(async () => {
          await revokeShare(share.id)
          this.made.replaceChildren()
          await this.refresh()
        }),
    })
    return h('li', { testId: 'share' }, h('span', { text }), revoke)
  }

  private async attempt(what: () => Promise<void>): Promise<void> {
    show(this.error, false)
    try {
      await what()
    } catch (err) {
      setText(this.error, err instanceof Error ? err.message : 'This did not work')
      show(this.error, true)
    }
  }
}

function addresses({ watch, token, camera, action }: GivenShare): HTMLElement[] {
  const link = copyRow('Link', location.origin + watch, 'share-url')
  if (action === 'watch') return [link]
  return [link, copyRow('Recordings of the last day, for players such as VLC', location.origin + timeShiftPath(camera, `/s/${token}`), 'share-archive-url')]
}

/** How many viewers there may be: 0 for any number, null for what is no number of them. */
function parseViewers(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed === '') return 0
  return /^\d{1,5}$/.test(trimmed) && Number(trimmed) <= MAX_VIEWERS ? Number(trimmed) : null
}
