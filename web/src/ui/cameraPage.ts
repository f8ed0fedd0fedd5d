import type { Camera } from '../api/types'
import type { CameraStore, Cameras } from '../cameraStore'
import { plural } from '../logic/format'
import { shortReason, spokenReason, stateReason, stateWord } from '../logic/stateText'
import { iconButton } from './button'
import type { CameraDialogs } from './cameraDialogs'
import { DetailsPanel } from './details'
import { h, setText, show } from './dom'
import { icon } from './icons'
import { PlayerView } from './player'
import { RecordingBadge } from './recordingBadge'
import { openShareDialog } from './shareDialog'
import { Timeline } from './timeline/timeline'

/** The page of one camera: its picture, and beside it what is known of it. */
export class CameraPage {
  readonly element: HTMLElement
  private readonly title = h('h1', { testId: 'camera-title' })
  private readonly word = h('span', { testId: 'camera-state' })
  private readonly badge = h('span', { class: 'badge' }, h('span', { class: 'dot' }), this.word)
  private readonly recording = new RecordingBadge('camera-recording')
  private readonly viewers = h('span', { class: 'camera-viewers', testId: 'camera-viewers' })
  private readonly missing = h('p', { class: 'notice', testId: 'camera-missing', attrs: { role: 'status' } })
  /** All but the head: there is nothing in it of a camera that there is not. */
  private readonly body: HTMLElement
  private readonly edit = iconButton({ label: 'Edit camera', icon: 'edit', testId: 'camera-edit', onClick: () => this.camera && this.dialogs.edit(this.camera) })
  private readonly remove = iconButton({ label: 'Remove camera', icon: 'trash', testId: 'camera-remove', onClick: () => this.camera && this.dialogs.remove(this.camera, this.onGone) })
  private readonly share = iconButton({ label: 'Share camera', icon: 'share', testId: 'camera-share', onClick: () => this.camera && openShareDialog(this.camera) })
  private readonly player: PlayerView
  private readonly timeline: Timeline
  private readonly details: DetailsPanel
  private readonly unsubscribe: () => void
  private camera: Camera | null = null

  constructor(
    private readonly id: string,
    store: CameraStore,
    private readonly dialogs: CameraDialogs,
    private readonly onGone: () => void,
  ) {
    this.details = new DetailsPanel(id)
    this.player = new PlayerView(id, '', (text) => this.details.setSaid(text))
    this.timeline = new Timeline(id, this.player, () => this.camera && this.dialogs.edit(this.camera), (facts) => this.details.setArchive(facts))
    const stage = h('div', { class: 'stage' }, this.player.element, this.timeline.element)
    this.player.stage = stage
    this.player.enableBoxes(id)
    const back = h('a', { class: 'icon-button', testId: 'back', attrs: { href: '/', 'data-link': true, 'aria-label': 'All cameras', title: 'All cameras' } }, icon('back'))
    this.body = h('div', { class: 'camera-body' }, stage, this.details.element)
    this.missing.append(`There is no camera “${id}”. `, h('a', { text: 'See all cameras', attrs: { href: '/', 'data-link': true } }))
    this.element = h(
      'main',
      { class: 'page camera-page', attrs: { id: 'main' } },
      h('div', { class: 'camera-head' }, back, this.title, this.badge, this.recording.element, this.viewers, h('span', { class: 'spacer' }), this.share, this.edit, this.remove),
      this.missing,
      this.body,
    )
    setText(this.title, id)
    show(this.missing, false)
    this.unsubscribe = store.subscribe((cameras) => this.update(cameras))
  }

  destroy(): void {
    this.unsubscribe()
    this.timeline.destroy()
    this.player.destroy()
  }

  private update({ list }: Cameras): void {
    this.camera = list?.find((camera) => camera.id === this.id) ?? null
    const { camera } = this
    const gone = list !== null && !camera
    show(this.missing, gone)
    show(this.badge, camera !== null)
    this.recording.update(camera)
    this.timeline.update(camera)
    show(this.share, camera !== null)
    show(this.edit, camera !== null)
    show(this.remove, camera !== null && !camera.readOnly)
    show(this.body, !gone)
    const nowMs = Date.now()
    this.player.setCameraReason(camera ? shortReason(camera, nowMs) : '', camera ? spokenReason(camera) : '')
    if (camera) this.show(camera, nowMs)
  }

  private show(camera: Camera, nowMs: number): void {
    const name = camera.name || camera.id
    setText(this.title, name)
    document.title = `${name} - Drover`
    setText(this.word, stateWord(camera.status.state))
    this.badge.dataset.state = camera.status.state
    setText(this.viewers, camera.status.viewers > 0 ? plural(camera.status.viewers, 'viewer') : '')
    this.details.update(camera, stateReason(camera, nowMs), nowMs)
  }
}
