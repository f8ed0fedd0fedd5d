import http from 'k6/http'
import { parsePlaylist } from './m3u8.js'

/**
 * Fetches a playlist; null where it did not come.
 * @param {string} url
 * @param {string} kind the tag that thresholds go by
 */
export function getPlaylist(url, kind) {
  const response = http.get(url, { tags: { kind, name: kind }, timeout: '30s' })
  if (response.status !== 200 || typeof response.body !== 'string') return null
  return parsePlaylist(response.body, url)
}

/**
 * Fetches media, whose bytes are counted and dropped.
 * @param {string} url
 * @param {string} kind
 * @param {import('./m3u8.js').ByteRange | null} [range] of it; else the whole
 * @returns whether it came
 */
export function getMedia(url, kind, range) {
  /** @type {Record<string, string>} */
  const headers = range ? { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` } : {}
  const response = http.get(url, { headers, tags: { kind, name: kind }, responseType: 'none', timeout: '30s' })
  return response.status === (range ? 206 : 200)
}

/**
 * Fetches JSON; null where it did not come.
 * @param {string} url
 * @param {string} kind
 */
export function getJSON(url, kind) {
  const response = http.get(url, { tags: { kind, name: kind }, timeout: '30s' })
  if (response.status !== 200 || typeof response.body !== 'string') return null
  return JSON.parse(response.body)
}
