import { listCameras } from './api/client'
import { RequestError } from './api/problem'
import type { Camera } from './api/types'
import { POLL_BACKOFF, POLL_EVERY_MS } from './config'
import { Backoff } from './logic/backoff'

export interface Cameras {
  /** Null before the first answer. */
  list: Camera[] | null
  /** Why the last question was not answered, or "". */
  problem: string
}

/**
 * Asks for the cameras every 2 s while somebody looks. The event stream of the
 * API would take one of a browser's six HTTP/1.1 connections, which the pictures need.
 */
export class CameraStore {
  private cameras: Cameras = { list: null, problem: '' }
  private readonly listeners = new Set<(cameras: Cameras) => void>()
  private readonly backoff = new Backoff(POLL_BACKOFF)
  private timer: ReturnType<typeof setTimeout> | undefined
  private asking: AbortController | null = null

  start(): void {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.pause()
      else this.refresh()
    })
    window.addEventListener('online', () => this.refresh())
    this.refresh()
  }

  get current(): Cameras {
    return this.cameras
  }

  /** Calls the listener now and on each answer; returns how to stop that. */
  subscribe(listener: (cameras: Cameras) => void): () => void {
    this.listeners.add(listener)
    listener(this.cameras)
    return () => this.listeners.delete(listener)
  }

  /** Asks now, for example after a change. */
  refresh(): void {
    this.pause()
    const asking = new AbortController()
    this.asking = asking
    void this.poll(asking.signal)
  }

  private pause(): void {
    clearTimeout(this.timer)
    this.asking?.abort()
    this.asking = null
  }

  private async poll(signal: AbortSignal): Promise<void> {
    let waitMs = POLL_EVERY_MS
    try {
      const list = await listCameras(signal)
      if (signal.aborted) return
      this.backoff.reset()
      this.publish({ list, problem: '' })
    } catch (err) {
      if (signal.aborted) return
      waitMs = this.backoff.nextMs()
      this.publish({ ...this.cameras, problem: err instanceof RequestError ? err.message : 'The answer could not be read' })
    }
    this.timer = setTimeout(() => this.refresh(), waitMs)
  }

  private publish(cameras: Cameras): void {
    this.cameras = cameras
    for (const listener of this.listeners) listener(cameras)
  }
}
