import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PlaybackReporter, reportPath } from '../../src/player/report'

let sent: string[][]
let listeners: Map<string, () => void>
let page: { hidden: boolean }

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000 })
  sent = []
  listeners = new Map()
  const add = (name: string, call: () => void) => listeners.set(name, call)
  const remove = (name: string) => listeners.delete(name)
  page = Object.assign({ hidden: false }, { addEventListener: add, removeEventListener: remove })
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', add)
  vi.stubGlobal('removeEventListener', remove)
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function newReporter(): PlaybackReporter {
  return new PlaybackReporter({
    url: '/hls/door/cmcd',
    cameraId: 'door',
    measure: () => ({ latencyMs: 2345.6, bitrateBps: 3_000_400 }),
    send: (url, batch) => {
      expect(url).toBe('/hls/door/cmcd')
      sent.push(batch.trimEnd().split('\n'))
    },
  })
}

/** The values of a key in all reports, in order. */
const values = (key: string): (string | undefined)[] => sent.flat().map((line) => new RegExp(`(?:^|,)${key}=([^,]*)`).exec(line)?.[1])

test('a report says what CMCD has names for', () => {
  newReporter().setState('s')
  vi.advanceTimersByTime(5_000)
  const session = values('sid')[0]
  expect(session).toMatch(/^"[0-9a-f]{32}"$/)
  expect(sent).toEqual([[`br=(3000;v),cid="door",e=ps,ltc=2346,sf=h,sid=${session},sn=0,sta=s,ts=1700000000000,v=2`]])
})

test('changes of state are gathered, and the same state is no change', () => {
  const reporter = newReporter()
  for (const state of ['s', 'p', 'p', 'r', 'p'] as const) reporter.setState(state)
  expect(sent).toEqual([])
  vi.advanceTimersByTime(5_000)
  expect(sent.length).toBe(1)
  expect(values('sta')).toEqual(['s', 'p', 'r', 'p'])
  expect(values('sn')).toEqual(['0', '1', '2', '3'])
})

test('a player that plays reports every half minute, and none after it stopped', () => {
  const reporter = newReporter()
  reporter.setState('p')
  vi.advanceTimersByTime(65_000)
  expect(values('e')).toEqual(['ps', 't', 't'])
  reporter.setState('q')
  expect(values('sta').at(-1)).toBe('q')
  vi.advanceTimersByTime(600_000)
  expect(values('e').length).toBe(4)
  expect(listeners.size).toBe(0)
})

test('a player that starts anew is a new session', () => {
  const reporter = newReporter()
  reporter.setState('q')
  expect(sent).toEqual([])
  reporter.setState('s')
  reporter.setState('q')
  reporter.setState('s')
  reporter.setState('q')
  const [first, , second] = values('sid')
  expect(first).not.toBe(second)
  expect(values('sn')).toEqual(['0', '1', '0', '1'])
})

test('what a page has to say is sent before it goes', () => {
  newReporter().setState('p')
  page.hidden = true
  listeners.get('visibilitychange')?.()
  expect(values('sta')).toEqual(['p'])
  listeners.get('pagehide')?.()
  expect(values('sta')).toEqual(['p', 'q'])
})

test('errors have codes that need no quoting, and a storm of them goes in batches', () => {
  const reporter = newReporter()
  reporter.error('bad "code"\n')
  for (let i = 0; i < 39; i++) reporter.error('fragLoadError')
  expect(sent.map((batch) => batch.length)).toEqual([20, 20])
  expect(values('ec')[0]).toBe('("bad__code__")')
})

test('reports go beside the playlist, below a share link too', () => {
  expect(reportPath('/hls/door/index.m3u8')).toBe('/hls/door/cmcd')
  expect(reportPath('/s/TOKEN/hls/door/live.m3u8')).toBe('/s/TOKEN/hls/door/cmcd')
})
