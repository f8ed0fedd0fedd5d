import { SCRUB_PICTURES_KEPT } from '../../config'
import { LRU } from '../../logic/lru'
import { Newest } from '../../logic/newest'
import { framePath } from '../../player/archiveURL'
import { h, setText, show } from '../dom'

const WIDTH = 208
const NOT_WRITTEN_YET_MS = 30_000

interface Wish {
  key: number
  at: number
}

/** The picture at the moment under the pointer, beside the bar, with the words for it. */
export class ScrubPreview {
  readonly element: HTMLElement
  private readonly canvas = h('canvas', { attrs: { 'aria-hidden': 'true', width: String(WIDTH), height: '117' } })
  private readonly text = h('span', { class: 'scrub-text', testId: 'scrub-text' })
  private readonly pictures = new LRU<number, ImageBitmap>(SCRUB_PICTURES_KEPT, (picture) => picture.close())
  private readonly newest = new Newest<Wish>((wish, signal) => this.load(wish, signal))
  private wanted: number | null = null
  /** Moments that have no picture, so that they are not asked for again and again. */
  private readonly none = new Set<number>()
  private stopped = false

  constructor(private readonly cameraId: string) {
    this.element = h('div', { class: 'scrub', testId: 'scrub', attrs: { 'aria-hidden': 'true' } }, this.canvas, this.text)
    show(this.element, false)
  }

  /** Shows the moment at x of a bar of some width; stepMs is how much time a few of its pixels are. */
  showAt(at: number, x: number, barWidth: number, stepMs: number, text: string, hasFootage: boolean): void {
    const { element } = this
    show(element, true)
    setText(this.text, text)
    const half = (WIDTH + 12) / 2
    element.style.left = `${Math.round(Math.min(Math.max(x, half), Math.max(half, barWidth - half)))}px`
    show(this.canvas, hasFootage)
    if (!hasFootage) {
      this.wanted = null
      return
    }
    const key = Math.floor(at / stepMs) * stepMs
    if (key === this.wanted) return
    this.wanted = key
    const picture = this.pictures.get(key)
    if (picture) this.draw(picture)
    else if (!this.none.has(key)) this.newest.ask({ key, at })
  }

  hide(): void {
    this.wanted = null
    this.newest.drop()
    show(this.element, false)
  }

  destroy(): void {
    this.stopped = true
    this.hide()
    this.pictures.clear()
  }

  private async load({ key, at }: Wish, signal: AbortSignal): Promise<void> {
    try {
      const response = await fetch(framePath(this.cameraId, at), { signal })
      if (!response.ok) throw new Error(`status ${response.status}`)
      const blob = await response.blob()
      const picture = blob.type.startsWith('image/') ? await createImageBitmap(blob) : await decodeFrame(blob)
      if (this.stopped) {
        picture.close()
        return
      }
      this.pictures.set(key, picture)
      if (this.wanted === key) this.draw(picture)
    } catch (err) {
      if (signal.aborted) return
      // What is not written yet will be.
      if (at < Date.now() - NOT_WRITTEN_YET_MS) this.none.add(key)
      if (this.none.size > 500) this.none.clear()
      if (this.wanted === key) show(this.canvas, false)
      throw err
    }
  }

  private draw(picture: ImageBitmap): void {
    const { canvas } = this
    const height = Math.round((WIDTH * picture.height) / Math.max(1, picture.width))
    if (canvas.height !== height) canvas.height = height
    canvas.getContext('2d')?.drawImage(picture, 0, 0, WIDTH, height)
    this.element.dataset.picture = String(Number(this.element.dataset.picture ?? 0) + 1)
  }
}

const DECODE_LIMIT_MS = 5_000

/** The first picture of a small MP4, by the decoder that plays the rest. */
async function decodeFrame(blob: Blob): Promise<ImageBitmap> {
  const video = document.createElement('video')
  const url = URL.createObjectURL(blob)
  video.muted = true
  video.playsInline = true
  video.preload = 'auto'
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no picture in time')), DECODE_LIMIT_MS)
      video.onloadeddata = () => {
        clearTimeout(timer)
        resolve()
      }
      video.onerror = () => {
        clearTimeout(timer)
        reject(new Error('the picture cannot be decoded here'))
      }
      video.src = url
    })
    // Kept small: many of them are remembered.
    return await createImageBitmap(video, { resizeWidth: 2 * WIDTH, resizeHeight: Math.round((2 * WIDTH * video.videoHeight) / Math.max(1, video.videoWidth)), resizeQuality: 'medium' })
  } finally {
    video.removeAttribute('src')
    video.load()
    URL.revokeObjectURL(url)
  }
}
