/** A source that the viewer can choose, best first. */
export interface Quality {
  index: number
  label: string
}

/** One run of playback, from attaching the video element to a failure. */
export interface Session {
  /**
   * Plays until the signal is aborted or playback fails: it only ever rejects,
   * with NotYet. What is buffered goes on playing until end.
   */
  run(signal: AbortSignal): Promise<never>
  /** Gives the video element back, once. */
  end(): void
  play(): void
  jumpToLive(): void
  /** How far the picture on the screen is behind the camera, in milliseconds; null if not known. */
  pictureAgeMs(): number | null
  /** The moment of the picture on the screen by the clock of the playlist, in Unix milliseconds; null if not known. */
  programMs(): number | null
  /** The bit rate of the source that is shown; null if not known. */
  bitrateBps(): number | null
  /** The jump to live would take the viewer forward. */
  isBehind(): boolean
  qualities(): Quality[]
  /** -1 leaves the choice to the player. */
  chooseQuality(index: number): void
}
