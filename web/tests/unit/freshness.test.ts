import { expect, test } from 'vitest'
import { isFreshText } from '../../src/player/freshness'

const NOW = Date.parse('2026-12-01T12:00:00Z')

function playlist(targetSeconds: number, newestMsAgo: number): string {
  const at = (ms: number): string => new Date(NOW - ms).toISOString()
  return `#EXTM3U\n#EXT-X-TARGETDURATION:${targetSeconds}\n#EXT-X-PROGRAM-DATE-TIME:${at(60_000)}\n#EXTINF:2.0,\na.m4s\n#EXT-X-PROGRAM-DATE-TIME:${at(newestMsAgo)}\n#EXTINF:2.0,\nb.m4s\n`
}

test.each([
  ['the newest segment began two seconds ago', playlist(2, 2_000), true],
  ['a clock that is ahead', playlist(2, -3_000), true],
  ['a network that stuttered', playlist(2, 15_000), true],
  ['the camera has gone', playlist(2, 17_000), false],
  ['long segments', playlist(12, 40_000), true],
  ['long segments, long ago', playlist(12, 60_000), false],
  ['without dates', '#EXTM3U\n#EXT-X-TARGETDURATION:2\n', false],
  ['no playlist', '<html>', false],
])('%s', (_, text, fresh) => {
  expect(isFreshText(text, NOW)).toBe(fresh)
})
