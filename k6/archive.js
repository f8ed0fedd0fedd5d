// People who look for a moment in what was recorded: they see the timeline of a day,
// open ten minutes anywhere in it, and jump about there, each time until the first
// segment is there.
//
//   k6 run -e BASE=http://127.0.0.1:8090 -e CAMERA=door archive.js
//
// VIEWERS=50, DURATION=60s, SEEKS=10 (in each ten minutes). The timeline is of the API:
// a share link has none.

import { sleep } from 'k6'
import { Counter, Trend } from 'k6/metrics'
import { BASE, CAMERA, whole } from './lib/env.js'
import { getJSON, getMedia, getPlaylist } from './lib/get.js'

const visits = new Counter('archive_visits')
const seeks = new Counter('archive_seeks')
const failures = new Counter('archive_failures')
const opening = new Trend('archive_open_duration', true)
const seeking = new Trend('archive_seek_duration', true)

const SEEKS = whole('SEEKS', 10)
const DAY_MS = 24 * 3600 * 1000
const LOOK_MS = 10 * 60 * 1000

export const options = {
  scenarios: {
    archive: {
      executor: 'constant-vus',
      vus: whole('VIEWERS', 50),
      duration: __ENV.DURATION ?? '60s',
      gracefulStop: '5s',
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.001'],
    archive_visits: ['count>0'],
    archive_seeks: ['count>0'],
    archive_failures: ['count==0'],
    'http_req_duration{kind:timeline}': ['p(95)<200'],
    'http_req_duration{kind:playlist}': ['p(95)<200'],
    archive_seek_duration: ['p(95)<500'],
  },
}

/** @param {string} what */
function failed(what) {
  failures.add(1, { what })
  sleep(1)
}

/**
 * A moment within the spans of a timeline, each as likely as the next.
 * @param {{ from: string, to: string }[]} spans
 */
function anyMoment(spans) {
  const all = spans.reduce((sum, span) => sum + Date.parse(span.to) - Date.parse(span.from), 0)
  let left = Math.random() * all
  for (const span of spans) {
    const length = Date.parse(span.to) - Date.parse(span.from)
    if (left < length) return Date.parse(span.from) + left
    left -= length
  }
  return Date.parse(spans[0]?.from ?? '')
}

/**
 * What there is of a day.
 * @param {number} nowMs
 * @returns {{ from: string, to: string }[]}
 */
function timeline(nowMs) {
  const from = new Date(nowMs - DAY_MS).toISOString()
  const to = new Date(nowMs).toISOString()
  const answer = getJSON(`${BASE}/api/v1/cameras/${CAMERA}/recordings?from=${from}&to=${to}`, 'timeline')
  return answer?.spans ?? []
}

export default function () {
  const spans = timeline(Date.now())
  if (spans.length === 0) return failed('timeline')
  const begunMs = Date.now()
  const from = new Date(anyMoment(spans)).toISOString()
  const to = new Date(Date.parse(from) + LOOK_MS).toISOString()
  const playlist = getPlaylist(`${BASE}/archive/${CAMERA}/index.m3u8?from=${from}&to=${to}`, 'playlist')
  if (!playlist || playlist.segments.length === 0) return failed('playlist')
  if (playlist.map && !getMedia(playlist.map, 'init', playlist.mapRange)) return failed('init')
  opening.add(Date.now() - begunMs)
  for (let i = 0; i < SEEKS; i++) {
    const segment = playlist.segments[Math.floor(Math.random() * playlist.segments.length)]
    const jumpedMs = Date.now()
    if (!segment || !getMedia(segment.uri, 'segment', segment.range)) return failed('segment')
    seeking.add(Date.now() - jumpedMs)
    seeks.add(1)
    sleep(0.1 + Math.random() * 0.3)
  }
  visits.add(1)
}
