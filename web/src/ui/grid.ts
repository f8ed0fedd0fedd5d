import type { Camera } from '../api/types'
import type { CameraStore, Cameras } from '../cameraStore'
import { MAX_PREVIEWS, MAX_PREVIEWS_ON_PHONES } from '../config'
import { PreviewPool } from '../player/previewPool'
import { h, setText, show } from './dom'
import { emptyState } from './emptyState'
import { Tile, type TileActions } from './tile'

/** The page of all cameras. */
export class GridPage {
  readonly element: HTMLElement
  private readonly grid = h('div', { class: 'grid', testId: 'camera-grid' })
  private readonly loading = h('p', { class: 'loading', text: 'Asking for the cameras…', attrs: { role: 'status' } })
  private readonly heading = h('h1', { class: 'visually-hidden', text: 'Cameras' })
  private empty: HTMLElement | null = null
  private readonly tiles = new Map<string, Tile>()
  private readonly inView = new Set<Tile>()
  private readonly pool = new PreviewPool(
    matchMedia('(max-width: 640px), (pointer: coarse)').matches ? MAX_PREVIEWS_ON_PHONES : MAX_PREVIEWS,
  )
  private readonly observer: IntersectionObserver
  private readonly leaving = new AbortController()

  constructor(
    private readonly store: CameraStore,
    private readonly actions: TileActions,
  ) {
    this.element = h('main', { class: 'page grid-page', attrs: { id: 'main' } }, this.heading, this.loading, this.grid)
    this.observer = new IntersectionObserver((entries) => this.onVisible(entries), { rootMargin: '80px' })
    // A hidden page's players would fall minutes behind; they begin again at live.
    document.addEventListener('visibilitychange', () => this.choosePreviews(), { signal: this.leaving.signal })
    const unsubscribe = store.subscribe((cameras) => this.update(cameras))
    this.leaving.signal.addEventListener('abort', unsubscribe)
  }

  destroy(): void {
    this.leaving.abort()
    this.observer.disconnect()
    for (const tile of this.tiles.values()) tile.destroy()
  }

  private update({ list, problem }: Cameras): void {
    show(this.loading, list === null)
    if (list === null) {
      setText(this.loading, problem === '' ? 'Asking for the cameras…' : `${problem}. Trying again…`)
      return
    }
    this.showEmpty(list.length === 0)
    this.removeGone(new Set(list.map((camera) => camera.id)))
    list.forEach((camera, index) => this.place(camera, index))
    this.choosePreviews()
  }

  private showEmpty(isEmpty: boolean): void {
    show(this.grid, !isEmpty)
    if (isEmpty && !this.empty) {
      this.empty = emptyState(() => this.store.refresh())
      this.element.append(this.empty)
    } else if (!isEmpty && this.empty) {
      this.empty.remove()
      this.empty = null
    }
  }

  private removeGone(ids: ReadonlySet<string>): void {
    for (const [id, tile] of this.tiles) {
      if (ids.has(id)) continue
      this.tiles.delete(id)
      this.inView.delete(tile)
      this.pool.release(tile)
      this.observer.unobserve(tile.element)
      tile.destroy()
    }
  }

  private place(camera: Camera, index: number): void {
    let tile = this.tiles.get(camera.id)
    if (tile) {
      tile.update(camera)
    } else {
      tile = new Tile(camera, this.actions)
      this.tiles.set(camera.id, tile)
      this.observer.observe(tile.element)
    }
    // Moving a video element in the page stops it: only where the order differs.
    if (this.grid.children[index] !== tile.element) this.grid.insertBefore(tile.element, this.grid.children[index] ?? null)
  }

  private onVisible(entries: IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      const tile = [...this.tiles.values()].find((candidate) => candidate.element === entry.target)
      if (!tile) continue
      if (entry.isIntersecting) this.inView.add(tile)
      else this.inView.delete(tile)
    }
    this.choosePreviews()
  }

  private choosePreviews(): void {
    for (const tile of this.tiles.values()) {
      if (!document.hidden && this.inView.has(tile) && tile.wantsPreview) this.pool.request(tile)
      else this.pool.release(tile)
    }
  }
}
