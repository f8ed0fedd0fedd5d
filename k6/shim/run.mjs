// Runs a k6 script: node run.mjs SCRIPT [--env NAME=VALUE]…

import http from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { MessageChannel, Worker } from 'node:worker_threads'
import { holds, Metrics } from './thresholds.mjs'

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { env: { type: 'string', multiple: true, default: [] } } })
if (positionals.length !== 1) throw new Error('usage: node run.mjs SCRIPT [--env NAME=VALUE]…')
const script = path.resolve(positionals[0])
const env = Object.fromEntries(flags.env.map((pair) => pair.split(/=(.*)/s).slice(0, 2)))
const metrics = new Metrics()
let users = 0

/** Runs one virtual user to its end, and returns what its function did. */
function user(call, { data = null, untilMs = 0, scenario = '' } = {}) {
  const { port1, port2 } = new MessageChannel()
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const agents = { 'http:': new http.Agent({ keepAlive: true, maxSockets: 6 }), 'https:': new https.Agent({ keepAlive: true, maxSockets: 6 }) }
  port1.on('message', async (message) => {
    if (message.kind === 'sample') {
      metrics.add(message)
      return
    }
    port1.postMessage(await answer(message, agents))
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
  })
  const worker = new Worker(new URL('user.mjs', import.meta.url), {
    workerData: { script, env, call, data, untilMs, k6: { port: port2, flag, vu: ++users, scenario } },
    transferList: [port2],
  })
  return new Promise((resolve, reject) => {
    let result = null
    worker.once('message', (value) => { result = value })
    worker.once('error', reject)
    worker.once('exit', () => {
      // Its last samples are in the port, in front of this.
      setImmediate(() => {
        port1.close()
        for (const agent of Object.values(agents)) agent.destroy()
        resolve(result)
      })
    })
  })
}

/** Sends one request. It never rejects: what went wrong is in the answer. */
function answer({ method, url, body, headers, timeoutMs, keep }, agents) {
  return new Promise((resolve) => {
    const startedMs = performance.now()
    let waiting = 0
    const failed = (err) => resolve({ status: 0, headers: {}, error: String(err?.message ?? err), bytes: 0, body: new Uint8Array(), duration: performance.now() - startedMs, waiting })
    const target = new URL(url)
    const send = target.protocol === 'https:' ? https : http
    const req = send.request(target, { method, headers: { 'User-Agent': 'k6', ...headers }, agent: agents[target.protocol], timeout: timeoutMs }, (res) => {
      waiting = performance.now() - startedMs
      const pieces = []
      let bytes = 0
      res.on('data', (piece) => {
        bytes += piece.length
        if (keep) pieces.push(piece)
      })
      res.on('error', failed)
      res.on('end', () => {
        if (!res.complete) return failed('cut short')
        resolve({ status: res.statusCode, headers: canonical(res.headers), error: '', bytes, body: new Uint8Array(Buffer.concat(pieces)), duration: performance.now() - startedMs, waiting })
      })
    })
    req.on('timeout', () => req.destroy(new Error('request timeout')))
    req.on('error', failed)
    req.end(body ?? undefined)
  })
}

/** Header names as k6 has them. */
function canonical(headers) {
  const name = (text) => text.replace(/(^|-)([a-z])/g, (all) => all.toUpperCase())
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [name(key), Array.isArray(value) ? value.join(', ') : value]))
}

function milliseconds(time) {
  let sum = 0
  for (const [, n, unit] of String(time).matchAll(/([0-9.]+)(ms|s|m|h)/g)) sum += Number(n) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit]
  return sum
}

/** When each virtual user of a scenario starts, and when the scenario ends. */
function plan({ executor, vus, duration, stages, startVUs = 0 }) {
  switch (executor) {
    case 'constant-vus':
      return { startsMs: Array(vus).fill(0), endMs: milliseconds(duration) }
    case 'ramping-vus': {
      const startsMs = Array(startVUs).fill(0)
      let atMs = 0
      for (const stage of stages) {
        const stageMs = milliseconds(stage.duration)
        const more = stage.target - startsMs.length
        if (more < 0) throw new Error('the shim ramps up only')
        for (let i = 1; i <= more; i++) startsMs.push(atMs + (stageMs * i) / more)
        atMs += stageMs
      }
      return { startsMs, endMs: atMs }
    }
    default:
      throw new Error(`the shim has no executor ${executor}`)
  }
}

async function runScenario(name, scenario, data) {
  const { startsMs, endMs } = plan(scenario)
  const beganMs = Date.now()
  await Promise.all(startsMs.map(async (startMs) => {
    await new Promise((resolve) => setTimeout(resolve, startMs))
    await user(scenario.exec ?? 'default', { data, untilMs: beganMs + endMs, scenario: name })
  }))
}

const { options, hasSetup, hasTeardown } = await user('options')
const data = hasSetup ? await user('setup') : null
await Promise.all(Object.entries(options.scenarios ?? {}).map(([name, scenario]) => runScenario(name, scenario, data)))
if (hasTeardown) await user('teardown', { data })

const thresholds = {}
for (const [selector, expressions] of Object.entries(options.thresholds ?? {})) {
  for (const expression of expressions) thresholds[`${selector}: ${expression}`] = holds(expression, metrics.values(selector))
}
console.log(JSON.stringify({ metrics: metrics.summary(), thresholds }, null, 2))
if (metrics.values('shim_exceptions').length > 0) process.exitCode = 107
else if (Object.values(thresholds).includes(false)) process.exitCode = 99
