import { expect, test } from 'vitest'
import { readCameras, readProbe } from '../../src/api/read'

test('a camera of the API is read', () => {
  const [camera] = readCameras({
    cameras: [
      {
        id: 'door',
        name: 'Front door',
        enabled: true,
        read_only: true,
        sources: [{ name: 'main', url: 'rtsp://h/x', username: 'admin', has_password: true, transport: 'tcp' }],
        status: {
          state: 'backoff',
          since: '2026-01-02T03:04:05.678Z',
          error: '',
          viewers: 3,
          sources: [
            {
              name: 'main',
              state: 'backoff',
              error: 'no route to the camera',
              transport: 'tcp',
              tracks: [{ codec: 'H264', width: 1920, height: 1080, fps: 25, bitrate_bps: 2_000_000, playable: true, reason: '' }],
              gop_seconds: 2,
              last_frame_at: '2026-01-02T03:04:05Z',
              reconnects: 4,
              lost_packets: 7,
            },
          ],
        },
      },
    ],
  })
  expect(camera?.readOnly).toBe(true)
  expect(camera?.sources[0]).toEqual({ name: 'main', url: 'rtsp://h/x', username: 'admin', hasPassword: true, transport: 'tcp' })
  expect(camera?.status.state).toBe('backoff')
  expect(camera?.status.error).toBe('no route to the camera')
  expect(camera?.status.viewers).toBe(3)
  expect(camera?.status.sources[0]?.lastFrameAt?.getTime()).toBe(Date.parse('2026-01-02T03:04:05Z'))
  expect(camera?.status.sources[0]?.tracks[0]).toMatchObject({ codec: 'H264', width: 1920, bitrateBPS: 2_000_000, playable: true })
})

test('odd values cost their field, never the page', () => {
  const odd: unknown[] = [null, 5, 'x', [], {}, [[]], { cameras: null }, { cameras: [null, 5, {}, { id: 7 }] }]
  for (const value of odd) expect(readCameras(value)).toEqual([])
  const [camera] = readCameras({ cameras: [{ id: 'a', sources: 'x', status: { state: 'flying', sources: [5], viewers: 'many' } }] })
  expect(camera?.status).toMatchObject({ state: 'idle', viewers: 0 })
  expect(camera?.sources).toEqual([])
})

test('a time before 1970, as Go writes "never", is not known', () => {
  const [camera] = readCameras({ cameras: [{ id: 'a', status: { since: '0001-01-01T00:00:00Z' } }] })
  expect(camera?.status.since).toBeNull()
})

test('a probe that failed keeps its reason', () => {
  expect(readProbe({ ok: false, tracks: [], step: 'connect', error: 'refused' })).toMatchObject({ error: 'refused', tracks: [] })
})
