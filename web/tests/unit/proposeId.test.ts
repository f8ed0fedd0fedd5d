import { expect, test } from 'vitest'
import { proposeId, validId } from '../../src/logic/proposeId'

const none = new Set<string>()

test.each([
  ['rtsp://127.0.0.1:8554/door', 'door'],
  ['rtsp://192.168.1.20/stream1', 'camera-20'],
  ['rtsp://192.168.1.20:554/h264Preview_01_main', 'camera-20'],
  ['rtsp://192.168.1.20/Streaming/Channels/101', 'camera-20'],
  ['rtsp://192.168.1.20/Streaming/Channels/302', 'camera-20-ch3'],
  ['rtsp://192.168.1.21/cam/realmonitor?channel=4&subtype=0', 'camera-21-ch4'],
  ['rtsp://192.168.1.21/cam/realmonitor?channel=1&subtype=0', 'camera-21'],
  ['rtsp://admin:p%40ss@frontdoor.local/live/ch0', 'frontdoor'],
  ['rtsp://admin:p@ss@192.168.1.9/axis-media/media.amp', 'camera-9'],
  ['rtsp://nvr.example/Back%20Yard', 'back-yard'],
  ['rtsp://nvr.example/Einfahrt-Süd/live', 'einfahrt-sud'],
  ['rtsps://[fe80::1]:322/onvif1', 'camera'],
  ['rtsp://localhost:8554/live', 'camera'],
  ['rtsp://host/%E4%B8%AD', 'host'],
  ['http://192.168.1.20/door', ''],
  ['rtsp://', ''],
  ['', ''],
])('%s is proposed as %s', (url, id) => {
  expect(proposeId(url, none)).toBe(id)
})

test('a proposed id is valid, however odd the URL', () => {
  const parts = ['%', '@', ':', '/', '?', '_', '-', 'ü', '..', 'A', '9', '%2F', '\u0000', 'x'.repeat(300)]
  for (const a of parts) {
    for (const b of parts) {
      for (const url of [`rtsp://${a}${b}`, `rtsp://host/${a}${b}`, `rtsp://u:${a}@h${b}/x`]) {
        const id = proposeId(url, none)
        expect(id === '' || validId(id), `${url} -> ${id}`).toBe(true)
      }
    }
  }
})

test('an id that is taken gets the next number', () => {
  expect(proposeId('rtsp://h/door', new Set(['door', 'door-2']))).toBe('door-3')
})

test.each([
  ['door', true],
  ['0_a-b', true],
  ['a'.repeat(63), true],
  ['a'.repeat(64), false],
  ['-door', false],
  ['Door', false],
  ['', false],
  ['a/b', false],
])('the id %s is valid: %s', (id, valid) => {
  expect(validId(id)).toBe(valid)
})
