import { Backoff } from '../logic/backoff'
import { sleep } from '../logic/sleep'
import { problemError, RequestError, UNREACHABLE } from './problem'

export interface DownloadOptions {
  signal: AbortSignal
  /** Bytes so far, and of the whole; 0 while that is not known. */
  onProgress: (done: number, total: number) => void
  /** How often a connection that breaks off is taken up again. */
  retries?: number
}

/** Pieces of this size go to the browser's store for blobs, so that the page need not hold a whole film. */
const PIECE = 8_000_000

/**
 * Downloads a file with progress, and goes on where it was when the connection
 * breaks: by a range of the same version, or not at all.
 */
export async function download(url: string, options: DownloadOptions): Promise<Blob> {
  const { signal, onProgress, retries = 5 } = options
  const pieces: Blob[] = []
  const backoff = new Backoff({ firstMs: 500, maxMs: 8_000 })
  let done = 0
  let total = 0
  let etag = ''
  let type = 'video/mp4'
  for (let failures = 0; ; ) {
    try {
      const resumed: Record<string, string> = done > 0 ? { Range: `bytes=${done}-`, 'If-Range': etag } : {}
      const response = await fetch(url, { signal, headers: resumed, cache: 'no-store' })
      if (!response.ok) throw problemError(response.status, await response.json().catch(() => null))
      if (done > 0 && response.status !== 206) throw new RequestError('What is exported has changed meanwhile: start again', response.status)
      if (done === 0) {
        total = Number(response.headers.get('Content-Length') ?? 0)
        etag = response.headers.get('ETag') ?? ''
        type = response.headers.get('Content-Type') ?? type
      }
      await read(response, (piece) => {
        pieces.push(piece)
        done += piece.size
      }, (pending) => onProgress(done + pending, total))
      if (total === 0 || done >= total) return new Blob(pieces, { type })
    } catch (err) {
      if (signal.aborted || err instanceof RequestError) throw err
    }
    if (etag === '' || etag.startsWith('W/') || ++failures > retries) throw new RequestError(`${UNREACHABLE}: the export broke off`, 0)
    await sleep(backoff.nextMs(), signal)
  }
}

/** Reads a body to its end; what came before a failure is kept. */
async function read(response: Response, onPiece: (piece: Blob) => void, onProgress: (pending: number) => void): Promise<void> {
  const reader = response.body?.getReader()
  if (!reader) {
    onPiece(await response.blob())
    return
  }
  let parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const flush = (): void => {
    if (size > 0) onPiece(new Blob(parts))
    parts = []
    size = 0
  }
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parts.push(value)
      size += value.byteLength
      if (size >= PIECE) flush()
      onProgress(size)
    }
  } finally {
    flush()
    onProgress(0)
  }
}

/** Hands a file to the browser's downloads. */
export function save(href: string, fileName: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = fileName
  document.body.append(link)
  link.click()
  link.remove()
}
