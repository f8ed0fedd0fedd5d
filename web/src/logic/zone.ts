/** A moment as the clocks of a zone show it. */
export interface LocalTime {
  year: number
  /** From 1. */
  month: number
  day: number
  hour: number
  minute: number
  second: number
  ms: number
  /** 0 is Sunday. */
  weekday: number
}

/** A moment at which a zone's clocks are put forward or back. */
export interface Transition {
  at: number
  /** Milliseconds ahead of UTC, before and after. */
  before: number
  after: number
}

// Clocks have changed at quarters of an hour only, for as long as there were cameras.
const QUARTER = 15 * 60_000
const HOUR = 60 * 60_000
const DAY = 24 * HOUR
const REMEMBERED = 4096

/**
 * The clocks of one time zone: from moments to what they show and back. Days have
 * 23, 24 or 25 hours here, or whatever the zone's law says.
 */
export class Zone {
  private readonly format: Intl.DateTimeFormat
  private readonly offsets = new Map<number, number>()

  /** Takes an IANA name, "Europe/Berlin" or "UTC"; throws a RangeError for one that the browser does not know. */
  constructor(readonly name: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** How far the zone's clocks are ahead of UTC. */
  offset(at: number): number {
    const quarter = Math.floor(at / QUARTER) * QUARTER
    let offset = this.offsets.get(quarter)
    if (offset === undefined) {
      offset = this.askOffset(quarter)
      if (this.offsets.size >= REMEMBERED) this.offsets.clear()
      this.offsets.set(quarter, offset)
    }
    return offset
  }

  local(at: number): LocalTime {
    const shown = new Date(at + this.offset(at))
    return {
      year: shown.getUTCFullYear(),
      month: shown.getUTCMonth() + 1,
      day: shown.getUTCDate(),
      hour: shown.getUTCHours(),
      minute: shown.getUTCMinutes(),
      second: shown.getUTCSeconds(),
      ms: shown.getUTCMilliseconds(),
      weekday: shown.getUTCDay(),
    }
  }

  /**
   * The moment at which clocks show a time; the first of two where they were put
   * back. A time that was skipped is the moment that far behind the change.
   * Months and days may overflow: day 32 is in the next month.
   */
  instant(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
    const shown = Date.UTC(year, month - 1, day, hour, minute, second)
    const before = this.offset(shown - DAY)
    const after = this.offset(shown + DAY)
    const candidates = [shown - before, shown - after].filter((at) => at + this.offset(at) === shown)
    return candidates.length > 0 ? Math.min(...candidates) : shown - before
  }

  /** Midnight of the day that a moment is in, or of one some days later. */
  startOfDay(at: number, days = 0): number {
    const { year, month, day } = this.local(at)
    return this.instant(year, month, day + days)
  }

  /** Where clocks change between two moments. */
  transitions(from: number, to: number): Transition[] {
    const found: Transition[] = []
    for (let day = from; day < to; day += DAY) {
      const end = Math.min(day + DAY, to)
      const before = this.offset(day)
      const after = this.offset(end)
      if (before !== after) found.push({ at: this.changeBetween(day, end), before, after })
    }
    return found
  }

  private changeBetween(from: number, to: number): number {
    const before = this.offset(from)
    let low = Math.floor(from / QUARTER)
    let high = Math.ceil(to / QUARTER)
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.offset(middle * QUARTER) === before) low = middle
      else high = middle
    }
    return high * QUARTER
  }

  private askOffset(at: number): number {
    const part: Record<string, number> = {}
    for (const { type, value } of this.format.formatToParts(at)) part[type] = Number(value)
    const shown = Date.UTC(part.year ?? 1970, (part.month ?? 1) - 1, part.day ?? 1, part.hour ?? 0, part.minute ?? 0, part.second ?? 0)
    return shown - Math.floor(at / 1000) * 1000
  }
}

/** The zone of whoever looks, or UTC where a browser does not tell one that it knows. */
export function viewersZone(): Zone {
  try {
    return new Zone(new Intl.DateTimeFormat().resolvedOptions().timeZone)
  } catch {
    return new Zone('UTC')
  }
}
