import { expect, test } from 'vitest'
import { readCamera } from '../../src/api/read'
import { formatAgo, formatBitrate, formatFPS, formatSeconds, plural } from '../../src/logic/format'
import { hasMPEGTS, pictureText, shortReason, spokenReason, stateReason, stateWord, trackText } from '../../src/logic/stateText'
import { parseRoute } from '../../src/router'

const now = Date.parse('2026-01-02T03:04:05Z')

function cameraIn(state: string, more: object = {}) {
  return readCamera({ id: 'door', status: { state, ...more } })
}

test.each([
  ['live', {}, ''],
  ['connecting', {}, 'Waiting for the camera’s first picture'],
  ['connecting', { error: 'the camera refuses the connection.' }, 'Connecting again: the camera refuses the connection'],
  ['connecting', { sources: [{ error: 'no route' }] }, 'Connecting again: no route'],
  ['stalled', {}, 'The camera is connected, but sends no picture'],
  ['backoff', { error: 'connect: refused.' }, 'Connect: refused'],
  ['backoff', { error: 'refused', next_try_at: '2026-01-02T03:04:17Z' }, 'Refused. Next try in 12 s'],
  ['backoff', { error: 'is RTSP on?', next_try_at: '2026-01-02T03:04:17Z' }, 'Is RTSP on? Next try in 12 s'],
  ['backoff', { next_try_at: '2026-01-02T03:04:00Z' }, 'The camera could not be reached. Trying again now'],
  ['disabled', {}, 'Switched off: edit the camera to enable it'],
  ['idle', {}, 'Connects when somebody watches'],
])('a camera that is %s says why', (state, more, reason) => {
  expect(stateReason(cameraIn(state, more), now)).toBe(reason)
})

test.each([
  ['the camera refuses the connection: is RTSP on? (connect: dial tcp 127.0.0.1:8554: connect: connection refused)', 'The camera refuses the connection: is RTSP on?'],
  ['refused (401 (digest) by the camera).', 'Refused'],
  ['source (main) refused', 'Source (main) refused'],
  ['(connection refused)', '(connection refused)'],
  ['refused)', 'Refused)'],
])('over the picture the words of the machine are left out of %s', (error, short) => {
  const camera = cameraIn('backoff', { error })
  expect([shortReason(camera, now), spokenReason(camera)]).toEqual([short, short])
  expect(stateReason(camera, now)).toContain(error.slice(1).replace(/\.$/, ''))
})

test('each state has its word', () => {
  expect((['live', 'connecting', 'stalled', 'backoff', 'disabled', 'idle'] as const).map(stateWord)).toEqual([
    'Live', 'Connecting', 'Stalled', 'Backoff', 'Disabled', 'Idle',
  ])
})

test('a tile names the picture, not the sound', () => {
  const camera = cameraIn('live', {
    sources: [{ tracks: [{ codec: 'AAC', sample_rate: 48000 }, { codec: 'H264', width: 1920, height: 1080, fps: 29.97 }] }],
  })
  expect(pictureText(camera.status.sources)).toBe('H.264 · 1920×1080 · 29.97 fps')
})

test('a track says in what codec it is handed on', () => {
  const camera = cameraIn('live', { sources: [{ tracks: [{ codec: 'PCMA', sample_rate: 8000, delivered_as: 'FLAC' }] }] })
  expect(camera.status.sources[0]?.tracks.map(trackText)).toEqual(['PCMA as FLAC · 8 kHz'])
})

test.each([
  ['a picture that is in it', [{ codec: 'H264', mpegts: true }], true],
  ['sound alone', [{ codec: 'H265', mpegts: false }, { codec: 'AAC', mpegts: true }], false],
  ['a server that does not say', [{ codec: 'H264' }], false],
])('MPEG-TS is offered of %s: %s', (_, tracks, offered) => {
  expect(hasMPEGTS(cameraIn('live', { sources: [{ tracks }] }).status.sources)).toBe(offered)
})

test('numbers read as people write them', () => {
  expect([formatBitrate(64_000), formatBitrate(999_900), formatBitrate(2_160_000)]).toEqual(['64 kbit/s', '1 Mbit/s', '2.2 Mbit/s'])
  expect([formatFPS(25.01), formatFPS(12.5)]).toEqual(['25 fps', '12.5 fps'])
  expect([formatSeconds(2.04), formatSeconds(61), formatSeconds(600), formatSeconds(90_000)]).toEqual(['2 s', '61 s', '10 min', '25 h'])
  expect([formatAgo(new Date(now - 500), now), formatAgo(new Date(now - 12_900), now), formatAgo(new Date(now + 5000), now)]).toEqual([
    'just now', '12 s ago', 'just now',
  ])
  expect([plural(1, 'viewer'), plural(2, 'viewer')]).toEqual(['1 viewer', '2 viewers'])
})

test.each([
  ['/', { page: 'grid' }],
  ['/camera/door', { page: 'camera', id: 'door' }],
  ['/watch/door', { page: 'watch', id: 'door', prefix: '' }],
  ['/s/abc/watch/door', { page: 'watch', id: 'door', prefix: '/s/abc' }],
  ['/s/abc/camera/door', { page: 'missing' }],
  ['/camera/%', { page: 'missing' }],
  ['/camera/', { page: 'missing' }],
  ['/camera/a/b', { page: 'missing' }],
])('the path %s is routed', (path, route) => {
  expect(parseRoute(path)).toEqual(route)
})
