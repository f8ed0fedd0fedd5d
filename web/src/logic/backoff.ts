export interface BackoffLimits {
  firstMs: number
  maxMs: number
}

/**
 * Exponential back-off with jitter in the upper half, so that a wall of players
 * does not come back in step after a restart of the server.
 */
export class Backoff {
  private failures = 0

  constructor(
    private readonly limits: BackoffLimits,
    private readonly random: () => number = Math.random,
  ) {}

  /** The wait before the next try. */
  nextMs(): number {
    const ceiling = Math.min(this.limits.maxMs, this.limits.firstMs * 2 ** this.failures)
    // More doublings than reach the cap would only overflow, years later.
    if (ceiling < this.limits.maxMs) this.failures++
    return Math.round(ceiling * (0.5 + 0.5 * this.random()))
  }

  reset(): void {
    this.failures = 0
  }
}

/**
 * The wait a Retry-After header asks for (RFC 9110 10.2.3), or null. At most a
 * minute: a header is not to put a player to sleep for good.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const text = header.trim()
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  if (Number.isNaN(wait)) return null
  return Math.min(60_000, Math.max(0, wait))
}
