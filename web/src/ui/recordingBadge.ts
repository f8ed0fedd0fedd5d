import type { Camera } from '../api/types'
import { recordingText, recordingWord } from '../logic/recordingText'
import { h, setText, show } from './dom'

/** Whether a camera is recorded: in lists and beside its name. Nothing where it is not meant to be. */
export class RecordingBadge {
  private readonly word = h('span')
  readonly element: HTMLElement

  constructor(testId: string) {
    this.element = h('span', { class: 'badge recording', testId }, h('span', { class: 'dot' }), this.word)
    show(this.element, false)
  }

  update(camera: Camera | null): void {
    const recording = camera?.status.recording
    show(this.element, recording !== undefined && recording.state !== 'off')
    if (!recording) return
    this.element.dataset.recording = recording.state
    setText(this.word, recordingWord(recording))
    this.element.title = recordingText(recording)
  }
}
