// One virtual user: a thread that runs a script's function again and again.

import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { sample, vu } from './state.mjs'

const { script, env, call, data, untilMs, k6 } = workerData
globalThis.__ENV = env
globalThis.__VU = k6.vu
globalThis.__ITER = 0

const module = await import(pathToFileURL(script).href)
let result
if (call === 'options') {
  result = { options: module.options ?? {}, hasSetup: 'setup' in module, hasTeardown: 'teardown' in module }
} else if (call === 'setup' || call === 'teardown') {
  result = await module[call](data)
} else {
  const run = module[call]
  if (typeof run !== 'function') throw new Error(`the script exports no function ${call}`)
  while (Date.now() < untilMs) {
    globalThis.__ITER = vu.iteration
    try {
      await run(data)
      sample('iterations', 'counter', 1)
    } catch (err) {
      // As in k6: the iteration is over, and the next begins.
      console.error(err)
      sample('shim_exceptions', 'counter', 1)
    }
    vu.iteration++
  }
}
parentPort.postMessage(result ?? null)
