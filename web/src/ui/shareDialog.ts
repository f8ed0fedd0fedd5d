import { addShare, listShares, revokeShare } from '../api/client'
import type { Camera, Share } from '../api/types'
import { formatSeconds, plural } from '../logic/format'
import { iconButton, textButton } from './button'
import { copyRow } from './copyRow'
import { openDialog } from './dialog'
import { h, setText, show } from './dom'
import { selectField } from './field'

const LIFETIMES = [
  ['1h', 'An hour'],
  ['24h', 'A day'],
  ['7d', 'A week'],
  ['30d', 'A month'],
] as const

/** Makes links to a camera that can be given away, and takes them back. */
export function openShareDialog(camera: Camera): void {
  openDialog(`Share ${camera.name || camera.id}`, 'share-dialog', () => new SharePanel(camera.id).element)
}

class SharePanel {
  readonly element: HTMLElement
  private readonly lifetime = selectField('The link works for', 'share-lifetime', LIFETIMES, () => {})
  private readonly make = textButton({ label: 'Make a link', icon: 'share', kind: 'primary', testId: 'share-make', onClick: () => void this.add() })
  private readonly made = h('div', { class: 'share-made' })
  private readonly error = h('p', { class: 'form-error', testId: 'share-error', attrs: { role: 'alert' } })
  private readonly heading = h('h3', { text: 'Links that work' })
  private readonly links = h('ul', { class: 'share-list', testId: 'share-list' })

  constructor(private readonly cameraId: string) {
    this.lifetime.select.value = '24h'
    show(this.error, false)
    show(this.heading, false)
    this.element = h(
      'div',
      { class: 'share-panel' },
      h('p', { class: 'field-hint', text: 'Who has the link sees this camera live, with what AI workers see there, and no other camera. It is shown this once.' }),
      this.lifetime.element,
      h('div', { class: 'form-buttons' }, this.make),
      this.error,
      this.made,
      this.heading,
      this.links,
    )
    void this.attempt(() => this.refresh())
  }

  private async add(): Promise<void> {
    this.make.disabled = true
    await this.attempt(async () => {
      const { watch } = await addShare(this.cameraId, this.lifetime.select.value)
      this.made.replaceChildren(copyRow('Link', location.origin + watch, 'share-url'))
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
    const limit = share.maxViewers > 0 ? `, at most ${plural(share.maxViewers, 'viewer')}` : ''
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
    return h('li', { testId: 'share' }, h('span', { text: `${share.name || 'A link'}, ${left}${limit}` }), revoke)
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
