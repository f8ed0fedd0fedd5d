import { expect, test } from 'vitest'
import { ticks, edgeLabel, isTwice, transitionText } from '../../src/logic/ticks'
import { dateText, dayKey, fieldText, lengthText, momentText, offsetText, parseField, shortZoneText, zoneText } from '../../src/logic/timeText'
import { DAY, HOUR, MINUTE, SECOND, xOf } from '../../src/logic/timeView'
import { Zone } from '../../src/logic/zone'

const berlin = new Zone('Europe/Berlin')
const utc = new Zone('UTC')
// Clocks went forward at 01:00 UTC on 30 March 2025 and back at 01:00 UTC on 26 October.
const spring = Date.UTC(2025, 2, 30, 1)
const autumn = Date.UTC(2025, 9, 26, 1)

test('days have 23, 24 or 25 hours', () => {
  const length = (zone: Zone, at: number): number => (zone.startOfDay(at, 1) - zone.startOfDay(at)) / HOUR
  expect(length(berlin, spring)).toBe(23)
  expect(length(berlin, spring + DAY)).toBe(24)
  expect(length(berlin, autumn)).toBe(25)
  expect(length(utc, autumn)).toBe(24)
  expect(length(new Zone('Australia/Lord_Howe'), Date.UTC(2025, 3, 5, 18))).toBe(24.5)
})

test('each moment of a year comes back from what clocks show, but for the hour that they show twice', () => {
  for (const zone of [berlin, utc, new Zone('Asia/Kathmandu'), new Zone('America/New_York'), new Zone('Africa/Cairo')]) {
    for (let at = Date.UTC(2025, 0, 1); at < Date.UTC(2026, 0, 1); at += 5 * HOUR + 7 * MINUTE) {
      const { year, month, day, hour, minute, second } = zone.local(at)
      const back = zone.instant(year, month, day, hour, minute, second)
      if (isTwice(at, zone)) expect(Math.abs(back - at)).toBeLessThanOrEqual(HOUR)
      else expect(back).toBe(at)
    }
  }
})

test('a time that clocks skip is behind the change, and one that they show twice is its first', () => {
  expect(berlin.instant(2025, 3, 30, 2, 30)).toBe(spring + 30 * MINUTE)
  expect(berlin.instant(2025, 10, 26, 2, 30)).toBe(autumn - 30 * MINUTE)
})

test('changes of the clocks are found to the minute', () => {
  expect(berlin.transitions(Date.UTC(2025, 0, 1), Date.UTC(2026, 0, 1))).toEqual([
    { at: spring, before: HOUR, after: 2 * HOUR },
    { at: autumn, before: 2 * HOUR, after: HOUR },
  ])
  expect(utc.transitions(0, 400 * DAY)).toEqual([])
  expect(transitionText(2 * HOUR, HOUR)).toBe('clocks back 1 h')
  expect(transitionText(10.5 * HOUR, 11 * HOUR)).toBe('clocks forward 0:30 h')
})

test('a day of 25 hours shows one of them twice, told apart by its distance to UTC', () => {
  const view = { from: berlin.startOfDay(autumn), to: berlin.startOfDay(autumn, 1) }
  const labels = ticks(view, 2400, berlin).filter(({ label }) => label !== '').map(({ label }) => label)
  expect(labels).toHaveLength(25)
  expect(labels.slice(0, 5)).toEqual(['Sun 26 Oct', '01:00', '02:00 +2', '02:00 +1', '03:00'])
})

test('a day of 23 hours leaves one out, and its hours are as wide as all others', () => {
  const view = { from: berlin.startOfDay(spring), to: berlin.startOfDay(spring, 1) }
  const labelled = ticks(view, 2300, berlin).filter(({ label }) => label !== '')
  expect(labelled.map(({ label }) => label).slice(0, 4)).toEqual(['Sun 30 Mar', '01:00', '03:00', '04:00'])
  const x = labelled.map(({ at }) => xOf(view, 2300, at))
  expect(x.slice(0, 4)).toEqual([0, 100, 200, 300])
})

test('where a repeated hour would stand on another label, the first of the two stays', () => {
  const view = { from: berlin.startOfDay(autumn), to: berlin.startOfDay(autumn, 1) }
  const labels = ticks(view, 1100, berlin).flatMap(({ label }) => (label === '' ? [] : [label]))
  expect(labels.slice(0, 4)).toEqual(['Sun 26 Oct', '02:00 +2', '04:00', '06:00'])
})

test('labels stand on round times by the zone’s clock, from seconds to years', () => {
  const at = Date.UTC(2025, 9, 2, 12, 0, 0)
  const labels = (span: number, zone = utc): string[] => ticks({ from: at, to: at + span }, 800, zone).flatMap(({ label }) => (label === '' ? [] : [label]))
  expect(labels(10 * SECOND).slice(0, 3)).toEqual(['12:00:00', '12:00:01', '12:00:02'])
  expect(labels(3 * MINUTE)[1]).toBe('12:00:30')
  expect(labels(HOUR)[1]).toBe('12:10')
  expect(labels(DAY)).toEqual(['12:00', '15:00', '18:00', '21:00', 'Fri 3 Oct', '03:00', '06:00', '09:00'])
  expect(labels(HOUR, new Zone('Asia/Kathmandu'))[0]).toBe('17:50') // UTC+5:45
  expect(labels(10 * DAY)[0]).toMatch(/^\w{3} \d+ Oct$/)
  expect(labels(60 * DAY)[0]).toBe('6 Oct') // a Monday
  expect(labels(365 * DAY)).toEqual(['2026', 'Apr', 'Jul', 'Oct'])
  expect(labels(10 * 365 * DAY)).toContain('2030')
})

test('labels never stand closer together than they are wide', () => {
  for (const zone of [berlin, utc, new Zone('America/New_York')]) {
    for (let span = 10 * SECOND; span < 3000 * DAY; span *= 1.7) {
      for (const from of [autumn - span / 2, spring - span / 3]) {
        const view = { from, to: from + span }
        const found = ticks(view, 500, zone)
        expect(found.length).toBeLessThan(500)
        const x = found.filter(({ label }) => label !== '').map(({ at }) => xOf(view, 500, at))
        for (let i = 1; i < x.length; i++) expect((x[i] ?? 0) - (x[i - 1] ?? 0)).toBeGreaterThan(60)
        for (const tick of found) expect(tick.at >= view.from && tick.at < view.to).toBe(true)
      }
    }
  }
})

test('times are written with their zone', () => {
  expect(momentText(autumn, berlin)).toBe('Sun 26 Oct 2025, 02:00:00')
  expect(zoneText(berlin, autumn)).toBe('Europe/Berlin, UTC+1')
  expect(zoneText(new Zone('America/New_York'), autumn)).toBe('America/New York, UTC−4')
  expect(zoneText(utc, autumn)).toBe('UTC')
  expect([berlin, utc, new Zone('America/Argentina/Buenos_Aires')].map((zone) => shortZoneText(zone, autumn))).toEqual(['Berlin, UTC+1', 'UTC', 'Buenos Aires, UTC−3'])
  expect(offsetText(-3.5 * HOUR)).toBe('UTC−3:30')
  expect(dateText(Date.UTC(2025, 11, 31, 23, 30), berlin)).toBe('Thu 1 Jan 2026')
  expect(dayKey(Date.UTC(2025, 11, 31, 23, 30), berlin)).toBe('2026-01-01')
  expect(edgeLabel({ from: autumn, to: autumn + HOUR }, berlin)).toBe('Sun 26 Oct 2025')
})

test('lengths are told to what matters of them', () => {
  const cases: [number, string][] = [[0, '0 s'], [8_440, '8.4 s'], [59_700, '1 min'], [125_000, '2 min 5 s'], [2 * HOUR, '2 h'], [3 * HOUR + 20 * MINUTE, '3 h 20 min'], [DAY + 6 * HOUR, '1 day 6 h'], [-5, '0 s']]
  for (const [ms, text] of cases) expect(lengthText(ms)).toBe(text)
})

test('a field for a time holds it to the second', () => {
  const at = Date.UTC(2025, 9, 2, 12, 3, 27)
  expect(fieldText(at, berlin)).toBe('2025-10-02T14:03:27')
  expect(parseField('2025-10-02T14:03:27', berlin)).toBe(at)
  expect(parseField('2025-10-02T14:03', berlin)).toBe(at - 27_000)
  expect(parseField('2025-10-02T14:03:27.5', berlin)).toBe(at + 500)
  for (const odd of ['', 'x', '2025-10-02', '14:03']) expect(parseField(odd, berlin)).toBeNull()
})
