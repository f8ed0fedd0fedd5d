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
 * @returns whether it came
 */
export function getMedia(url, kind) {
  const response = http.get(url, { tags: { kind, name: kind }, responseType: 'none', timeout: '30s' })
  return response.status === 200
}
