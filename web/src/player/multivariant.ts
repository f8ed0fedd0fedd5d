/** One variant of a multivariant playlist, as far as choosing needs it. */
export interface Variant {
  /** RFC 6381 names, video and audio mixed; empty when the playlist names none. */
  codecs: string[]
  width: number
  height: number
  uri: string
}

/**
 * The variants of a multivariant playlist; none for a media playlist.
 * hls.js reads it again and properly: this asks only what can be played.
 */
export function parseMultivariant(playlist: string): Variant[] {
  const variants: Variant[] = []
  let pending: Omit<Variant, 'uri'> | null = null
  for (const raw of playlist.split('\n')) {
    const line = raw.trim()
    if (line.startsWith('#EXT-X-STREAM-INF:')) {
      pending = readAttributes(line)
    } else if (pending && line !== '' && !line.startsWith('#')) {
      variants.push({ ...pending, uri: line })
      pending = null
    }
  }
  return variants
}

function readAttributes(line: string): Omit<Variant, 'uri'> {
  const codecs = /[:,]CODECS="([^"]*)"/.exec(line)?.[1] ?? ''
  const size = /[:,]RESOLUTION=(\d+)x(\d+)/.exec(line)
  return {
    codecs: codecs.split(',').map((codec) => codec.trim()).filter((codec) => codec !== ''),
    width: Number(size?.[1] ?? 0),
    height: Number(size?.[2] ?? 0),
  }
}
