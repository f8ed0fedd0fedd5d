import { request as send, sample } from './state.mjs'

class Response {
  constructor(answer, url, responseType) {
    this.url = url
    this.status = answer.status
    this.headers = answer.headers
    this.error = answer.error
    this.error_code = answer.error ? 1000 : 0
    this.timings = { duration: answer.duration, waiting: answer.waiting, receiving: answer.duration - answer.waiting }
    this.body = null
    if (!answer.error && responseType !== 'none') this.body = responseType === 'binary' ? answer.body.buffer : new TextDecoder().decode(answer.body)
  }

  /** The body as JSON, or what a path of dots leads to in it. */
  json(selector) {
    let value = JSON.parse(this.body)
    for (const key of selector ? selector.split('.') : []) value = value?.[key]
    return value
  }
}

function run(method, url, body = null, params = {}) {
  const responseType = params.responseType ?? 'text'
  const answer = send({ method, url: String(url), body, headers: params.headers ?? {}, timeoutMs: milliseconds(params.timeout ?? '60s'), keep: responseType !== 'none' })
  const failed = answer.error !== '' || answer.status < 200 || answer.status > 399
  const tags = { method, status: String(answer.status), name: String(url), ...params.tags }
  sample('http_reqs', 'counter', 1, tags)
  sample('http_req_failed', 'rate', failed ? 1 : 0, tags)
  sample('http_req_duration', 'trend', answer.duration, tags, true)
  sample('data_received', 'counter', answer.bytes, tags)
  return new Response(answer, String(url), responseType)
}

function milliseconds(time) {
  if (typeof time === 'number') return time
  const match = /^([0-9.]+)(ms|s|m)$/.exec(time)
  if (!match) throw new Error(`k6/http: not a time: ${time}`)
  return Number(match[1]) * { ms: 1, s: 1000, m: 60_000 }[match[2]]
}

export const request = (method, url, body, params) => run(method, url, body, params)
export const get = (url, params) => run('GET', url, null, params)
export const head = (url, params) => run('HEAD', url, null, params)
export const post = (url, body, params) => run('POST', url, body, params)
export const patch = (url, body, params) => run('PATCH', url, body, params)
export const del = (url, body, params) => run('DELETE', url, body, params)

export default { request, get, head, post, patch, del }
