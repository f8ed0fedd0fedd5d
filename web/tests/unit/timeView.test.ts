import { expect, test } from 'vitest'
import { between, clampView, DAY, HOUR, latestView, maxSpan, MIN_SPAN, MINUTE, panView, pinchView, revealed, spanOf, timeAt, xOf, zoomView } from '../../src/logic/timeView'

const now = Date.UTC(2025, 9, 2, 12)
const limits = { oldest: now - 30 * DAY, now }

test('a moment and its place on the bar are each other’s inverse', () => {
  const view = { from: now - HOUR, to: now }
  expect(xOf(view, 1000, now - HOUR / 2)).toBe(500)
  for (const x of [0, 1, 333.3, 1000]) expect(xOf(view, 1000, timeAt(view, 1000, x))).toBeCloseTo(x, 6)
})

test('zooming keeps the moment under the pointer where it is', () => {
  const view = { from: now - 9 * HOUR, to: now - 7 * HOUR }
  const anchor = now - 8.5 * HOUR
  for (const factor of [0.25, 0.9, 2]) {
    const zoomed = zoomView(view, factor, anchor, limits)
    expect(spanOf(zoomed)).toBeCloseTo(spanOf(view) * factor)
    expect(xOf(zoomed, 1000, anchor)).toBeCloseTo(xOf(view, 1000, anchor), 3)
  }
})

test('no zoom goes closer than ten seconds or wider than all there is', () => {
  let view = { from: now - HOUR, to: now }
  for (let i = 0; i < 60; i++) view = zoomView(view, 0.5, now - MINUTE, limits)
  expect(spanOf(view)).toBeCloseTo(MIN_SPAN)
  for (let i = 0; i < 60; i++) view = zoomView(view, 3, now - MINUTE, limits)
  expect(spanOf(view)).toBeCloseTo(maxSpan(limits))
  expect(view.from).toBeLessThan(limits.oldest)
  expect(view.to).toBeGreaterThan(now)
})

test('a view does not leave what there is, and keeps its width', () => {
  const view = latestView(HOUR, now)
  expect(view.to).toBeGreaterThan(now)
  const future = panView(view, DAY, limits)
  expect(future.to - now).toBeLessThan(0.1 * HOUR)
  const past = panView(view, -300 * DAY, limits)
  expect(past.from).toBeGreaterThan(limits.oldest - HOUR)
  for (const moved of [future, past]) expect(spanOf(moved)).toBeCloseTo(HOUR, 3)
})

test('the latest of any length is a view that may stay as it is', () => {
  for (const span of [MINUTE, HOUR, DAY, 30 * DAY]) {
    const view = latestView(span, now)
    expect(clampView(view, limits).to).toBeCloseTo(view.to, -1)
  }
})

test('an archive of a minute can still be looked at over a day', () => {
  const young = { oldest: now - MINUTE, now }
  expect(spanOf(clampView({ from: now - 10 * DAY, to: now }, young))).toBe(DAY)
})

test('two fingers keep what they hold', () => {
  const view = { from: now - 10 * HOUR, to: now - 8 * HOUR }
  const held = [timeAt(view, 400, 100), timeAt(view, 400, 300)] as const
  const pinched = pinchView(view, 400, [100, 300], [150, 250], limits)
  expect(xOf(pinched, 400, held[0])).toBeCloseTo(150, 3)
  expect(xOf(pinched, 400, held[1])).toBeCloseTo(250, 3)
  expect(spanOf(pinchView(view, 400, [100, 300], [200, 200], limits))).toBeGreaterThan(0)
  expect(spanOf(pinchView(view, 400, [200, 200], [100, 300], limits))).toBe(MIN_SPAN)
})

test('a view follows a moment that leaves it, and stays otherwise', () => {
  const view = { from: now - 3 * HOUR, to: now - 2 * HOUR }
  expect(revealed(view, now - 150 * MINUTE, limits)).toBe(view)
  for (const at of [now - 100 * MINUTE, now - 5 * HOUR, now]) {
    const moved = revealed(view, at, limits)
    expect(at).toBeGreaterThanOrEqual(moved.from)
    expect(at).toBeLessThanOrEqual(moved.to)
    expect(spanOf(moved)).toBeCloseTo(HOUR, 3)
  }
})

test('on the way from one view to another, the point that zooming keeps stays', () => {
  const a = { from: now - 2 * HOUR, to: now }
  const anchor = now - HOUR
  const b = zoomView(a, 0.1, anchor, limits)
  for (const part of [0.2, 0.5, 0.8]) expect(xOf(between(a, b, part), 1000, anchor)).toBeCloseTo(500, 3)
  expect(between(a, b, 1)).toBe(b)
  expect(between(a, a, 0.5)).toEqual(a)
})
