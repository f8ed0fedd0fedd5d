// What the scripts need to know of a playlist (RFC 8216bis).

/**
 * @typedef {{ uri: string, duration: number, independent: boolean }} Part
 * @typedef {{ offset: number, length: number }} ByteRange
 * @typedef {{ uri: string, range: ByteRange | null, sequence: number, duration: number, startedMs: number | null, parts: Part[] }} Segment
 *   startedMs is its EXT-X-PROGRAM-DATE-TIME, written or counted on from the one before.
 * @typedef {{
 *   variants: string[],
 *   target: number,
 *   sequence: number,
 *   map: string | null,
 *   mapRange: ByteRange | null,
 *   segments: Segment[],
 *   open: Segment | null,
 *   partTarget: number,
 *   hint: string | null,
 *   canBlock: boolean,
 * }} Playlist
 *   open is the segment that is not whole yet, of which there are parts. Durations are in seconds.
 */

/**
 * Reads a playlist of either kind, whose URIs become absolute.
 * @param {string} text
 * @param {string} url where it came from
 * @returns {Playlist}
 */
export function parsePlaylist(text, url) {
  if (!text.startsWith('#EXTM3U')) throw new Error(`not a playlist: ${url}`)
  /** @type {Playlist} */
  const playlist = {
    variants: [], target: 0, sequence: 0, map: null, mapRange: null, segments: [], open: null, partTarget: 0, hint: null, canBlock: false,
  }
  let sequence = 0
  let duration = 0
  let isVariant = false
  /** @type {number | null} */
  let clockMs = null
  /** @type {Part[]} */
  let parts = []
  /** @type {ByteRange | null} */
  let range = null
  let rangeEnd = 0
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    const [tag = '', rest = ''] = cut(line, ':')
    if (line === '') continue
    if (!line.startsWith('#')) {
      const uri = resolve(url, line)
      if (isVariant) {
        playlist.variants.push(uri)
        isVariant = false
        continue
      }
      playlist.segments.push({ uri, range, sequence, duration, startedMs: clockMs, parts })
      range = null
      sequence++
      if (clockMs !== null) clockMs += duration * 1000
      parts = []
      continue
    }
    switch (tag) {
      case '#EXT-X-STREAM-INF':
        isVariant = true
        break
      case '#EXT-X-TARGETDURATION':
        playlist.target = Number(rest)
        break
      case '#EXT-X-MEDIA-SEQUENCE':
        sequence = Number(rest)
        playlist.sequence = sequence
        break
      case '#EXT-X-MAP':
        playlist.map = resolve(url, attribute(rest, 'URI'))
        playlist.mapRange = byteRange(attribute(rest, 'BYTERANGE'), 0)
        break
      case '#EXT-X-PROGRAM-DATE-TIME':
        clockMs = Date.parse(rest)
        break
      case '#EXTINF':
        duration = Number.parseFloat(rest)
        break
      case '#EXT-X-BYTERANGE':
        range = byteRange(rest, rangeEnd)
        rangeEnd = range ? range.offset + range.length : 0
        break
      case '#EXT-X-SERVER-CONTROL':
        playlist.canBlock = attribute(rest, 'CAN-BLOCK-RELOAD') === 'YES'
        break
      case '#EXT-X-PART-INF':
        playlist.partTarget = Number(attribute(rest, 'PART-TARGET'))
        break
      case '#EXT-X-PART':
        parts.push({
          uri: resolve(url, attribute(rest, 'URI')),
          duration: Number(attribute(rest, 'DURATION')),
          independent: attribute(rest, 'INDEPENDENT') === 'YES',
        })
        break
      case '#EXT-X-PRELOAD-HINT':
        if (attribute(rest, 'TYPE') === 'PART') playlist.hint = resolve(url, attribute(rest, 'URI'))
        break
    }
  }
  if (parts.length > 0) playlist.open = { uri: '', range: null, sequence, duration: 0, startedMs: clockMs, parts }
  return playlist
}

/**
 * The value of a tag's attribute, without quotes; "" if it is not there.
 * @param {string} list
 * @param {string} name
 */
function attribute(list, name) {
  const match = new RegExp(`(?:^|,)${name}=(?:"([^"]*)"|([^,]*))`).exec(list)
  return match ? match[1] ?? match[2] ?? '' : ''
}

/**
 * Reads LENGTH[@OFFSET] (RFC 8216bis 4.4.4.2); null where there is none.
 * @param {string} text
 * @param {number} next where it begins if it does not say so
 * @returns {ByteRange | null}
 */
function byteRange(text, next) {
  if (text === '') return null
  const [length = '', offset = ''] = cut(text, '@')
  return { length: Number(length), offset: offset === '' ? next : Number(offset) }
}

/**
 * @param {string} text
 * @param {string} at
 */
function cut(text, at) {
  const i = text.indexOf(at)
  return i < 0 ? [text, ''] : [text.slice(0, i), text.slice(i + 1)]
}

/**
 * The absolute URL of a reference in a playlist.
 * @param {string} base
 * @param {string} reference
 */
export function resolve(base, reference) {
  if (/^https?:\/\//.test(reference)) return reference
  const origin = /^https?:\/\/[^/?#]+/.exec(base)?.[0] ?? ''
  if (reference.startsWith('/')) return origin + reference
  const path = base.slice(origin.length).replace(/[?#].*$/, '')
  return origin + path.slice(0, path.lastIndexOf('/') + 1) + reference
}
