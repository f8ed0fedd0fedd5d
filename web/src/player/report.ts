/** What a player is doing, as CMCD names it (CTA-5004-B, sta). */
export type PlayState = 's' | 'p' | 'r' | 'a' | 'w' | 'f' | 'q'

/** What is reported beside the state. */
export interface Measures {
  /** How late the picture on the screen is; null if not known. */
  latencyMs: number | null
  /** Of the source that is shown; null if not known. */
  bitrateBps: number | null
}

export interface ReporterOptions {
  /** Where reports are posted to. */
  url: string
  cameraId: string
  measure: () => Measures
  /** Takes a batch; it has no answer. */
  send?: (url: string, batch: string) => void
}

/** How often a player that goes on playing reports. */
const INTERVAL_MS = 30_000
/** What comes within this time goes in one batch. */
const GATHER_MS = 5_000
/** A batch this large goes at once. */
const BATCH = 20

/**
 * Tells the server how playback goes, in the event mode of CMCD version 2: in small
 * batches, never with the requests for media, which caches share.
 */
export class PlaybackReporter {
  private session = ''
  private sequence = 0
  private state: PlayState = 'q'
  private queue: string[] = []
  private gathering: ReturnType<typeof setTimeout> | undefined
  private ticking: ReturnType<typeof setInterval> | undefined

  constructor(private readonly options: ReporterOptions) {}

  setState(state: PlayState): void {
    if (state === this.state || (state === 'q' && this.session === '')) return
    if (this.session === '') this.begin()
    this.state = state
    this.add('ps')
    if (state === 'q') this.end()
  }

  /** An error, by a code of the player's. */
  error(code: string): void {
    if (this.session === '') this.begin()
    this.add('e', [`ec=("${code.replace(/[^\w.-]/g, '_')}")`])
  }

  /** Sends what there is: the page may be gone soon. */
  flush(): void {
    clearTimeout(this.gathering)
    this.gathering = undefined
    if (this.queue.length === 0) return
    const send = this.options.send ?? beacon
    send(this.options.url, this.queue.join('\n') + '\n')
    this.queue = []
  }

  private begin(): void {
    this.session = newSession()
    this.sequence = 0
    this.ticking = setInterval(() => this.add('t'), INTERVAL_MS)
    addEventListener('pagehide', this.onPageHide)
    document.addEventListener('visibilitychange', this.onVisibility)
  }

  private end(): void {
    this.flush()
    this.session = ''
    clearInterval(this.ticking)
    removeEventListener('pagehide', this.onPageHide)
    document.removeEventListener('visibilitychange', this.onVisibility)
  }

  private readonly onPageHide = (): void => this.setState('q')

  /** On phones nothing may come after this. */
  private readonly onVisibility = (): void => {
    if (document.hidden) this.flush()
  }

  private add(event: string, more: string[] = []): void {
    const { latencyMs, bitrateBps } = this.options.measure()
    const keys = [`e=${event}`, `cid="${this.options.cameraId}"`, `sid="${this.session}"`, `sn=${this.sequence++}`]
    keys.push(`sta=${this.state}`, `ts=${Date.now()}`, 'sf=h', 'v=2', ...more)
    if (latencyMs !== null) keys.push(`ltc=${Math.round(latencyMs)}`)
    if (bitrateBps !== null) keys.push(`br=(${Math.round(bitrateBps / 1000)};v)`)
    this.queue.push(keys.sort().join(','))
    if (this.queue.length >= BATCH) this.flush()
    else this.gathering ??= setTimeout(() => this.flush(), GATHER_MS)
  }
}

/** Where the player of a playlist posts its reports: beside it. */
export function reportPath(playlistPath: string): string {
  return playlistPath.replace(/[^/]*$/, 'cmcd')
}

/** randomUUID is for secure pages only, and cameras are often on plain HTTP. */
function newSession(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function beacon(url: string, batch: string): void {
  // A report that is lost is lost: playing is more important.
  navigator.sendBeacon(url, new Blob([batch], { type: 'application/cmcd' }))
}
