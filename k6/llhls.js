// Viewers of low-latency HLS (RFC 8216bis): each asks for the playlist that has the
// next part, which the server answers when there is one, and fetches the part.
//
//   k6 run -e BASE=http://127.0.0.1:8090 -e CAMERA=door llhls.js
//
// VIEWERS=200, DURATION=60s; PREFIX=/s/TOKEN for a share link. part_age compares the
// camera's time in the playlist with this machine's clock.

import { sleep } from 'k6'
import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'
import { playlistURL, whole } from './lib/env.js'
import { getMedia, getPlaylist } from './lib/get.js'
import { parsePlaylist } from './lib/m3u8.js'

const parts = new Counter('ll_parts')
const lost = new Counter('ll_lost_parts')
const early = new Counter('ll_early_answers')
const failures = new Counter('ll_failures')
const reload = new Trend('ll_reload', true)
const age = new Trend('ll_part_age', true)

export const options = {
  scenarios: {
    llhls: { executor: 'constant-vus', vus: whole('VIEWERS', 200), duration: __ENV.DURATION ?? '60s', gracefulStop: '5s' },
  },
  thresholds: {
    ll_parts: ['count>0'],
    ll_early_answers: ['count==0'],
    ll_lost_parts: ['count==0'],
    ll_failures: ['count==0'],
    ll_part_age: ['p(95)<1000'],
    'http_req_duration{kind:part}': ['p(95)<500'],
  },
}

/**
 * What comes after all that a playlist has: a media sequence number and a part.
 * @param {import('./lib/m3u8.js').Playlist} playlist
 */
function nextOf(playlist) {
  if (playlist.open) return { msn: playlist.open.sequence, part: playlist.open.parts.length }
  const last = playlist.segments.at(-1)
  return { msn: last ? last.sequence + 1 : playlist.sequence, part: 0 }
}

/**
 * The parts of a playlist from a place on, with when each ended.
 * @param {import('./lib/m3u8.js').Playlist} playlist
 * @param {{ msn: number, part: number }} from
 */
function partsFrom(playlist, from) {
  const found = []
  for (const segment of [...playlist.segments, ...(playlist.open ? [playlist.open] : [])]) {
    let endMs = segment.startedMs
    for (const [i, part] of segment.parts.entries()) {
      if (endMs !== null) endMs += part.duration * 1000
      if (segment.sequence > from.msn || (segment.sequence === from.msn && i >= from.part)) found.push({ uri: part.uri, endMs })
    }
  }
  return found
}

/**
 * @param {{ msn: number, part: number }} a
 * @param {{ msn: number, part: number }} b
 */
const isAfter = (a, b) => a.msn > b.msn || (a.msn === b.msn && a.part > b.part)

/** @param {string} what */
function failed(what) {
  failures.add(1, { what })
  sleep(1)
}

export default function () {
  const multivariant = getPlaylist(playlistURL('live.m3u8'), 'multivariant')
  const mediaURL = multivariant?.variants[0]
  if (!mediaURL) return failed('multivariant')
  let playlist = getPlaylist(mediaURL, 'playlist')
  if (!playlist) return failed('playlist')
  // The first request may be what makes the server cut parts.
  for (let i = 0; i < 20 && playlist && (!playlist.canBlock || playlist.partTarget === 0); i++) {
    sleep(0.5)
    playlist = getPlaylist(mediaURL, 'playlist')
  }
  if (!playlist || !playlist.canBlock) return failed('no blocking reload')
  if (playlist.map && !getMedia(playlist.map, 'init')) return failed('init')
  for (let n = 0; n < 50; n++) {
    const wanted = nextOf(playlist)
    const url = `${mediaURL}?_HLS_msn=${wanted.msn}&_HLS_part=${wanted.part}`
    const answer = http.get(url, { tags: { kind: 'reload', name: 'reload' }, timeout: '30s' })
    if (answer.status !== 200 || typeof answer.body !== 'string') return failed('reload')
    reload.add(answer.timings.duration)
    playlist = parsePlaylist(answer.body, mediaURL)
    if (!isAfter(nextOf(playlist), wanted)) {
      early.add(1)
      sleep(0.1)
    }
    const news = partsFrom(playlist, wanted)
    if (news.length === 0 && isAfter(nextOf(playlist), wanted)) lost.add(1)
    for (const part of news) {
      if (!getMedia(part.uri, 'part')) return failed('part')
      parts.add(1)
      if (part.endMs !== null) age.add(Date.now() - part.endMs)
    }
  }
}
