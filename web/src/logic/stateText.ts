import type { Camera, SourceStatus, State, Track } from '../api/types'
import { codecName } from '../player/codecs'
import { formatBitrate, formatFPS, formatSampleRate, formatSeconds } from './format'

const WORDS: Record<State, string> = {
  live: 'Live',
  connecting: 'Connecting',
  stalled: 'Stalled',
  backoff: 'Backoff',
  disabled: 'Disabled',
  idle: 'Idle',
}

export function stateWord(state: State): string {
  return WORDS[state]
}

/** What the state means to somebody who waits for a picture; "" while it is live. */
export function stateReason(camera: Camera, nowMs: number): string {
  const { status } = camera
  switch (status.state) {
    case 'live':
      return ''
    case 'connecting':
      // Why the last try failed is what is of use, for as long as this one has not worked.
      return status.error.trim() === '' ? 'Waiting for the camera’s first picture' : `Connecting again: ${status.error.trim().replace(/\.$/, '')}`
    case 'stalled':
      return sentence(status.error) || 'The camera is connected, but sends no picture'
    case 'backoff':
      return joinSentences(sentence(status.error) || 'The camera could not be reached', nextTry(status.nextTryAt, nowMs))
    case 'disabled':
      return 'Switched off: edit the camera to enable it'
    case 'idle':
      return 'Connects when somebody watches'
  }
}

/** The same for the picture itself: without the words of the machine at the end of an error. */
export function shortReason(camera: Camera, nowMs: number): string {
  return stateReason(withShortError(camera), nowMs)
}

/**
 * The same for screen readers, which speak each change: without what counts down,
 * and the same while the camera is tried again and again.
 */
export function spokenReason(camera: Camera): string {
  const { status } = withShortError(camera)
  const isAway = status.state === 'backoff' || (status.state === 'connecting' && status.error.trim() !== '')
  if (isAway) return sentence(status.error) || 'The camera could not be reached'
  return stateReason(camera, 0)
}

function withShortError(camera: Camera): Camera {
  return { ...camera, status: { ...camera.status, error: withoutParenthesis(camera.status.error) } }
}

/** "refused (dial tcp: refused)" without the parenthesis that it ends in, and others in that. */
function withoutParenthesis(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '')
  if (!trimmed.endsWith(')')) return text
  let depth = 0
  for (let i = trimmed.length - 1; i > 0; i--) {
    if (trimmed[i] === ')') depth++
    else if (trimmed[i] === '(' && --depth === 0) return trimmed.slice(0, i).trim()
  }
  return text
}

function nextTry(at: Date | null, nowMs: number): string {
  if (!at) return ''
  const seconds = Math.round((at.getTime() - nowMs) / 1000)
  return seconds > 0 ? `Next try in ${formatSeconds(seconds)}` : 'Trying again now'
}

function joinSentences(first: string, second: string): string {
  return second === '' ? first : `${first}${/[?!]$/.test(first) ? '' : '.'} ${second}`
}

/** A server's text as a sentence of the page. */
export function sentence(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '')
  return trimmed === '' ? '' : trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
}

export function isVideo(track: Track): boolean {
  return track.width > 0 || /^(h26[45]|hevc|avc|av1|vp[89]|m?jpeg|mpeg-?4)/i.test(track.codec)
}

/** "H.264 · 1920×1080 · 25 fps" or "AAC · 48 kHz". */
export function trackText(track: Track): string {
  return trackParts(track, false).join(' · ')
}

/** What is known of a track, piece by piece. */
export function trackParts(track: Track, withBitrate: boolean): string[] {
  return [
    (codecName(track.codec) || 'unknown codec') + (track.deliveredAs === '' ? '' : ` as ${codecName(track.deliveredAs)}`),
    track.width > 0 ? `${track.width}×${track.height}` : '',
    track.fps > 0 ? formatFPS(track.fps) : '',
    track.sampleRate > 0 ? formatSampleRate(track.sampleRate) : '',
    withBitrate && track.bitrateBPS > 0 ? formatBitrate(track.bitrateBPS) : '',
  ].filter(Boolean)
}

/** Whether there is MPEG-TS of a camera: what plays there is its picture, with or without its sound. */
export function hasMPEGTS(sources: SourceStatus[]): boolean {
  return sources.some((source) => source.tracks.some((track) => track.mpegts && isVideo(track)))
}

/** What a tile says below the name: the picture of the main source. */
export function pictureText(sources: SourceStatus[]): string {
  const track = sources.flatMap((source) => source.tracks).find(isVideo)
  return track ? trackText(track) : ''
}
