import { GAP_KINDS, gapKind, gapText, type GapKind } from '../../logic/gapText'
import type { Gap } from '../../logic/recordings'
import { dayText, clockText } from '../../logic/timeText'
import type { Zone } from '../../logic/zone'
import { h, setText, show } from '../dom'
import { drawPattern } from './palette'

/** More gaps than this are not listed one by one: whoever zooms in sees the rest. */
const LISTED = 40

/** What the colours and patterns in view mean, and the gaps in words, for eyes that see no bar. */
export class Legend {
  readonly element: HTMLElement
  private readonly keys = h('ul', { class: 'legend', testId: 'timeline-legend', attrs: { 'aria-label': 'Legend' } })
  private readonly summary = h('summary', { testId: 'gap-summary' })
  private readonly list = h('ol', { class: 'gap-list', testId: 'gap-list' })
  private readonly details = h('details', { class: 'gap-details' }, this.summary, this.list)
  private shown = ''
  private listed = ''

  constructor(private readonly onGap: (gap: Gap) => void) {
    this.element = h('div', { class: 'timeline-foot' }, this.keys, this.details)
    this.details.addEventListener('toggle', () => (this.listed = ''))
    show(this.details, false)
  }

  /** The theme has changed: the samples are drawn anew. */
  forgetColours(): void {
    this.shown = ''
  }

  render(gaps: readonly Gap[], moreGaps: boolean, hasFootage: boolean, hasBookmarks: boolean, zone: Zone, now: number): void {
    const kinds = GAP_KINDS.filter(({ kind }) => gaps.some((gap) => gapKind(gap.cause) === kind))
    const key = [hasFootage, hasBookmarks, ...kinds.map(({ kind }) => kind)].join()
    if (key !== this.shown) {
      this.shown = key
      const items = kinds.map(({ kind, text }) => h('li', { attrs: { 'data-kind': kind } }, sample(this.element, kind), h('span', { text })))
      if (hasBookmarks) items.unshift(h('li', {}, h('span', { class: 'legend-bookmark' }), h('span', { text: 'Bookmark' })))
      if (hasFootage) items.unshift(h('li', {}, h('span', { class: 'legend-footage' }), h('span', { text: 'Footage' })))
      this.keys.replaceChildren(...items)
    }
    show(this.details, gaps.length > 0)
    const count = `${gaps.length}${moreGaps ? ' or more' : ''}`
    setText(this.summary, `${count} ${gaps.length === 1 && !moreGaps ? 'gap' : 'gaps'} in view`)
    if (this.details.open) this.renderList(gaps, zone, now)
  }

  private renderList(gaps: readonly Gap[], zone: Zone, now: number): void {
    const lines = gaps.slice(-LISTED).reverse().map((gap) => [gap, line(gap, zone, now)] as const)
    const text = lines.map(([, words]) => words).join('\n')
    // Rebuilt only when it reads differently, so that the focus stays where it is.
    if (text === this.listed) return
    this.listed = text
    this.list.replaceChildren(
      ...lines.map(([gap, words]) => h('li', {}, h('button', { class: 'link-button', text: words, testId: 'gap', attrs: { type: 'button', title: 'Show on the bar' }, on: { click: () => this.onGap(gap) } }))),
    )
  }
}

function line(gap: Gap, zone: Zone, now: number): string {
  const detail = gap.detail === '' ? '' : `: ${gap.detail}`
  // What goes on is told by the minute, or the list would be rebuilt each second.
  const until = gap.to === Infinity ? Math.floor((now - gap.from) / 60_000) * 60_000 + gap.from : now
  return `${dayText(gap.from, zone)} ${clockText(gap.from, zone)}, ${gapText(gap, until)}${detail}`
}

function sample(host: Element, kind: GapKind): HTMLElement {
  const canvas = h('canvas', { class: 'legend-sample', attrs: { width: '32', height: '16', 'aria-hidden': 'true' } })
  const context = canvas.getContext('2d')
  const style = getComputedStyle(host)
  if (context) {
    for (let i = 0; i < 8; i++) {
      context.save()
      context.translate((i % 4) * 8, Math.floor(i / 4) * 8)
      context.beginPath()
      context.rect(0, 0, 8, 8)
      context.clip()
      drawPattern(context, kind, style.getPropertyValue(`--gap-${kind}-soft`), style.getPropertyValue(`--gap-${kind}`))
      context.restore()
    }
  }
  return canvas
}
