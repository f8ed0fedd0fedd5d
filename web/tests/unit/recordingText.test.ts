import { expect, test } from 'vitest'
import { readCamera } from '../../src/api/read'
import { coverageText, recordingText, recordingWord } from '../../src/logic/recordingText'

test.each([
  ['off', '', '', 'Not recorded'],
  ['recording', '', 'Rec', 'Is being recorded'],
  ['recording', 'source sub: no route', 'Rec', 'Is being recorded, but: source sub: no route'],
  ['waiting', 'there was no event', 'Rec waiting', 'Recording waits: there was no event'],
  ['waiting', '', 'Rec waiting', 'Nothing of it is recorded just now'],
  ['failed', 'the disk is full', 'Not recording', 'Is not recorded: the disk is full'],
  ['flying', 'of an API to come', '', 'Not recorded'],
])('recording that is %s (%s) says so', (state, reason, word, text) => {
  const { recording } = readCamera({ id: 'door', status: { recording_state: state, recording_reason: reason } }).status
  expect(recordingWord(recording)).toBe(word)
  expect(recordingText(recording)).toBe(text)
})

test('what is not whole is never 100 %', () => {
  expect([1, 0.99999, 0.9931, 0.5].map(coverageText)).toEqual(['100 %', '99.99 %', '99.31 %', '50 %'])
})
