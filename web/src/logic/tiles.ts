import { DAY, HOUR, MINUTE, SECOND, spanOf, type View } from './timeView'

/** A piece of the time line in one of a few resolutions: what is asked for, and kept. */
export interface TileKey {
  levelMs: number
  index: number
}

// So far apart that zooming seldom asks anew, and so near that a column of the
// bar is never made of less than a third of a step.
const LEVELS = [SECOND, 4 * SECOND, 15 * SECOND, MINUTE, 4 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, DAY] as const

/** Steps in a tile: about as many as a wide bar has columns. */
const STEPS = 1_200

/** The resolution for a view: the finest of which a column of the bar holds one step or more. */
export function levelFor(view: View, width: number): number {
  const columnMs = spanOf(view) / Math.max(1, width)
  return [...LEVELS].reverse().find((level) => level <= columnMs) ?? LEVELS[0]
}

/** The tiles that a view needs, those in its middle first. Nothing is asked about the future. */
export function tilesFor(view: View, width: number, now: number): TileKey[] {
  const levelMs = levelFor(view, width)
  const last = Math.floor(Math.min(view.to, now) / (levelMs * STEPS))
  const found: TileKey[] = []
  for (let index = Math.floor(view.from / (levelMs * STEPS)); index <= last; index++) found.push({ levelMs, index })
  const middle = (view.from + view.to) / 2
  const distance = (key: TileKey): number => Math.abs(tileFrom(key) + (levelMs * STEPS) / 2 - middle)
  return found.sort((a, b) => distance(a) - distance(b))
}

export function tileFrom({ levelMs, index }: TileKey): number {
  return index * levelMs * STEPS
}

export function tileTo({ levelMs, index }: TileKey): number {
  return (index + 1) * levelMs * STEPS
}

export function tileName({ levelMs, index }: TileKey): string {
  return `${levelMs}:${index}`
}
