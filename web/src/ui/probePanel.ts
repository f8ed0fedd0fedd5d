import { probe, type ProbeInput } from '../api/client'
import { RequestError } from '../api/problem'
import type { ProbeResult, Track } from '../api/types'
import { isVideo, sentence, trackParts } from '../logic/stateText'
import { codecName, unplayableMessage } from '../player/codecs'
import { h } from './dom'
import { icon } from './icons'

/** Shows what a camera offers, or why it could not be asked. */
export class ProbePanel {
  readonly element: HTMLElement
  private asking: AbortController | null = null

  constructor(testId: string) {
    this.element = h('div', { class: 'probe', testId: `${testId}-result`, attrs: { role: 'status', 'aria-live': 'polite' } })
    this.element.hidden = true
  }

  clear(): void {
    this.asking?.abort()
    this.asking = null
    this.element.hidden = true
    this.element.replaceChildren()
    delete this.element.dataset.result
  }

  /** Asks the camera; true if something of it can be played. */
  async run(input: ProbeInput): Promise<boolean> {
    this.clear()
    const asking = new AbortController()
    this.asking = asking
    this.fill('asking', h('p', { class: 'probe-line' }, h('span', { class: 'spinner' }), 'Asking the camera what it offers…'))
    try {
      const result = await probe(input, asking.signal)
      if (asking.signal.aborted) return false
      return this.showResult(result)
    } catch (err) {
      if (asking.signal.aborted) return false
      this.showFailure(err instanceof RequestError ? err : new RequestError('The answer could not be read', 0))
      return false
    }
  }

  private showResult(result: ProbeResult): boolean {
    const playable = result.tracks.some((track) => track.playable && isVideo(track))
    const head = playable ? 'The camera answers' : 'The camera answers, but sends no picture that can be played'
    const transport = result.transport === '' || result.transport === 'auto' ? '' : ` over ${result.transport.toUpperCase()}`
    this.fill(
      playable ? 'ok' : 'unplayable',
      h('p', { class: 'probe-line' }, icon(playable ? 'check' : 'warning'), head + (playable ? transport : '')),
      h('ul', { class: 'tracks' }, ...result.tracks.map(trackLine)),
      this.browserNote(result.tracks),
    )
    return playable
  }

  /** H.265 is served, but not every browser plays it: better said before than after. */
  private browserNote(tracks: Track[]): HTMLElement | null {
    const h265 = tracks.some((track) => codecName(track.codec) === 'H.265')
    const plays = window.MediaSource?.isTypeSupported('video/mp4; codecs="hvc1.1.6.L120.90"') ?? false
    return h265 && !plays ? h('p', { class: 'probe-note', text: unplayableMessage(['H.265']) }) : null
  }

  private showFailure(err: RequestError): void {
    this.fill(
      'failed',
      h('p', { class: 'probe-line' }, icon('warning'), h('span', { text: sentence(err.message) })),
    )
  }

  private fill(result: string, ...children: (HTMLElement | null)[]): void {
    this.element.dataset.result = result
    this.element.replaceChildren(...children.filter((child) => child !== null))
    this.element.hidden = false
  }
}

export function trackLine(track: Track): HTMLElement {
  return h(
    'li',
    { class: track.playable ? 'track' : 'track unplayable', testId: 'track' },
    h('span', { class: 'track-kind', text: isVideo(track) ? 'Video' : track.sampleRate > 0 || track.playable ? 'Audio' : 'Track' }),
    h('span', { class: 'track-text' }, ...trackParts(track, true).flatMap((part, i) => [i > 0 ? ' · ' : '', h('span', { text: part })])),
    track.playable ? null : h('span', { class: 'track-reason', text: track.reason || 'cannot be played: left out' }),
    track.note === '' ? null : h('span', { class: 'track-reason', text: track.note }),
  )
}
