// What may be set from the command line: k6 run -e NAME=VALUE.

/** The server, or a cache in front of it. */
export const BASE = (__ENV.BASE ?? 'http://127.0.0.1:8090').replace(/\/$/, '')

/** The camera that is watched. */
export const CAMERA = __ENV.CAMERA ?? 'door'

/** What comes before /hls: that of a share link, "/s/TOKEN", or nothing. */
export const PREFIX = __ENV.PREFIX ?? ''

/**
 * @param {string} name
 * @param {number} fallback
 */
export function whole(name, fallback) {
  const n = Number(__ENV[name] ?? fallback)
  if (!Number.isInteger(n) || n < 0) throw new Error(`${name} must be a whole number`)
  return n
}

/**
 * The address of a playlist of the camera.
 * @param {string} name
 */
export function playlistURL(name) {
  return `${BASE}${PREFIX}/hls/${CAMERA}/${name}`
}
