/**
 * Runs one job at a time. What is asked for meanwhile waits, and only the newest
 * of it is done: a hand on a slider asks for far more than anybody can answer.
 */
export class Newest<T> {
  private busy = false
  private next: { job: T } | null = null
  private dropped = new AbortController()

  /** Jobs end by themselves; one that fails is over, too. */
  constructor(private readonly run: (job: T, signal: AbortSignal) => Promise<void>) {}

  ask(job: T): void {
    this.next = { job }
    if (!this.busy) void this.work()
  }

  /** Nothing is wanted any more. */
  drop(): void {
    this.next = null
    this.dropped.abort()
    this.dropped = new AbortController()
  }

  private async work(): Promise<void> {
    this.busy = true
    while (this.next) {
      const { job } = this.next
      this.next = null
      try {
        await this.run(job, this.dropped.signal)
      } catch {
        // The next one may fare better; whoever shows the results shows none.
      }
    }
    this.busy = false
  }
}
