const MAX_WIDTH = 1280

/** Keeps the last picture on a canvas under the video, which is transparent while it has none. */
export function freezeFrame(video: HTMLVideoElement, canvas: HTMLCanvasElement): void {
  if (video.videoWidth === 0 || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return
  const scale = Math.min(1, MAX_WIDTH / video.videoWidth)
  canvas.width = Math.round(video.videoWidth * scale)
  canvas.height = Math.round(video.videoHeight * scale)
  canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height)
}

/** Gives the canvas's memory back. */
export function dropFrame(canvas: HTMLCanvasElement): void {
  canvas.width = 0
  canvas.height = 0
}
