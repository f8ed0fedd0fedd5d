// Viewers who behave like hls.js: they start three target durations behind, fetch
// each segment once and in order, ask for the playlist at its pace, and play in real
// time. What counts is what they see: pictures that come late, stand still, or jump.
//
//   k6 run -e BASE=http://127.0.0.1:8090 -e CAMERA=door viewers.js
//
// VIEWERS=200, DURATION=120s, SESSION=60 (seconds that one watches before it begins
// anew); PREFIX=/s/TOKEN for a share link.

import { sleep } from 'k6'
import { Counter, Trend } from 'k6/metrics'
import { playlistURL, whole } from './lib/env.js'
import { getMedia, getPlaylist } from './lib/get.js'

const sessions = new Counter('viewer_sessions')
const played = new Counter('viewer_segments')
const failures = new Counter('viewer_failures')
const stalls = new Counter('viewer_stalls')
const stalledMs = new Counter('viewer_stalled_ms')
const jumps = new Counter('viewer_jumps')
const startup = new Trend('viewer_startup', true)

const SESSION_MS = whole('SESSION', 60) * 1000

export const options = {
  scenarios: {
    viewers: {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [
        { target: whole('VIEWERS', 200), duration: __ENV.RAMP ?? '10s' },
        { target: whole('VIEWERS', 200), duration: __ENV.DURATION ?? '120s' },
      ],
      gracefulRampDown: '0s',
      gracefulStop: '5s',
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.001'],
    viewer_segments: ['count>0'],
    viewer_failures: ['count==0'],
    viewer_stalls: ['count==0'],
    viewer_jumps: ['count==0'],
    viewer_startup: ['p(95)<3000'],
  },
}

/** One viewer's buffer, played in real time. */
class Buffer {
  startedMs = 0
  bufferedMs = 0
  stalledMs = 0

  /**
   * A segment has come: was the picture waiting for it?
   * @param {number} seconds
   * @param {number} nowMs
   */
  append(seconds, nowMs) {
    if (this.startedMs === 0) this.startedMs = nowMs
    const missing = nowMs - this.startedMs - this.stalledMs - this.bufferedMs
    if (missing > 0 && this.bufferedMs > 0) {
      stalls.add(1)
      stalledMs.add(missing)
      this.stalledMs += missing
    }
    this.bufferedMs += seconds * 1000
  }

  /** @param {number} nowMs */
  aheadMs(nowMs) {
    return this.bufferedMs - (nowMs - this.startedMs - this.stalledMs)
  }
}

/**
 * The segment that hls.js would begin with.
 * @param {import('./lib/m3u8.js').Playlist} playlist
 */
function firstSequence(playlist) {
  let behind = 0
  for (const segment of [...playlist.segments].reverse()) {
    behind += segment.duration
    if (behind >= 3 * playlist.target) return segment.sequence
  }
  return playlist.sequence
}

/** @param {string} what */
function failed(what) {
  failures.add(1, { what })
  sleep(1)
}

export default function () {
  const beganMs = Date.now()
  sessions.add(1)
  const multivariant = getPlaylist(playlistURL('index.m3u8'), 'multivariant')
  const mediaURL = multivariant?.variants[0]
  if (!mediaURL) return failed('multivariant')
  let playlist = getPlaylist(mediaURL, 'playlist')
  if (!playlist) return failed('playlist')
  if (playlist.map && !getMedia(playlist.map, 'init')) return failed('init')
  let map = playlist.map
  let next = firstSequence(playlist)
  const buffer = new Buffer()
  for (;;) {
    const loadedMs = Date.now()
    if (playlist.sequence > next) {
      jumps.add(1)
      next = playlist.sequence
    }
    let news = false
    for (const segment of playlist.segments) {
      if (segment.sequence < next) continue
      if (playlist.map && playlist.map !== map) {
        if (!getMedia(playlist.map, 'init')) return failed('init')
        map = playlist.map
      }
      if (!getMedia(segment.uri, 'segment')) return failed('segment')
      if (buffer.startedMs === 0) startup.add(Date.now() - beganMs)
      buffer.append(segment.duration, Date.now())
      played.add(1)
      next = segment.sequence + 1
      news = true
    }
    if (Date.now() - beganMs > SESSION_MS) return
    // RFC 8216bis 6.3.4: a target duration after one that had news, else half of it.
    const waitMs = playlist.target * (news ? 1000 : 500) - (Date.now() - loadedMs)
    if (waitMs > 0) sleep(waitMs / 1000)
    const again = getPlaylist(mediaURL, 'playlist')
    if (!again) {
      failures.add(1, { what: 'reload' })
      // What is buffered plays on; a viewer loses it only when it runs out.
      if (buffer.aheadMs(Date.now()) < 0) return sleep(1)
      continue
    }
    playlist = again
  }
}
