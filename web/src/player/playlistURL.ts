/** The multivariant playlist of ordinary HLS. The prefix is that of a share link, or "". */
export function playlistPath(cameraId: string, prefix = ''): string {
  return `${prefix}/hls/${encodeURIComponent(cameraId)}/index.m3u8`
}

/** The multivariant playlist of MPEG-TS. */
export function mpegtsPath(cameraId: string): string {
  return `/hls/${encodeURIComponent(cameraId)}/ts/index.m3u8`
}

/** The bare player page, for an iframe. */
export function watchPath(cameraId: string): string {
  return `/watch/${encodeURIComponent(cameraId)}`
}
