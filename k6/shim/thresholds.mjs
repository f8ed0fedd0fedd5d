// Samples, and the thresholds that are held against them.

export class Metrics {
  /** @type {Map<string, { type: string, values: { value: number, tags: Record<string, string> }[] }>} */
  #all = new Map()

  add({ name, type, value, tags }) {
    let metric = this.#all.get(name)
    if (!metric) this.#all.set(name, (metric = { type, values: [] }))
    metric.values.push({ value, tags })
  }

  /** The values of a metric, or of the part of it that has tags: "name{tag:value}". */
  values(selector) {
    const match = /^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})?$/.exec(selector)
    if (!match) throw new Error(`threshold of what: ${selector}`)
    const wanted = (match[2] ?? '').split(',').filter(Boolean).map((pair) => pair.split(/:(.*)/).map((text) => text.trim().replace(/^"|"$/g, '')))
    const found = this.#all.get(match[1])?.values ?? []
    return found.filter(({ tags }) => wanted.every(([tag, value]) => tags[tag] === value)).map(({ value }) => value)
  }

  summary() {
    const shown = {}
    for (const [name, { type, values }] of [...this.#all].sort()) {
      const numbers = values.map(({ value }) => value)
      if (type === 'trend') shown[name] = { count: numbers.length, avg: aggregate('avg', numbers), 'p(95)': aggregate('p(95)', numbers), max: aggregate('max', numbers) }
      else if (type === 'rate') shown[name] = { count: numbers.length, rate: aggregate('rate', numbers) }
      else shown[name] = { count: aggregate('count', numbers) }
    }
    return shown
  }
}

/** One number made of many, by the names that k6 has for them. */
export function aggregate(method, values) {
  const sorted = [...values].sort((a, b) => a - b)
  const sum = values.reduce((a, b) => a + b, 0)
  const percentile = /^p\(([0-9.]+)\)$/.exec(method)
  if (percentile) {
    const rank = (Number(percentile[1]) / 100) * (sorted.length - 1)
    const below = sorted[Math.floor(rank)] ?? 0
    return below + ((sorted[Math.ceil(rank)] ?? 0) - below) * (rank % 1)
  }
  switch (method) {
    case 'count': return sum
    case 'rate': case 'avg': return values.length ? sum / values.length : 0
    case 'min': return sorted[0] ?? 0
    case 'max': return sorted.at(-1) ?? 0
    case 'med': return aggregate('p(50)', values)
    default: throw new Error(`threshold by what: ${method}`)
  }
}

/** Whether an expression such as "p(95)<500" holds. */
export function holds(expression, values) {
  const match = /^\s*([a-z]+(?:\([0-9.]+\))?)\s*(<=|>=|<|>|===?|!=)\s*([0-9.]+)\s*$/.exec(expression)
  if (!match) throw new Error(`not a threshold: ${expression}`)
  const found = aggregate(match[1], values)
  const wanted = Number(match[3])
  switch (match[2]) {
    case '<': return found < wanted
    case '<=': return found <= wanted
    case '>': return found > wanted
    case '>=': return found >= wanted
    case '!=': return found !== wanted
    default: return found === wanted
  }
}
