/**
 * Decides when a text that changes is spoken by screen readers: soon after it
 * became another, and not again for a while. What came and went between is not said.
 */
export class Announcer {
  private spoken = ''
  private wanted = ''
  private spokenAtMs = -Infinity
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly speak: (text: string) => void,
    private readonly everyMs = 15_000,
  ) {}

  set(text: string, nowMs = Date.now()): void {
    this.wanted = text
    if (text === this.spoken) {
      clearTimeout(this.timer)
      this.timer = undefined
      return
    }
    if (this.timer !== undefined) return
    const waitMs = Math.max(0, this.spokenAtMs + this.everyMs - nowMs)
    if (waitMs === 0) this.say(nowMs)
    else this.timer = setTimeout(() => this.say(Date.now()), waitMs)
  }

  stop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private say(nowMs: number): void {
    this.timer = undefined
    if (this.wanted === this.spoken) return
    this.spoken = this.wanted
    // Silence is free: what follows it is news.
    if (this.wanted !== '') this.spokenAtMs = nowMs
    this.speak(this.wanted)
  }
}
