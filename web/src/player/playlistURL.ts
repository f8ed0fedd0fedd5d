/** The multivariant playlist of ordinary HLS. The prefix is that of a share link, or "". */
export function playlistPath(cameraId: string, prefix = ''): string {
  return `${prefix}/hls/${encodeURIComponent(cameraId)}/index.m3u8`
}

/** The multivariant playlist of MPEG-TS. */
export function mpegtsPath(cameraId: string): string {
  return `/hls/${encodeURIComponent(cameraId)}/ts/index.m3u8`
}

/**
 * The multivariant playlist of low latency: for a person who looks at one camera.
 * Each player of it keeps two connections or three busy, and a browser has six to
 * a server, but over HTTP/2.
 */
export function livePlaylistPath(cameraId: string, prefix = ''): string {
  return `${prefix}/hls/${encodeURIComponent(cameraId)}/live.m3u8`
}

/**
 * Whether low latency is to be had. A player in a frame does not know how many
 * others are beside it: it needs connections that are shared.
 */
export function lowLatencyFits(framed: boolean, protocol: string): boolean {
  return !framed || protocol === 'h2' || protocol === 'h3'
}

/** The bare player page, for an iframe. */
export function watchPath(cameraId: string): string {
  return `/watch/${encodeURIComponent(cameraId)}`
}
