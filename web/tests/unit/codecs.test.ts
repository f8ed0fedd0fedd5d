import { expect, test } from 'vitest'
import { checkPlayability, codecName, fallbackMessage, unplayableMessage } from '../../src/player/codecs'
import { parseMultivariant } from '../../src/player/multivariant'

const PLAYLIST = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-STREAM-INF:BANDWIDTH=3100000,AVERAGE-BANDWIDTH=3000000,CODECS="hvc1.1.6.L120.B0,mp4a.40.2",RESOLUTION=2560x1440,FRAME-RATE=20.000\r
main/media.m3u8\r
#EXT-X-STREAM-INF:CODECS="avc1.4d401e",BANDWIDTH=500000,RESOLUTION=640x360

# a comment
sub/media.m3u8
`
const chromium = (mime: string): boolean => !/hvc1|hev1/.test(mime)

test('the variants of a multivariant playlist are read in order', () => {
  expect(parseMultivariant(PLAYLIST)).toEqual([
    { codecs: ['hvc1.1.6.L120.B0', 'mp4a.40.2'], width: 2560, height: 1440, uri: 'main/media.m3u8' },
    { codecs: ['avc1.4d401e'], width: 640, height: 360, uri: 'sub/media.m3u8' },
  ])
})

test('a media playlist has no variants', () => {
  expect(parseMultivariant('#EXTM3U\n#EXTINF:2,\na.m4s\n')).toEqual([])
})

test('codecs are asked for as video or audio, as they are', () => {
  const asked: string[] = []
  checkPlayability(parseMultivariant(PLAYLIST), (mime) => asked.push(mime) > 0)
  expect(asked).toEqual([
    'video/mp4; codecs="hvc1.1.6.L120.B0"',
    'audio/mp4; codecs="mp4a.40.2"',
    'video/mp4; codecs="avc1.4d401e"',
  ])
})

test('an H.265 camera in a browser without it says what to do', () => {
  const check = checkPlayability(parseMultivariant(PLAYLIST).slice(0, 1), chromium)
  expect(check.playable).toEqual([])
  expect(unplayableMessage(check.missing)).toBe(
    'This browser cannot play H.265. Try Safari, or Firefox or Edge with hardware support, or set the camera’s stream to H.264.',
  )
})

test('an H.264 source beside H.265 is shown, and the page says so', () => {
  const check = checkPlayability(parseMultivariant(PLAYLIST), chromium)
  expect(check.playable.map((variant) => variant.uri)).toEqual(['sub/media.m3u8'])
  expect(fallbackMessage(check)).toBe('This browser cannot play H.265: the camera’s H.264 source is shown instead, 640×360.')
})

test('nothing is said when everything can be played', () => {
  expect(fallbackMessage(checkPlayability(parseMultivariant(PLAYLIST), () => true))).toBeNull()
})

test('a variant that names no codecs is tried', () => {
  const check = checkPlayability([{ codecs: [], width: 0, height: 0, uri: 'x' }], () => false)
  expect(check.playable).toHaveLength(1)
})

test('an audio codec that keeps the picture away is named', () => {
  const check = checkPlayability([{ codecs: ['avc1.4d401e', 'ac-3'], width: 0, height: 0, uri: 'x' }], (mime) => !mime.includes('ac-3'))
  expect(unplayableMessage(check.missing)).toContain('cannot play ac-3')
})

test.each([
  ['avc1.640028', 'H.264'],
  ['H264', 'H.264'],
  ['hev1.1.6.L93.B0', 'H.265'],
  ['H265', 'H.265'],
  ['mp4a.40.2', 'AAC'],
  ['AAC', 'AAC'],
  ['PCMA', 'PCMA'],
  ['', ''],
])('the codec %s is called %s', (codec, name) => {
  expect(codecName(codec)).toBe(name)
})
