import { pad } from './timeText'

/** One cell of a calendar's month. */
export interface MonthDay {
  /** "2025-10-02". */
  date: string
  day: number
  /** 0 is Monday, as weeks begin here. */
  column: number
}

/** The days of a month, from 1. */
export function monthDays(year: number, month: number): MonthDay[] {
  const count = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return Array.from({ length: count }, (_, i) => ({
    date: `${year}-${pad(month)}-${pad(i + 1)}`,
    day: i + 1,
    column: (new Date(Date.UTC(year, month - 1, i + 1)).getUTCDay() + 6) % 7,
  }))
}

/** The month some months away. */
export function monthAway(year: number, month: number, by: number): { year: number; month: number } {
  const n = year * 12 + month - 1 + by
  return { year: Math.floor(n / 12), month: (n % 12) + 1 }
}
