import { hit, type BarMarks, type BarPart } from '../../logic/barHit'
import { pinchView, timeAt, zoomView, type Limits, type View } from '../../logic/timeView'
import { h } from '../dom'
import { BAR_HEIGHT, paint, type Scene } from './paint'
import { readPalette, type Palette } from './palette'

export interface BarActions {
  view: () => View
  limits: () => Limits
  marks: () => BarMarks
  /** A view that the viewer's hand has chosen. */
  onView: (view: View) => void
  /** The moment under the pointer; null when it has left. */
  onHover: (at: number | null) => void
  /** The playhead is being dragged. */
  onScrub: (at: number) => void
  /** The moment to play. */
  onSeek: (at: number) => void
  onMark: (part: 'start' | 'end', at: number) => void
  onKey: (event: KeyboardEvent) => void
}

/** A hand trembles: less is a click. */
const DRAG_PX = 4

interface Hold {
  part: BarPart
  startX: number
  startView: View
  moved: boolean
}

/** The bar itself: what is drawn of time, and what hands do to it. */
export class Bar {
  readonly element: HTMLElement
  readonly canvas = h('canvas', { attrs: { 'aria-hidden': 'true' } })
  private palette: Palette | null = null
  private paletteRatio = 0
  private readonly pointers = new Map<number, number>()
  private hold: Hold | null = null
  private pinch: { view: View; x: [number, number] } | null = null
  private readonly resize: ResizeObserver
  /** Where a mouse rests over the bar. */
  private restsAt: number | null = null
  width = 0

  constructor(
    private readonly actions: BarActions,
    onResize: () => void,
  ) {
    this.element = h(
      'div',
      { class: 'timeline-bar', testId: 'timeline-bar', attrs: { role: 'slider', tabindex: '0', 'aria-label': 'Time', 'aria-orientation': 'horizontal' } },
      this.canvas,
    )
    const { element } = this
    element.addEventListener('pointerdown', (event) => this.onDown(event))
    element.addEventListener('pointermove', (event) => this.onMove(event))
    element.addEventListener('pointerup', (event) => this.onUp(event, true))
    element.addEventListener('pointercancel', (event) => this.onUp(event, false))
    element.addEventListener('pointerleave', () => this.onLeave())
    element.addEventListener('wheel', (event) => this.onWheel(event), { passive: false })
    element.addEventListener('keydown', (event) => actions.onKey(event))
    this.resize = new ResizeObserver(() => {
      this.width = this.canvas.clientWidth
      onResize()
    })
    this.resize.observe(element)
  }

  destroy(): void {
    this.resize.disconnect()
  }

  /** The theme has changed: colours are read anew. */
  forgetColours(): void {
    this.palette = null
  }

  draw(scene: Scene): void {
    const ratio = window.devicePixelRatio || 1
    const width = Math.round(this.width * ratio)
    const height = Math.round(BAR_HEIGHT * ratio)
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width
      this.canvas.height = height
    }
    const context = this.canvas.getContext('2d')
    if (!context || width === 0) return
    if (!this.palette || this.paletteRatio !== ratio) {
      this.palette = readPalette(this.element, ratio)
      this.paletteRatio = ratio
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    paint(context, scene, this.palette)
  }

  private xOfEvent(event: MouseEvent): number {
    return event.clientX - this.canvas.getBoundingClientRect().left
  }

  private at(x: number): number {
    return timeAt(this.actions.view(), this.width, x)
  }

  private onDown(event: PointerEvent): void {
    if (event.pointerType === 'mouse' && event.button !== 0) return
    const x = this.xOfEvent(event)
    this.element.setPointerCapture(event.pointerId)
    this.pointers.set(event.pointerId, x)
    const view = this.actions.view()
    const [first, second] = [...this.pointers.values()]
    if (first !== undefined && second !== undefined) {
      this.pinch = { view, x: [first, second] }
      this.hold = null
      this.actions.onHover(null)
      return
    }
    this.hold = { part: hit(view, this.width, this.actions.marks(), x, event.pointerType !== 'mouse'), startX: x, startView: view, moved: false }
  }

  private onMove(event: PointerEvent): void {
    const x = this.xOfEvent(event)
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, x)
    if (this.pinch) this.onPinch()
    else if (this.hold) this.onDrag(this.hold, x)
    else if (event.pointerType === 'mouse') this.onPoint(x)
  }

  /** The moment under the mouse, also when it is the time that has moved; null when there is no mouse. */
  pointedAt(): number | null {
    return this.restsAt === null ? null : this.at(this.restsAt)
  }

  private onLeave(): void {
    this.restsAt = null
    if (this.hold === null) this.actions.onHover(null)
  }

  private onPoint(x: number): void {
    this.restsAt = x
    const part = hit(this.actions.view(), this.width, this.actions.marks(), x, false)
    this.element.dataset.over = part
    this.actions.onHover(this.at(x))
  }

  private onPinch(): void {
    const [first, second] = [...this.pointers.values()]
    if (!this.pinch || first === undefined || second === undefined) return
    this.actions.onView(pinchView(this.pinch.view, this.width, this.pinch.x, [first, second], this.actions.limits()))
  }

  private onDrag(hold: Hold, x: number): void {
    if (!hold.moved && Math.abs(x - hold.startX) < DRAG_PX) return
    hold.moved = true
    this.element.dataset.dragging = hold.part
    switch (hold.part) {
      case 'bar': {
        const byMs = timeAt(hold.startView, this.width, hold.startX) - timeAt(hold.startView, this.width, x)
        this.actions.onHover(null)
        this.actions.onView({ from: hold.startView.from + byMs, to: hold.startView.to + byMs })
        return
      }
      case 'playhead':
        this.actions.onScrub(this.at(x))
        return
      default:
        this.actions.onMark(hold.part, this.at(x))
    }
  }

  private onUp(event: PointerEvent, chosen: boolean): void {
    this.pointers.delete(event.pointerId)
    delete this.element.dataset.dragging
    if (this.pinch) {
      // The finger that stays on the bar moves nothing: a hand leaves it piece by piece.
      if (this.pointers.size === 0) this.pinch = null
      return
    }
    const { hold } = this
    this.hold = null
    if (!hold) return
    const at = this.at(this.xOfEvent(event))
    if (chosen && (!hold.moved || hold.part === 'playhead')) {
      if (hold.part === 'bar' || hold.part === 'playhead') this.actions.onSeek(at)
    }
    if (event.pointerType !== 'mouse' || !chosen) this.actions.onHover(null)
  }

  private onWheel(event: WheelEvent): void {
    event.preventDefault()
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 400 : 1
    const view = this.actions.view()
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const byMs = timeAt(view, this.width, sideways * unit) - view.from
      this.actions.onView({ from: view.from + byMs, to: view.to + byMs })
      return
    }
    // A pinch on a trackpad comes as a wheel with Ctrl, in smaller steps.
    const factor = Math.exp(Math.max(-240, Math.min(240, event.deltaY * unit)) * (event.ctrlKey ? 0.01 : 0.0022))
    this.actions.onView(zoomView(view, factor, this.at(this.xOfEvent(event)), this.actions.limits()))
    this.actions.onHover(this.pointedAt())
  }
}
