import { clockText, dayOf, MONTHS, offsetText, pad, shortClockText } from './timeText'
import { DAY, HOUR, MINUTE, SECOND, spanOf, type View } from './timeView'
import type { Zone } from './zone'

/** A line across the bar of time. */
export interface Tick {
  at: number
  /** "" for the small ones between. */
  label: string
  /** It begins a day, or a year where days are too small to be seen. */
  strong: boolean
}

interface Step {
  ms: number
  /** The small ones between; a divisor of it. */
  minorMs: number
}

// Within a day. Each divides a day, so that ticks are where a clock would have them.
const STEPS: readonly Step[] = [
  { ms: SECOND, minorMs: SECOND / 5 },
  { ms: 2 * SECOND, minorMs: SECOND },
  { ms: 5 * SECOND, minorMs: SECOND },
  { ms: 10 * SECOND, minorMs: 2 * SECOND },
  { ms: 15 * SECOND, minorMs: 5 * SECOND },
  { ms: 30 * SECOND, minorMs: 10 * SECOND },
  { ms: MINUTE, minorMs: 15 * SECOND },
  { ms: 2 * MINUTE, minorMs: 30 * SECOND },
  { ms: 5 * MINUTE, minorMs: MINUTE },
  { ms: 10 * MINUTE, minorMs: 2 * MINUTE },
  { ms: 15 * MINUTE, minorMs: 5 * MINUTE },
  { ms: 30 * MINUTE, minorMs: 10 * MINUTE },
  { ms: HOUR, minorMs: 15 * MINUTE },
  { ms: 2 * HOUR, minorMs: 30 * MINUTE },
  { ms: 3 * HOUR, minorMs: HOUR },
  { ms: 6 * HOUR, minorMs: HOUR },
  { ms: 12 * HOUR, minorMs: 3 * HOUR },
]

const DAY_STEPS = [1, 2, 7] as const
const MONTH_STEPS = [1, 3, 6, 12] as const

/** What a label needs, with air around it. */
const LABEL_PX = 76

/** The lines of a view, in their order, none closer together than their labels need. */
export function ticks(view: View, width: number, zone: Zone): Tick[] {
  const leastMs = (spanOf(view) / width) * LABEL_PX
  const step = STEPS.find(({ ms }) => ms >= leastMs)
  if (step) return thinned(ticksInDays(view, step, zone), leastMs)
  const days = DAY_STEPS.find((n) => n * DAY >= leastMs)
  if (days) return ticksOfDays(view, days, zone)
  const months = MONTH_STEPS.find((n) => n * 30 * DAY >= leastMs)
  if (months) return ticksOfMonths(view, months, zone)
  return ticksOfMonths(view, 12 * Math.ceil(leastMs / (360 * DAY)), zone)
}

/**
 * By the clock of each day. A day of 25 hours shows one of them twice, told apart
 * by its distance to UTC; one of 23 leaves one out.
 */
function ticksInDays(view: View, { ms, minorMs }: Step, zone: Zone): Tick[] {
  const found: Tick[] = []
  for (let day = zone.startOfDay(view.from); day < view.to; day = zone.startOfDay(day, 1)) {
    const end = Math.min(zone.startOfDay(day, 1), view.to)
    // From the midnight before what is seen, in whole steps: seconds of a whole day are many.
    const first = Math.max(day, day + Math.floor((view.from - day) / minorMs) * minorMs)
    for (let at = first; at < end; at += minorMs) {
      if (at < view.from) continue
      const sinceMidnight = mod(at + zone.offset(at), DAY)
      // Where clocks were put by less than a step, the steps of before are no round times any more.
      if (sinceMidnight % minorMs !== 0) at += minorMs - (sinceMidnight % minorMs)
      if (at >= end) break
      const shown = mod(at + zone.offset(at), DAY)
      found.push({ at, label: shown % ms === 0 ? labelInDay(at, ms, zone) : '', strong: at === day })
    }
  }
  return found
}

/** Where clocks were put back, labels may be nearer than their step: then the first of two stays. */
function thinned(found: Tick[], leastMs: number): Tick[] {
  let last = -Infinity
  return found.map((tick) => {
    if (tick.label === '') return tick
    if (tick.at - last < leastMs * 0.9 && !tick.strong) return { ...tick, label: '' }
    last = tick.at
    return tick
  })
}

function labelInDay(at: number, stepMs: number, zone: Zone): string {
  const local = zone.local(at)
  if (at === zone.startOfDay(at)) return dayOf(local)
  const clock = stepMs < MINUTE ? clockText(at, zone) : shortClockText(at, zone)
  return isTwice(at, zone) ? `${clock} ${offsetText(zone.offset(at)).replace('UTC', '') || '+0'}` : clock
}

/** Clocks show this time twice: they were or will be put back within hours. */
export function isTwice(at: number, zone: Zone): boolean {
  const shown = at + zone.offset(at)
  return [at - 3 * HOUR, at + 3 * HOUR].some((near) => {
    const other = shown - zone.offset(near)
    return other !== at && other + zone.offset(other) === shown
  })
}

function ticksOfDays(view: View, days: 1 | 2 | 7, zone: Zone): Tick[] {
  const found: Tick[] = []
  for (let at = zone.startOfDay(view.from); at < view.to; at = zone.startOfDay(at, 1)) {
    if (at < view.from) continue
    const local = zone.local(at)
    const number = Math.floor((at + zone.offset(at)) / DAY)
    // Day 4 of Unix time was a Monday.
    const labelled = days === 7 ? (number - 4) % 7 === 0 : number % days === 0
    found.push({ at, label: labelled ? (days === 7 ? `${local.day} ${MONTHS[local.month - 1]}` : dayOf(local)) : '', strong: local.day === 1 })
  }
  return found
}

function ticksOfMonths(view: View, months: number, zone: Zone): Tick[] {
  const found: Tick[] = []
  const { year, month } = zone.local(view.from)
  const count = year * 12 + month - 1
  const minor = months <= 12 ? 1 : 12
  for (let n = count - (count % minor); ; n += minor) {
    const at = zone.instant(Math.floor(n / 12), (n % 12) + 1, 1)
    if (at >= view.to) return found
    if (at < view.from) continue
    const isYear = n % 12 === 0
    const name = isYear || months >= 12 ? String(Math.floor(n / 12)) : (MONTHS[n % 12] ?? '')
    found.push({ at, label: n % months === 0 ? name : '', strong: isYear })
  }
}

/** What the left edge of the bar says: the day, or the month, that it is in. */
export function edgeLabel(view: View, zone: Zone): string {
  const local = zone.local(view.from)
  if (spanOf(view) < 3 * DAY) return `${dayOf(local)} ${local.year}`
  return spanOf(view) < 100 * DAY ? `${MONTHS[local.month - 1]} ${local.year}` : String(local.year)
}

/** "clocks go back 1 h", said where it happens. */
export function transitionText(beforeMs: number, afterMs: number): string {
  const minutes = Math.abs(afterMs - beforeMs) / MINUTE
  const by = minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)}:${pad(minutes % 60)} h`
  return `clocks ${afterMs < beforeMs ? 'back' : 'forward'} ${by}`
}

function mod(n: number, by: number): number {
  return ((n % by) + by) % by
}
