import { expect, test } from 'vitest'
import { RecoveryLadder } from '../../src/player/ladder'
import { PreviewPool, type Preview } from '../../src/player/previewPool'
import { ProgressWatch, type Sample } from '../../src/player/progress'
import { playlistPath } from '../../src/player/playlistURL'

test('media errors in a row climb the ladder, and a quiet while begins it anew', () => {
  const ladder = new RecoveryLadder()
  expect([0, 1000, 2000, 3000].map((at) => ladder.next(at))).toEqual(['recover', 'swap-audio', 'reload', 'reload'])
  expect(ladder.next(60_000)).toBe('recover')
})

const still = { currentTime: 5, hasData: true, appended: 0, targetDuration: 2, expected: true, edge: 100 }

/** The second at which a picture that stands still counts as stuck. */
function stuckAt(at: (second: number) => Partial<Sample>): number | null {
  const watch = new ProgressWatch()
  for (let second = 0; second < 120; second++) {
    if (watch.isStuck({ ...still, nowMs: second * 1000, ...at(second) })) return second
  }
  return null
}

test('a picture that stands still while the decoder gets segments is stuck', () => {
  expect(stuckAt((second) => ({ edge: 100 + second, appended: Math.floor(second / 2) }))).toBe(9)
})

test('jumps to where there is no picture are no progress', () => {
  expect(stuckAt((second) => ({ appended: second, currentTime: second, hasData: second < 2 }))).toBe(10)
})

test('a picture that stands still because the camera is away is not stuck', () => {
  expect(stuckAt(() => ({}))).toBeNull()
})

test('a slow network gets more time', () => {
  expect(stuckAt((second) => ({ edge: 100 + second, appended: second < 20 ? 0 : 1 }))).toBe(31)
})

test('a paused or hidden player is not stuck', () => {
  expect(stuckAt((second) => ({ edge: 100 + second, appended: second, expected: false }))).toBeNull()
})

test('a player that never got a playlist is stuck after a longer while', () => {
  expect(stuckAt(() => ({ edge: null }))).toBe(31)
})

test('a moving picture is not stuck, and the wait begins when it stops', () => {
  expect(stuckAt((second) => ({ appended: second, currentTime: Math.min(second, 59) }))).toBe(68)
})

class FakePreview implements Preview {
  playing = false
  startPreview(): void {
    this.playing = true
  }
  stopPreview(): void {
    this.playing = false
  }
}

test('at most so many previews play, and the next starts when one is released', () => {
  const pool = new PreviewPool(2)
  const [a, b, c] = [new FakePreview(), new FakePreview(), new FakePreview()]
  for (const preview of [a, b, c, a]) pool.request(preview)
  expect([a, b, c].map((preview) => preview.playing)).toEqual([true, true, false])
  pool.release(a)
  expect([a, b, c].map((preview) => preview.playing)).toEqual([false, true, true])
  pool.release(a)
  expect([a, b, c].map((preview) => preview.playing)).toEqual([false, true, true])
})

test('a preview that was released while it waited does not start', () => {
  const pool = new PreviewPool(1)
  const [a, b] = [new FakePreview(), new FakePreview()]
  pool.request(a)
  pool.request(b)
  pool.release(b)
  pool.release(a)
  expect([a.playing, b.playing]).toEqual([false, false])
})

test('playlists of share links stay below their prefix', () => {
  expect(playlistPath('door')).toBe('/hls/door/index.m3u8')
  expect(playlistPath('door', '/s/abc')).toBe('/s/abc/hls/door/index.m3u8')
})
