import { restartCamera } from '../api/client'
import type { Camera, SourceStatus } from '../api/types'
import { formatAgo, formatSeconds, plural } from '../logic/format'
import { coverageText, recordingText } from '../logic/recordingText'
import { formatBytes } from '../logic/size'
import { hasMPEGTS, stateWord } from '../logic/stateText'
import { mpegtsPath, playlistPath, watchPath } from '../player/playlistURL'
import { textButton } from './button'
import { copyRow } from './copyRow'
import { h, setText, show } from './dom'
import { trackLine } from './probePanel'
import type { ArchiveFacts } from './timeline/timeline'

/** What is known of a camera, beside its picture. */
export class DetailsPanel {
  readonly element: HTMLElement
  private readonly reason = h('p', { class: 'details-reason', testId: 'details-reason' })
  private readonly sources = h('div', { class: 'details-sources' })
  private readonly viewers = h('p', { class: 'details-viewers', testId: 'details-viewers' })
  private readonly restart: HTMLButtonElement
  private readonly restartResult = h('p', { class: 'field-hint', attrs: { role: 'status' } })
  private readonly mpegts: HTMLElement
  private shown = ''
  private said = ''
  private archive: ArchiveFacts | null = null

  constructor(private readonly cameraId: string) {
    this.restart = textButton({ label: 'Reconnect now', icon: 'restart', testId: 'reconnect-now', onClick: () => void this.reconnect() })
    this.mpegts = copyRow('MPEG-TS', location.origin + mpegtsPath(cameraId), 'mpegts-url')
    show(this.mpegts, false)
    show(this.reason, false)
    this.element = h(
      'section',
      { class: 'details', testId: 'details', attrs: { 'aria-label': 'Details' } },
      this.reason,
      this.viewers,
      this.sources,
      h('h2', { text: 'Addresses' }),
      copyRow('Playlist', location.origin + playlistPath(cameraId), 'playlist-url'),
      this.mpegts,
      copyRow('Player page', location.origin + watchPath(cameraId), 'watch-url'),
      h('div', { class: 'details-actions' }, this.restart, this.restartResult),
    )
  }

  /** What the picture beside this says already, and need not be said again. */
  setSaid(text: string): void {
    this.said = text
    this.showReason()
  }

  /** What is recorded in all, where the camera's own state does not say. */
  setArchive(facts: ArchiveFacts): void {
    this.archive = facts
  }

  update(camera: Camera, reason: string, nowMs: number): void {
    setText(this.reason, reason)
    this.showReason()
    show(this.mpegts, hasMPEGTS(camera.status.sources))
    show(this.restart, camera.enabled)
    setText(this.viewers, plural(camera.status.viewers, 'viewer'))
    const blocks = camera.status.sources.map((source) => sourceBlock(source, camera.status.error, nowMs))
    const recording = recordingBlock(camera, this.archive, nowMs)
    if (recording) blocks.push(recording)
    // Rebuilt only when it reads differently, so that a selected text stays selected.
    const text = blocks.map((block) => block.textContent).join('\n')
    if (text === this.shown) return
    this.shown = text
    this.sources.replaceChildren(...blocks)
  }

  private showReason(): void {
    const reason = this.reason.textContent
    show(this.reason, reason !== '' && reason !== this.said)
  }

  private async reconnect(): Promise<void> {
    this.restart.disabled = true
    try {
      await restartCamera(this.cameraId)
      setText(this.restartResult, 'Reconnecting…')
    } catch (err) {
      setText(this.restartResult, err instanceof Error ? err.message : 'This did not work')
    }
    this.restart.disabled = false
    setTimeout(() => setText(this.restartResult, ''), 5_000)
  }
}

/** What is recorded of the camera; null where nothing is or was. */
function recordingBlock({ status: { recording } }: Camera, archive: ArchiveFacts | null, nowMs: number): HTMLElement | null {
  const oldest = archive?.oldest ?? null
  const bytes = archive?.bytes ?? 0
  if (recording.state === 'off' && oldest === null) return null
  const facts: [string, string][] = []
  if (bytes > 0) facts.push(['Kept', formatBytes(bytes)])
  if (archive && oldest !== null) {
    facts.push(['Oldest', formatAgo(new Date(oldest), nowMs)])
    facts.push([`Last ${formatSeconds(archive.coverageMs / 1000)}`, coverageText(archive.coverage)])
  }
  const list = h('dl', { class: 'facts' })
  for (const [term, value] of facts) list.append(h('div', {}, h('dt', { text: term }), h('dd', { text: value })))
  const state = { off: 'Off', recording: 'Recording', waiting: 'Waiting', failed: 'Failed' }[recording.state]
  const why = recording.reason === '' ? '' : recordingText(recording)
  return h('div', { class: 'source', testId: 'recording' }, h('h2', {}, h('span', { text: 'Recording' }), h('span', { class: 'source-state', text: state })), why === '' ? null : h('p', { class: 'field-hint', text: why }), list)
}

/** An error that is said of the whole camera is not said of its source again. */
function sourceBlock(source: SourceStatus, cameraError: string, nowMs: number): HTMLElement {
  const facts: [string, string][] = []
  if (source.transport !== '') facts.push(['Transport', source.transport.toUpperCase()])
  if (source.gopSeconds > 0) facts.push(['GOP', formatSeconds(source.gopSeconds)])
  if (source.lastFrameAt) facts.push(['Last frame', formatAgo(source.lastFrameAt, nowMs)])
  facts.push(['Reconnects', String(source.reconnects)], ['Lost packets', String(source.lostPackets)])
  if (source.error !== '' && source.error !== cameraError && source.state !== 'live') facts.push(['Error', source.error])
  const list = h('dl', { class: 'facts' })
  for (const [term, value] of facts) list.append(h('div', {}, h('dt', { text: term }), h('dd', { text: value })))
  return h(
    'div',
    { class: 'source', testId: 'source' },
    h('h2', {}, h('span', { text: `Source ${source.name}` }), h('span', { class: 'source-state', text: stateWord(source.state) })),
    source.tracks.length > 0
      ? h('ul', { class: 'tracks', attrs: { 'aria-label': plural(source.tracks.length, 'track') } }, ...source.tracks.map(trackLine))
      : h('p', { class: 'field-hint', text: 'No tracks are known yet' }),
    list,
  )
}
