import type { LocalTime, Zone } from './zone'

// Times as the page writes them: by a clock of 24 hours, days before months, as
// the rest of the page is written in one language, too.

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const LONG_MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']

export function pad(n: number): string {
  return String(n).padStart(2, '0')
}

/** "14:03:27". */
export function clockText(at: number, zone: Zone): string {
  const { hour, minute, second } = zone.local(at)
  return `${pad(hour)}:${pad(minute)}:${pad(second)}`
}

/** "14:03". */
export function shortClockText(at: number, zone: Zone): string {
  return clockText(at, zone).slice(0, 5)
}

/** "Thu 2 Oct". */
export function dayText(at: number, zone: Zone): string {
  return dayOf(zone.local(at))
}

export function dayOf({ weekday, day, month }: LocalTime): string {
  return `${WEEKDAYS[weekday]} ${day} ${MONTHS[month - 1]}`
}

/** "Thu 2 Oct 2025". */
export function dateText(at: number, zone: Zone): string {
  const local = zone.local(at)
  return `${dayOf(local)} ${local.year}`
}

/** "October 2025". */
export function monthText(year: number, month: number): string {
  return `${LONG_MONTHS[month - 1]} ${year}`
}

/** "Thu 2 Oct 2025, 14:03:27". */
export function momentText(at: number, zone: Zone): string {
  return `${dateText(at, zone)}, ${clockText(at, zone)}`
}

/** "2025-10-02", by which days are told apart. */
export function dayKey(at: number, zone: Zone): string {
  const { year, month, day } = zone.local(at)
  return `${year}-${pad(month)}-${pad(day)}`
}

/** "UTC+2", "UTC−3:30", "UTC". */
export function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return 'UTC'
  const minutes = Math.abs(Math.round(offsetMs / 60_000))
  const rest = minutes % 60
  return `UTC${offsetMs < 0 ? '−' : '+'}${Math.floor(minutes / 60)}${rest > 0 ? `:${pad(rest)}` : ''}`
}

/** "Europe/Berlin, UTC+2": the zone, and how far it is from UTC at that moment. */
export function zoneText(zone: Zone, at: number): string {
  return zone.name === 'UTC' ? 'UTC' : `${zone.name.replaceAll('_', ' ')}, ${offsetText(zone.offset(at))}`
}

/** "Berlin, UTC+2": the same where there is little room. */
export function shortZoneText(zone: Zone, at: number): string {
  return zoneText(zone, at).replace(/^(?:[^,]*\/)+/, '')
}

/** "8.4 s", "2 min 5 s", "3 h 20 min", "4 days 6 h": to two places of what matters. */
export function lengthText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return two(Math.floor(whole / 60), 'min', whole % 60, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1440) return two(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(seconds / 3600)
  const days = Math.floor(hours / 24)
  return two(days, days === 1 ? 'day' : 'days', hours % 24, 'h')
}

function two(n: number, unit: string, rest: number, small: string): string {
  return rest === 0 ? `${n} ${unit}` : `${n} ${unit} ${rest} ${small}`
}

/** What a field of the type datetime-local holds. */
export function fieldText(at: number, zone: Zone): string {
  const { year, month, day } = zone.local(at)
  return `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}T${clockText(at, zone)}`
}

/** The moment in such a field, or null. */
export function parseField(text: string, zone: Zone): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?$/.exec(text)
  if (!match) return null
  const [, year, month, day, hour, minute, second = '0', ms = '0'] = match
  return zone.instant(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second)) + Number(ms.padEnd(3, '0'))
}
