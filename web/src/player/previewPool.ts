/** A tile that wants to show a live picture. */
export interface Preview {
  startPreview(): void
  stopPreview(): void
}

/** Lets at most so many tiles play at once: those that asked first. */
export class PreviewPool {
  private readonly waiting = new Set<Preview>() // in the order of asking
  private readonly playing = new Set<Preview>()

  constructor(private readonly max: number) {}

  request(preview: Preview): void {
    if (this.playing.has(preview)) return
    this.waiting.add(preview)
    this.fill()
  }

  release(preview: Preview): void {
    this.waiting.delete(preview)
    if (!this.playing.delete(preview)) return
    preview.stopPreview()
    this.fill()
  }

  private fill(): void {
    for (const preview of this.waiting) {
      if (this.playing.size >= this.max) return
      this.waiting.delete(preview)
      this.playing.add(preview)
      preview.startPreview()
    }
  }
}
