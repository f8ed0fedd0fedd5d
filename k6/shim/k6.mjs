import { sample } from './state.mjs'

const never = new Int32Array(new SharedArrayBuffer(4))

export function sleep(seconds) {
  if (seconds > 0) Atomics.wait(never, 0, 0, seconds * 1000)
}

/** Holds a value against conditions by name; a condition that throws does not hold. */
export function check(value, conditions, tags = {}) {
  let all = true
  for (const [name, condition] of Object.entries(conditions)) {
    let holds = false
    try {
      holds = Boolean(typeof condition === 'function' ? condition(value) : condition)
    } catch {
      holds = false
    }
    sample('checks', 'rate', holds ? 1 : 0, { ...tags, check: name })
    all &&= holds
  }
  return all
}

export function fail(message) {
  throw new Error(message)
}

export function group(_name, run) {
  return run()
}

export default { sleep, check, fail, group }
