// The REST API under mixed use: pages that poll it, scripts that add, change and
// remove cameras and links, and Prometheus.
//
//   k6 run -e BASE=http://127.0.0.1:8090 api.js
//
// READERS=20, WRITERS=2, DURATION=30s. The cameras it adds are switched off, have
// names that begin with k6-, and are removed again.

import { check, sleep } from 'k6'
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter } from 'k6/metrics'
import { BASE, whole } from './lib/env.js'

const rounds = new Counter('api_rounds')

export const options = {
  scenarios: {
    readers: { executor: 'constant-vus', exec: 'reader', vus: whole('READERS', 20), duration: __ENV.DURATION ?? '30s' },
    writers: { executor: 'constant-vus', exec: 'writer', vus: whole('WRITERS', 2), duration: __ENV.DURATION ?? '30s' },
  },
  thresholds: {
    http_req_failed: ['rate==0'],
    checks: ['rate==1'],
    api_rounds: ['count>0'],
    'http_req_duration{kind:read}': ['p(95)<300'],
    'http_req_duration{kind:write}': ['p(95)<1000'],
  },
}

const API = `${BASE}/api/v1`
const JSON_BODY = { 'Content-Type': 'application/json' }

/**
 * @param {string} url
 * @param {string} name
 */
function read(url, name) {
  return http.get(url, { tags: { kind: 'read', name } })
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object | null} body
 * @param {string} name
 */
function write(method, path, body, name) {
  const text = body === null ? null : JSON.stringify(body)
  return http.request(method, API + path, text, { headers: body === null ? {} : JSON_BODY, tags: { kind: 'write', name } })
}

export function reader() {
  const cameras = read(`${API}/cameras`, 'list')
  check(cameras, {
    'cameras are listed': (r) => r.status === 200 && Array.isArray(r.json('cameras')),
    'nothing of the API is cached': (r) => (r.headers['Cache-Control'] ?? '').includes('no-store'),
  })
  check(read(`${API}/events?limit=50`, 'events'), { 'events are listed': (r) => r.status === 200 })
  check(read(`${BASE}/healthz`, 'health'), { 'the server is alive': (r) => r.json('status') === 'ok' })
  check(read(`${BASE}/readyz`, 'ready'), { 'the server is fit to serve': (r) => r.json('ready') === true })
  check(read(`${BASE}/metrics`, 'metrics'), {
    'there are metrics': (r) => typeof r.body === 'string' && r.body.includes('drover_cameras{'),
  })
  rounds.add(1)
  sleep(0.2)
}

export function writer() {
  const id = `k6-${exec.vu.idInTest}-${exec.vu.iterationInInstance}`
  const camera = { id, url: 'rtsp://192.0.2.1/none', enabled: false }
  if (!check(write('POST', '/cameras', camera, 'add'), { 'a camera is added': (r) => r.status === 201 })) return
  check(read(`${API}/cameras/${id}`, 'get'), {
    'it is there, without a password': (r) => r.json('id') === id && r.json('status.state') === 'disabled',
  })
  check(write('PATCH', `/cameras/${id}`, { name: 'by k6' }, 'change'), {
    'it is changed': (r) => r.status === 200 && r.json('name') === 'by k6',
  })
  const link = write('POST', '/shares', { camera: id, expires_in: '5m' }, 'share')
  check(link, { 'a link is made': (r) => r.status === 201 && String(r.json('watch')).startsWith('/s/') })
  check(write('DELETE', `/shares/${link.json('id')}`, null, 'revoke'), { 'it is taken back': (r) => r.status === 204 })
  check(write('DELETE', `/cameras/${id}`, null, 'remove'), { 'the camera is removed': (r) => r.status === 204 })
  rounds.add(1)
  sleep(0.5)
}

/** Removes what a run that was broken off has left. */
export function teardown() {
  const listed = read(`${API}/cameras`, 'list').json('cameras')
  if (!Array.isArray(listed)) return
  for (const camera of listed) {
    const id = /** @type {{ id: string }} */ (camera).id
    if (id.startsWith('k6-')) write('DELETE', `/cameras/${id}`, null, 'remove')
  }
}
