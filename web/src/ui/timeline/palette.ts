import { GAP_KINDS, type GapKind } from '../../logic/gapText'

/** The colours of the bar, as the style sheet has them in the theme that is shown. */
export interface Palette {
  lane: string
  footage: string
  footageEdge: string
  text: string
  textSoft: string
  line: string
  surface: string
  accent: string
  live: string
  bookmark: string
  font: string
  gaps: Record<GapKind, GapPaint>
}

/** A gap is told by its pattern as well as by its colour. */
export interface GapPaint {
  soft: string
  strong: string
  pattern: CanvasPattern | string
}

export function readPalette(element: Element, pixelRatio: number): Palette {
  const style = getComputedStyle(element)
  const value = (name: string): string => style.getPropertyValue(name).trim()
  const gap = (kind: GapKind): GapPaint => {
    const soft = value(`--gap-${kind}-soft`)
    const strong = value(`--gap-${kind}`)
    return { soft, strong, pattern: makePattern(kind, soft, strong, pixelRatio) }
  }
  return {
    lane: value('--lane'),
    footage: value('--footage'),
    footageEdge: value('--footage-edge'),
    text: value('--text'),
    textSoft: value('--text-soft'),
    line: value('--line'),
    surface: value('--surface'),
    accent: value('--accent'),
    live: value('--live-line'),
    bookmark: value('--bookmark'),
    font: style.fontFamily,
    gaps: Object.fromEntries(GAP_KINDS.map(({ kind }) => [kind, gap(kind)])) as Record<GapKind, GapPaint>,
  }
}

const TILE = 8

function makePattern(kind: GapKind, soft: string, strong: string, pixelRatio: number): CanvasPattern | string {
  const canvas = document.createElement('canvas')
  const size = Math.round(TILE * pixelRatio)
  canvas.width = size
  canvas.height = size
  const context = canvas.getContext('2d')
  if (!context) return soft
  context.scale(size / TILE, size / TILE)
  drawPattern(context, kind, soft, strong)
  const pattern = context.createPattern(canvas, 'repeat')
  pattern?.setTransform(new DOMMatrix().scale(TILE / size))
  return pattern ?? soft
}

/** One tile of eight by eight. */
export function drawPattern(context: CanvasRenderingContext2D, kind: GapKind, soft: string, strong: string): void {
  context.fillStyle = soft
  context.fillRect(0, 0, TILE, TILE)
  context.strokeStyle = strong
  context.fillStyle = strong
  context.lineWidth = 1.4
  context.beginPath()
  switch (kind) {
    case 'camera': // rising lines
      for (const x of [-TILE, 0, TILE]) {
        context.moveTo(x - 1, TILE + 1)
        context.lineTo(x + TILE + 1, -1)
      }
      break
    case 'disk': // a net
      for (const x of [-TILE, 0, TILE]) {
        context.moveTo(x - 1, TILE + 1)
        context.lineTo(x + TILE + 1, -1)
        context.moveTo(x - 1, -1)
        context.lineTo(x + TILE + 1, TILE + 1)
      }
      break
    case 'server': // lines that stand
      context.moveTo(TILE / 2, 0)
      context.lineTo(TILE / 2, TILE)
      break
    case 'chosen': // dots
      context.arc(2, 2, 1.1, 0, 7)
      context.moveTo(7.1, 6)
      context.arc(6, 6, 1.1, 0, 7)
      context.fill()
      return
    case 'unknown': // lines that lie
      context.moveTo(0, TILE / 2)
      context.lineTo(TILE, TILE / 2)
      break
  }
  context.stroke()
}
