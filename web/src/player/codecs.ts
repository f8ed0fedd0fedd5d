import type { Variant } from './multivariant'

/** Answers MediaSource.isTypeSupported, which tests replace. */
export type TypeSupported = (mime: string) => boolean

/** What a browser can do with the variants of a camera. */
export interface Playability {
  /** Variants it can play, in the playlist's order. */
  playable: Variant[]
  /** Codecs, as people name them, that keep it from playing the others. */
  missing: string[]
}

export function checkPlayability(variants: Variant[], supported: TypeSupported): Playability {
  const playable: Variant[] = []
  const missing = new Set<string>()
  for (const variant of variants) {
    const unknown = variant.codecs.filter((codec) => !supported(mimeOf(codec)))
    if (unknown.length === 0) playable.push(variant)
    for (const codec of unknown) missing.add(codecName(codec))
  }
  return { playable, missing: [...missing] }
}

function mimeOf(codec: string): string {
  return `${isAudio(codec) ? 'audio' : 'video'}/mp4; codecs="${codec}"`
}

function isAudio(codec: string): boolean {
  return /^(mp4a|ac-3|ec-3|opus|flac)/i.test(codec)
}

/** A codec as people name it: "H.265" for "hvc1.1.6.L120.90". */
export function codecName(codec: string): string {
  const family = codec.toLowerCase().split('.')[0] ?? ''
  switch (family) {
    case 'avc1':
    case 'avc3':
    case 'h264':
      return 'H.264'
    case 'hvc1':
    case 'hev1':
    case 'h265':
    case 'hevc':
      return 'H.265'
    case 'av01':
    case 'av1':
      return 'AV1'
    case 'vp09':
    case 'vp9':
      return 'VP9'
    case 'mp4a':
    case 'aac':
      return 'AAC'
    case 'opus':
      return 'Opus'
    case 'flac':
      return 'FLAC'
    default:
      return codec
  }
}

/** What to tell somebody whose browser plays none of a camera's variants. */
export function unplayableMessage(missing: string[]): string {
  const names = missing.join(' or ')
  if (missing.includes('H.265')) {
    return (
      `This browser cannot play ${names}. Try Safari, or Firefox or Edge with hardware support, ` +
      'or set the camera’s stream to H.264.'
    )
  }
  return `This browser cannot play ${names || 'this stream'}. Try another browser, or set the camera’s stream to H.264 with AAC.`
}

/** What to tell somebody who sees one of the camera's other sources instead, or null. */
export function fallbackMessage({ playable, missing }: Playability): string | null {
  const shown = playable[0]
  if (missing.length === 0 || !shown) return null
  const size = shown.height > 0 ? `, ${shown.width}×${shown.height}` : ''
  const name = shown.codecs.map(codecName).find((codec) => codec !== 'AAC') ?? 'other'
  return `This browser cannot play ${missing.join(' or ')}: the camera’s ${name} source is shown instead${size}.`
}
