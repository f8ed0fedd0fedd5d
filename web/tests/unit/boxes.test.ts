import { describe, expect, it } from 'vitest'
import { gatherSightings, readSighting } from '../../src/api/detections'
import { BoxBook, HOLD_MS, pictureRect, preciseMs, type Sighting } from '../../src/logic/boxes'

const seen = (timeMs: number, worker = 'hog'): Sighting => ({ timeMs, worker, things: [] })
const times = (book: BoxBook, ms: number): number[] => book.at(ms).map(({ timeMs }) => timeMs)

describe('what belongs over a picture', () => {
  it('is the newest that is not of the future, whatever came first', () => {
    const book = new BoxBook()
    for (const ms of [5_000, 4_000, 4_500, 6_000]) book.add(seen(ms))
    expect(times(book, 4_600)).toEqual([4_500])
    expect(times(book, 5_999)).toEqual([6_000]) // clocks differ by a little
    expect(times(book, 5_900)).toEqual([5_000])
    expect(times(book, 3_000)).toEqual([])
  })

  it('stands for a while only', () => {
    const book = new BoxBook()
    book.add(seen(5_000))
    expect(times(book, 5_000 + HOLD_MS)).toEqual([5_000])
    expect(times(book, 5_001 + HOLD_MS)).toEqual([])
  })

  it('is of each worker', () => {
    const book = new BoxBook()
    book.add(seen(5_000))
    book.add(seen(5_100, 'onnx'))
    expect(times(book, 5_200)).toEqual([5_000, 5_100])
    for (let i = 0; i < 50; i++) book.add(seen(5_150, `w${i}`))
    expect(times(book, 5_200).length).toBe(8)
  })

  it('is the last word on a frame', () => {
    const book = new BoxBook()
    book.add(seen(5_000))
    book.add({ ...seen(5_000), things: [{ label: 'a', score: 1, trackId: 0, box: null }] })
    expect(book.at(5_000)[0]?.things.length).toBe(1)
  })

  it('does not fill the memory', () => {
    const book = new BoxBook()
    for (let i = 0; i < 10_000; i++) book.add(seen(i))
    expect(times(book, 3_000)).toEqual([])
    expect(times(book, 9_999)).toEqual([9_999])
    book.clear()
    expect(times(book, 9_999)).toEqual([])
  })
})

describe('what comes of the API', () => {
  it('has times to the microsecond', () => {
    expect(preciseMs('1970-01-01T00:00:01.500001Z')).toBeCloseTo(1500.001, 6)
    expect(preciseMs('1970-01-01T00:00:01.5Z')).toBe(1500)
    expect(preciseMs('nonsense')).toBeNaN()
  })

  it('is read, and what makes no sense is nothing', () => {
    const report = { time: '1970-01-01T00:00:01.000000Z', worker: 'hog', detections: [{ label: 'person', score: 0.5, track_id: 7, box: { x: 0.1, y: 0.2, width: 0.3, height: 0.4 } }, null, { label: 'rain', score: 1 }] }
    expect(readSighting(report)).toEqual({
      timeMs: 1000,
      worker: 'hog',
      things: [
        { label: 'person', score: 0.5, trackId: 7, box: { x: 0.1, y: 0.2, width: 0.3, height: 0.4 } },
        { label: 'rain', score: 1, trackId: 0, box: null },
      ],
    })
    for (const bad of [null, 5, {}, { time: 'x', detections: [] }, { time: '1970-01-01T00:00:01Z' }]) expect(readSighting(bad)).toBeNull()
  })

  it('is put together by frame and worker', () => {
    const one = (time: string, worker: string, label: string): unknown => ({ time, worker, label, score: 1 })
    const got = gatherSightings([one('1970-01-01T00:00:01Z', 'a', 'x'), one('1970-01-01T00:00:01Z', 'a', 'y'), one('1970-01-01T00:00:01Z', 'b', 'z'), one('1970-01-01T00:00:02Z', 'a', 'x')])
    expect(got.map(({ timeMs, worker, things }) => [timeMs, worker, things.map(({ label }) => label).join('')])).toEqual([
      [1000, 'a', 'xy'],
      [1000, 'b', 'z'],
      [2000, 'a', 'x'],
    ])
  })
})

describe('where the picture is', () => {
  it('is in the middle, in its own shape', () => {
    expect(pictureRect(1600, 900, 640, 480)).toEqual({ x: 200, y: 0, width: 1200, height: 900 })
    expect(pictureRect(400, 900, 640, 480)).toEqual({ x: 0, y: 300, width: 400, height: 300 })
    expect(pictureRect(400, 900, 0, 0).width).toBe(0)
  })
})
