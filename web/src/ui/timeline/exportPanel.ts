import { download, save } from '../../api/download'
import { addBookmark } from '../../api/recordings'
import { measure, type Recorded } from '../../logic/recordings'
import { formatBytes } from '../../logic/size'
import { clockText, dayKey, fieldText, lengthText, parseField, zoneText } from '../../logic/timeText'
import type { Zone } from '../../logic/zone'
import { clipDigestPath, clipPath, type Clip } from '../../player/archiveURL'
import { iconButton, textButton } from '../button'
import { h, setText, show, uniqueId } from '../dom'

export interface ExportActions {
  cameraId: string
  zone: () => Zone
  recorded: (from: number, to: number) => Recorded
  onRange: (from: number, to: number) => void
  onBookmark: () => void
  onClose: () => void
}

/** More than this the page leaves to the browser's own downloads: it is too much to hold. */
const HOLD_BYTES = 1_500_000_000

/** Exports a marked stretch of time: says what that comes to, and fetches it. */
export class ExportPanel {
  readonly element: HTMLElement
  private readonly start = this.timeField('From', 'export-from')
  private readonly end = this.timeField('To', 'export-to')
  private readonly gaps = h('select', { testId: 'export-gaps', attrs: { 'aria-label': 'Gaps' }, on: { change: () => this.render() } })
  private readonly name = h('input', { testId: 'bookmark-name', attrs: { type: 'text', maxlength: '200', placeholder: 'Parcel', 'aria-label': 'Name of the bookmark', autocomplete: 'off' } })
  private readonly keep = h('input', { testId: 'bookmark-keep', attrs: { type: 'checkbox' } })
  private readonly bookmark: HTMLButtonElement
  private readonly estimate = h('p', { class: 'export-estimate', testId: 'export-estimate', attrs: { 'aria-live': 'polite' } })
  private readonly error = h('p', { class: 'form-error', testId: 'export-error', attrs: { role: 'alert' } })
  private readonly go: HTMLButtonElement
  private readonly cancel: HTMLButtonElement
  private readonly progress = h('progress', { testId: 'export-progress', attrs: { max: '1', 'aria-label': 'Export' } })
  private readonly progressText = h('span', { class: 'export-progress-text', testId: 'export-progress-text' })
  private readonly progressRow = h('div', { class: 'export-progress' })
  private readonly digest = h('a', { class: 'export-digest', text: 'SHA-256', testId: 'export-digest', attrs: { title: 'The digest of exactly this file, as sha256sum checks it', download: true } })
  private readonly done = h('p', { class: 'export-done', testId: 'export-done', attrs: { role: 'status' } })
  private running: AbortController | null = null
  private range: { from: number; to: number } | null = null

  constructor(private readonly actions: ExportActions) {
    this.gaps.append(h('option', { text: 'Close gaps', attrs: { value: 'close' } }), h('option', { text: 'Keep gaps', attrs: { value: 'keep' } }))
    this.go = textButton({ label: 'Export MP4', icon: 'download', kind: 'primary', testId: 'export-start', onClick: () => void this.run() })
    this.cancel = textButton({ label: 'Cancel', testId: 'export-cancel', onClick: () => this.running?.abort() })
    this.bookmark = textButton({ label: 'Bookmark', icon: 'bookmark', testId: 'bookmark-add', onClick: () => void this.addBookmark() })
    this.name.addEventListener('keydown', (event) => event.key === 'Enter' && !event.isComposing && void this.addBookmark())
    this.progressRow.append(this.progress, this.progressText, this.cancel)
    const close = iconButton({ label: 'Close export', icon: 'close', testId: 'export-close', onClick: () => this.close() })
    this.element = h(
      'section',
      { class: 'export', testId: 'export', attrs: { 'aria-label': 'Export' } },
      h('div', { class: 'export-row' }, this.start.element, this.end.element, h('label', { class: 'export-field' }, h('span', { text: 'Gaps' }), this.gaps), this.go, close),
      this.estimate,
      h('div', { class: 'export-row' }, h('label', { class: 'export-field bookmark-field' }, h('span', { text: 'Or mark it for later' }), this.name), this.bookmark, h('label', { class: 'keep' }, this.keep, h('span', { text: 'Keep from being deleted' }))),
      this.progressRow,
      this.done,
      this.error,
    )
    show(this.element, false)
    show(this.progressRow, false)
    show(this.error, false)
    show(this.done, false)
  }

  get isOpen(): boolean {
    return this.range !== null
  }

  setRange(from: number, to: number): void {
    this.range = { from, to }
    show(this.element, true)
    if (!this.running) {
      show(this.done, false)
      show(this.error, false)
    }
    this.render()
  }

  close(): void {
    this.running?.abort()
    this.range = null
    show(this.element, false)
    this.actions.onClose()
  }

  destroy(): void {
    this.running?.abort()
  }

  /** What is known of the stretch has changed, or the zone. */
  render(): void {
    if (!this.range) return
    const { from, to } = this.range
    const zone = this.actions.zone()
    for (const [field, at] of [[this.start, from], [this.end, to]] as const) {
      if (document.activeElement !== field.input) field.input.value = fieldText(at, zone)
    }
    const { ms, bytes } = measure(this.actions.recorded(from, to).spans, from, to)
    const length = lengthText(to - from)
    const missing = to - from - ms
    const footage = missing > 1_000 ? `${lengthText(ms)} of footage in ${length}` : `${length} of footage`
    setText(this.estimate, ms > 0 ? `${footage}, about ${formatBytes(bytes)}. Times are ${zoneText(zone, from)}; it begins at the keyframe before.` : `No footage in these ${length}.`)
    this.go.disabled = ms <= 0 || this.running !== null
  }

  private clip(): Clip | null {
    return this.range && { ...this.range, gaps: this.gaps.value === 'keep' ? 'keep' : 'close' }
  }

  private async run(): Promise<void> {
    const clip = this.clip()
    if (!clip || this.running) return
    const url = clipPath(this.actions.cameraId, clip)
    const name = this.fileName(clip)
    const { bytes } = measure(this.actions.recorded(clip.from, clip.to).spans, clip.from, clip.to)
    show(this.error, false)
    show(this.done, false)
    if (bytes > HOLD_BYTES) {
      save(url, name)
      this.finish(clip, name, `${name} is large: the browser’s downloads show how far it is.`)
      return
    }
    const running = new AbortController()
    this.running = running
    show(this.progressRow, true)
    this.progress.removeAttribute('value')
    setText(this.progressText, 'Preparing…')
    this.render()
    try {
      const blob = await download(url, { signal: running.signal, onProgress: (done, total) => this.showProgress(done, total) })
      const href = URL.createObjectURL(blob)
      save(href, name)
      // The browser has taken it over by then; a blob held for good would hold its bytes.
      setTimeout(() => URL.revokeObjectURL(href), 60_000)
      this.finish(clip, name, `Saved ${name}, ${formatBytes(blob.size)}.`)
    } catch (err) {
      if (!running.signal.aborted) {
        setText(this.error, err instanceof Error ? err.message : 'The export failed')
        show(this.error, true)
      }
    } finally {
      this.running = null
      show(this.progressRow, false)
      this.render()
    }
  }

  private async addBookmark(): Promise<void> {
    const { range } = this
    if (!range || this.bookmark.disabled) return
    this.bookmark.disabled = true
    show(this.error, false)
    try {
      await addBookmark(this.actions.cameraId, { ...range, name: this.name.value.trim(), keep: this.keep.checked })
      this.name.value = ''
      this.keep.checked = false
      this.actions.onBookmark()
      this.close()
    } catch (err) {
      setText(this.error, err instanceof Error ? err.message : 'The bookmark could not be made')
      show(this.error, true)
    } finally {
      this.bookmark.disabled = false
    }
  }

  private showProgress(done: number, total: number): void {
    if (total > 0) this.progress.value = done / total
    setText(this.progressText, total > 0 ? `${formatBytes(done)} of ${formatBytes(total)}` : formatBytes(done))
  }

  private finish(clip: Clip, name: string, text: string): void {
    this.digest.href = clipDigestPath(this.actions.cameraId, clip)
    this.digest.download = `${name}.sha256`
    this.done.replaceChildren(text + ' ', this.digest)
    show(this.done, true)
  }

  private fileName({ from }: Clip): string {
    const zone = this.actions.zone()
    return `${this.actions.cameraId}-${dayKey(from, zone)}-${clockText(from, zone).replaceAll(':', '')}.mp4`
  }

  private timeField(label: string, testId: string): { element: HTMLElement; input: HTMLInputElement } {
    const id = uniqueId('time')
    const input = h('input', { testId, attrs: { id, type: 'datetime-local', step: '1' }, on: { change: () => this.onField() } })
    return { element: h('div', { class: 'export-field' }, h('label', { text: label, attrs: { for: id } }), input), input }
  }

  private onField(): void {
    const zone = this.actions.zone()
    const from = parseField(this.start.input.value, zone)
    const to = parseField(this.end.input.value, zone)
    if (from === null || to === null) return
    if (to > from) this.actions.onRange(from, to)
    else {
      setText(this.error, 'The end is before the beginning')
      show(this.error, true)
    }
  }
}
