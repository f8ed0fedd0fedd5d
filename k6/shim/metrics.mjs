import { sample } from './state.mjs'

class Metric {
  constructor(type, name, isTime = false) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/.test(name)) throw new Error(`k6/metrics: not a name: ${name}`)
    this.type = type
    this.name = name
    this.isTime = isTime
  }

  add(value, tags = {}) {
    sample(this.name, this.type, Number(value), tags, this.isTime)
  }
}

export class Counter extends Metric {
  constructor(name, isTime) { super('counter', name, isTime) }
}

export class Gauge extends Metric {
  constructor(name, isTime) { super('gauge', name, isTime) }
}

export class Rate extends Metric {
  constructor(name, isTime) { super('rate', name, isTime) }
}

export class Trend extends Metric {
  constructor(name, isTime) { super('trend', name, isTime) }
}

export default { Counter, Gauge, Rate, Trend }
