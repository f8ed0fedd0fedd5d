import type { Camera } from '../api/types'
import { plural } from '../logic/format'
import { pictureText, shortReason, stateWord } from '../logic/stateText'
import { dropFrame } from '../player/freeze'
import { LivePlayer, type PlayerStatus } from '../player/livePlayer'
import { playlistPath } from '../player/playlistURL'
import type { Preview } from '../player/previewPool'
import { cameraPath } from '../router'
import { iconButton } from './button'
import { h, setText, show } from './dom'
import { icon } from './icons'
import { RecordingBadge } from './recordingBadge'

export interface TileActions {
  onEdit: (camera: Camera) => void
  onRemove: (camera: Camera) => void
}

/** One camera in the grid: its state always, its picture while it is in view. */
export class Tile implements Preview {
  readonly element: HTMLElement
  private readonly video = h('video', { testId: 'tile-video', attrs: { 'aria-hidden': 'true', tabindex: '-1' } })
  private readonly canvas = h('canvas', { attrs: { 'aria-hidden': 'true', width: '0', height: '0' } })
  private readonly link = h('a', { class: 'tile-picture', testId: 'tile-link', attrs: { 'data-link': true } })
  private readonly word = h('span', { testId: 'tile-state' })
  private readonly badge = h('span', { class: 'badge' }, h('span', { class: 'dot' }), this.word)
  private readonly recording = new RecordingBadge('tile-recording')
  private readonly viewers = h('span', { testId: 'tile-viewers' })
  private readonly viewersBadge = h('span', { class: 'badge viewers' }, icon('eye'), this.viewers)
  private readonly message = h('span', { class: 'tile-message', testId: 'tile-message' })
  private readonly nameText = h('span', { class: 'tile-name', testId: 'tile-name' })
  private readonly meta = h('span', { class: 'tile-meta', testId: 'tile-meta' })
  private readonly edit: HTMLButtonElement
  private readonly remove: HTMLButtonElement
  private readonly readOnly = h(
    'span',
    { class: 'tile-lock', testId: 'tile-read-only', attrs: { role: 'img', 'aria-label': 'From the configuration file', title: 'From the configuration file: changed there' } },
    icon('lock'),
  )
  private readonly player: LivePlayer
  private playerProblem = ''

  constructor(
    private camera: Camera,
    actions: TileActions,
  ) {
    this.edit = iconButton({ label: '', icon: 'edit', testId: 'tile-edit', onClick: () => actions.onEdit(this.camera) })
    this.remove = iconButton({ label: '', icon: 'trash', testId: 'tile-remove', onClick: () => actions.onRemove(this.camera) })
    this.link.append(this.canvas, this.video, this.message, h('span', { class: 'tile-badges' }, this.badge, this.recording.element, this.viewersBadge))
    this.element = h(
      'article',
      { class: 'tile', testId: 'tile' },
      this.link,
      h('div', { class: 'tile-foot' }, h('div', { class: 'tile-text' }, this.nameText, this.meta), this.readOnly, this.edit, this.remove),
    )
    this.player = new LivePlayer({
      cameraId: camera.id,
      video: this.video,
      canvas: this.canvas,
      url: playlistPath(camera.id),
      preview: true,
      onStatus: (status) => this.onPlayer(status),
    })
    this.update(camera)
  }

  /** Playing makes sense: there is a picture, or will be in a moment. */
  get wantsPreview(): boolean {
    const { state } = this.camera.status
    return state === 'live' || state === 'stalled'
  }

  update(camera: Camera): void {
    this.camera = camera
    const { state, viewers, sources } = camera.status
    const name = camera.name || camera.id
    this.element.dataset.camera = camera.id
    this.element.dataset.state = state
    this.link.href = cameraPath(camera.id)
    this.link.setAttribute('aria-label', `${name}, ${stateWord(state)}: open`)
    setText(this.nameText, name)
    setText(this.word, stateWord(state))
    this.badge.dataset.state = state
    this.recording.update(camera)
    setText(this.viewers, String(viewers))
    this.viewersBadge.title = plural(viewers, 'viewer')
    this.viewersBadge.setAttribute('aria-label', plural(viewers, 'viewer'))
    show(this.viewersBadge, viewers > 0)
    setText(this.meta, pictureText(sources) || hostOf(camera))
    this.setLabels(name, camera.readOnly)
    this.showMessage()
  }

  startPreview(): void {
    this.player.start()
  }

  stopPreview(): void {
    this.player.stop()
    this.playerProblem = ''
    this.showMessage()
  }

  destroy(): void {
    this.player.stop()
    dropFrame(this.canvas)
    this.element.remove()
  }

  private setLabels(name: string, readOnly: boolean): void {
    show(this.readOnly, readOnly)
    show(this.remove, !readOnly)
    const edit = readOnly ? `Settings of ${name}` : `Edit ${name}`
    this.edit.setAttribute('aria-label', edit)
    this.edit.title = edit
    this.remove.setAttribute('aria-label', `Remove ${name}`)
    this.remove.title = `Remove ${name}`
  }

  private onPlayer(status: PlayerStatus): void {
    this.playerProblem = status.kind === 'unsupported' ? status.message : ''
    this.element.dataset.playing = String(status.kind === 'playing')
    this.showMessage()
  }

  private showMessage(): void {
    const reason = shortReason(this.camera, Date.now()) || this.playerProblem
    setText(this.message, reason)
    show(this.message, reason !== '')
  }
}

/** Where the camera is, for as long as nothing is known of its picture. */
function hostOf(camera: Camera): string {
  return /^\w+:\/\/([^/?]+)/.exec(camera.sources[0]?.url ?? '')?.[1] ?? camera.id
}
