import type { RecordingStatus } from '../api/types'

/** The state of recording in a word, for a badge; "" where nothing is meant to be recorded. */
export function recordingWord({ state }: RecordingStatus): string {
  switch (state) {
    case 'off':
      return ''
    case 'recording':
      return 'Rec'
    case 'waiting':
      return 'Rec waiting'
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
      return recording.reason === '' ? 'Is being recorded' : `Is being recorded, but: ${recording.reason}`
    case 'waiting':
      return recording.reason === '' ? 'Nothing of it is recorded just now' : `Recording waits: ${recording.reason}`
    case 'failed':
      return `Is not recorded: ${recording.reason || 'the recorder failed'}`
  }
}

/** "99.9 %", and never "100 %" of what is not whole. */
export function coverageText(ratio: number): string {
  const percent = Math.floor(ratio * 10_000) / 100
  return `${Number(percent.toFixed(percent >= 99 ? 2 : 1))} %`
}
