import type { RecordingStatus } from '../api/types'
import { formatBytes } from './size'

/** The state of recording in a word, for a badge; "" where nothing is meant to be recorded. */
export function recordingWord({ state }: RecordingStatus): string {
  switch (state) {
    case 'off':
      return ''
    case 'recording':
      return 'Rec'
    case 'waiting':
      return 'Rec waits'
    case 'failed':
      return 'Not recording'
  }
}

/** The same in a sentence. */
export function recordingText(recording: RecordingStatus): string {
  switch (recording.state) {
    case 'off':
      return 'Not recorded'
    case 'recording':
      return recording.bytes > 0 ? `Is being recorded, ${formatBytes(recording.bytes)} kept` : 'Is being recorded'
    case 'waiting':
      return waitingText(recording)
    case 'failed':
      return `Is not recorded: ${recording.error || 'the recorder failed'}`
  }
}

function waitingText({ mode, error }: RecordingStatus): string {
  if (error !== '') return `Recording waits: ${error}`
  if (mode === 'event') return 'Recording waits for an event'
  return mode === 'schedule' ? 'Recording waits for its hours' : 'Nothing of it is recorded just now'
}

/** "99.9 %", and never "100 %" of what is not whole. */
export function coverageText(ratio: number): string {
  const percent = Math.floor(ratio * 10_000) / 100
  return `${Number(percent.toFixed(percent >= 99 ? 2 : 1))} %`
}
