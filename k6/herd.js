// A thousand viewers who take what they can: the playlist, the newest segment, and
// again, as fast as it is served. It asks what the server is able to, and is no
// picture of viewers: viewers.js is.
//
//   k6 run -e BASE=http://127.0.0.1:8090 -e CAMERA=door herd.js
//
// VIEWERS=1000, DURATION=70s; PREFIX=/s/TOKEN for a share link.

import { check, sleep } from 'k6'
import { Counter } from 'k6/metrics'
import { playlistURL, whole } from './lib/env.js'
import { getMedia, getPlaylist } from './lib/get.js'

const segments = new Counter('herd_segments')

export const options = {
  scenarios: {
    herd: { executor: 'constant-vus', vus: whole('VIEWERS', 1000), duration: __ENV.DURATION ?? '70s', gracefulStop: '10s' },
  },
  thresholds: {
    http_req_failed: ['rate==0'],
    checks: ['rate==1'],
    herd_segments: ['count>0'],
    'http_req_duration{kind:playlist}': ['p(95)<500'],
    'http_req_duration{kind:segment}': ['p(95)<2000'],
  },
}

/** The media playlist, found once by each viewer. */
let mediaURL = ''

export default function () {
  if (mediaURL === '') {
    const multivariant = getPlaylist(playlistURL('index.m3u8'), 'multivariant')
    if (!check(multivariant, { 'the multivariant playlist names a source': (p) => (p?.variants.length ?? 0) > 0 })) return sleep(1)
    mediaURL = multivariant?.variants[0] ?? ''
  }
  const playlist = getPlaylist(mediaURL, 'playlist')
  const newest = playlist?.segments.at(-1)
  if (!check(newest, { 'the playlist lists segments': (s) => s !== undefined }) || !newest) return sleep(1)
  if (check(getMedia(newest.uri, 'segment'), { 'the newest segment is served': (came) => came })) segments.add(1)
}
