import { GAP_KINDS, gapKind, gapText, type GapKind } from '../../logic/gapText'
import type { Bookmark, Gap, Recorded } from '../../logic/recordings'
import { clockText, dayText, lengthText } from '../../logic/timeText'
import type { Zone } from '../../logic/zone'
import { plural } from '../../logic/format'
import { iconButton } from '../button'
import { h, setText, show } from '../dom'
import { drawPattern } from './palette'

/** More gaps than this are not listed one by one: whoever zooms in sees the rest. */
const LISTED = 40

export interface LegendActions {
  onShow: (from: number, to: number) => void
  onRemove: (bookmark: Bookmark) => void
}

interface Item {
  text: string
  from: number
  to: number
  bookmark?: Bookmark
}

/** What the colours and patterns in view mean, and gaps and bookmarks in words, for eyes that see no bar. */
export class Legend {
  readonly element: HTMLElement
  private readonly keys = h('ul', { class: 'legend', testId: 'timeline-legend', attrs: { 'aria-label': 'Legend' } })
  private readonly summary = h('summary', { testId: 'gap-summary' })
  private readonly list = h('ol', { class: 'gap-list', testId: 'gap-list' })
  private readonly details = h('details', { class: 'gap-details' }, this.summary, this.list)
  private shown = ''
  private listed = ''

  constructor(private readonly actions: LegendActions) {
    this.element = h('div', { class: 'timeline-foot' }, this.keys, this.details)
    this.details.addEventListener('toggle', () => (this.listed = ''))
    show(this.details, false)
  }

  /** The theme has changed: the samples are drawn anew. */
  forgetColours(): void {
    this.shown = ''
  }

  render({ spans, gaps, moreGaps, bookmarks }: Recorded, zone: Zone, now: number): void {
    this.renderKeys(GAP_KINDS.filter(({ kind }) => gaps.some((gap) => gapKind(gap.cause) === kind)), spans.length > 0, bookmarks.length > 0)
    show(this.details, gaps.length + bookmarks.length > 0)
    const words = [
      gaps.length > 0 ? (moreGaps ? `${gaps.length} gaps or more` : plural(gaps.length, 'gap')) : '',
      bookmarks.length > 0 ? plural(bookmarks.length, 'bookmark') : '',
    ]
    setText(this.summary, `${words.filter(Boolean).join(' and ')} in view`)
    if (this.details.open) this.renderList([...gaps.slice(-LISTED).map((gap) => gapItem(gap, zone, now)), ...bookmarks.slice(-LISTED).map((mark) => bookmarkItem(mark, zone))])
  }

  private renderKeys(kinds: typeof GAP_KINDS, hasFootage: boolean, hasBookmarks: boolean): void {
    const key = [hasFootage, hasBookmarks, ...kinds.map(({ kind }) => kind)].join()
    if (key === this.shown) return
    this.shown = key
    const items = kinds.map(({ kind, text }) => h('li', { attrs: { 'data-kind': kind } }, sample(this.element, kind), h('span', { text })))
    if (hasBookmarks) items.unshift(h('li', {}, h('span', { class: 'legend-bookmark' }), h('span', { text: 'Bookmark' })))
    if (hasFootage) items.unshift(h('li', {}, h('span', { class: 'legend-footage' }), h('span', { text: 'Footage' })))
    this.keys.replaceChildren(...items)
  }

  private renderList(items: Item[]): void {
    items.sort((a, b) => b.from - a.from)
    const text = items.map((item) => item.text).join('\n')
    // Rebuilt only when it reads differently, so that the focus stays where it is.
    if (text === this.listed) return
    this.listed = text
    this.list.replaceChildren(...items.map((item) => this.listItem(item)))
  }

  private listItem({ text, from, to, bookmark }: Item): HTMLElement {
    const { onShow, onRemove } = this.actions
    const go = h('button', { class: 'link-button', text, testId: bookmark ? 'bookmark' : 'gap', attrs: { type: 'button', title: 'Show on the bar' }, on: { click: () => onShow(from, to) } })
    // What an event has marked goes with the event.
    const remove = bookmark && bookmark.kind !== 'event' ? iconButton({ label: `Remove the bookmark ${bookmark.name}`, icon: 'trash', testId: 'bookmark-remove', onClick: () => onRemove(bookmark) }) : null
    return h('li', {}, bookmark ? h('span', { class: 'legend-bookmark' }) : null, go, remove)
  }
}

function bookmarkItem(bookmark: Bookmark, zone: Zone): Item {
  const { from, to, name, keep } = bookmark
  const words = [`${dayText(from, zone)} ${clockText(from, zone)}`, name || 'Bookmark', to > from ? lengthText(to - from) : '', keep ? 'kept' : '']
  return { text: words.filter(Boolean).join(', '), from, to, bookmark }
}

function gapItem(gap: Gap, zone: Zone, now: number): Item {
  const detail = gap.detail === '' ? '' : `: ${gap.detail}`
  // What goes on is told by the minute, or the list would be rebuilt each second.
  const until = gap.to === Infinity ? Math.floor((now - gap.from) / 60_000) * 60_000 + gap.from : now
  return { text: `${dayText(gap.from, zone)} ${clockText(gap.from, zone)}, ${gapText(gap, until)}${detail}`, from: gap.from, to: Math.min(gap.to, now) }
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
