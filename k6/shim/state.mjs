// What a virtual user shares with the thread that runs it.

import { receiveMessageOnPort, workerData } from 'node:worker_threads'

/** @type {{ port: import('node:worker_threads').MessagePort, flag: Int32Array, vu: number, scenario: string } | undefined} */
const shared = workerData?.k6

export const vu = { id: shared?.vu ?? 0, iteration: 0, scenario: shared?.scenario ?? '' }

/** Reports a sample of a metric; there is no answer. */
export function sample(name, type, value, tags = {}, isTime = false) {
  shared?.port.postMessage({ kind: 'sample', name, type, value, tags, isTime })
}

/** Has the main thread send a request, and blocks until there is its answer. */
export function request(message) {
  if (!shared) throw new Error('k6/http: requests are for virtual users, not for the init context')
  const { port, flag } = shared
  Atomics.store(flag, 0, 0)
  port.postMessage({ kind: 'request', ...message })
  // Again, if it was the last answer's notify, which came late, that ended the wait.
  while (Atomics.load(flag, 0) === 0) Atomics.wait(flag, 0, 0)
  const answer = receiveMessageOnPort(port)
  if (!answer) throw new Error('k6/http: there is no answer')
  return answer.message
}
