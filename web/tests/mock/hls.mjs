// A live window over a clip, as Drover serves one.

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { CLIPS, CLIP_SEGMENTS } from './clips.mjs'

const WINDOW = 5

// Discontinuities are counted from here: hls.js keeps an array by their number,
// and walks it, so that one made of the clock stops the page for minutes.
const STARTED = Math.floor(Date.now() / 1000 / CLIP_SEGMENTS - 1) * CLIP_SEGMENTS

export class LiveClip {
  /** Sequences count from the machine's clock, so that they never go back over restarts. */
  constructor(folder, name) {
    this.folder = folder
    this.name = name
  }

  /** The sequence of the segment that is being written now. */
  get next() {
    return Math.floor(Date.now() / 1000)
  }

  streamInf(uri) {
    const { codecs, size } = CLIPS[this.name]
    return `#EXT-X-STREAM-INF:BANDWIDTH=${size === '320x180' ? 300000 : 900000},CODECS="${codecs}",RESOLUTION=${size},FRAME-RATE=25.000,SUBTITLES="seen"\n${uri}\n`
  }

  mediaPlaylist() {
    const first = this.next - WINDOW
    const lines = [
      '#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:1', `#EXT-X-MEDIA-SEQUENCE:${first}`,
      `#EXT-X-DISCONTINUITY-SEQUENCE:${Math.floor((first - 1 - STARTED) / CLIP_SEGMENTS)}`,
      '#EXT-X-INDEPENDENT-SEGMENTS', '#EXT-X-MAP:URI="init.mp4"',
      `#EXT-X-DATERANGE:ID="event-${first}",CLASS="drover.event",START-DATE="${new Date(first * 1000).toISOString()}",DURATION=2.000`,
    ]
    for (let n = first; n < this.next; n++) {
      if (n % CLIP_SEGMENTS === 0) lines.push('#EXT-X-DISCONTINUITY')
      lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(n * 1000).toISOString()}`, '#EXTINF:1.00000,', `${n}.m4s`)
    }
    return lines.join('\n') + '\n'
  }

  init() {
    return readFile(path.join(this.folder, 'init.mp4'))
  }

  /** A second of the past, whichever. */
  segment(n) {
    return readFile(path.join(this.folder, `${n % CLIP_SEGMENTS}.m4s`))
  }

  /** The bytes of "init.mp4" or "N.m4s", or null when it has left the window. */
  async file(name) {
    if (name === 'init.mp4') return readFile(path.join(this.folder, name))
    const n = Number(/^(\d+)\.m4s$/.exec(name)?.[1])
    if (!(n >= this.next - 2 * WINDOW && n < this.next)) return null
    return readFile(path.join(this.folder, `${n % CLIP_SEGMENTS}.m4s`))
  }
}
