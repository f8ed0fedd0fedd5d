import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { download } from '../../src/api/download'

let server: Server | null = null

afterEach(() => server?.close())

async function serve(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  server = createServer(answer)
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server?.address() as AddressInfo).port}/clip.mp4`
}

const content = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251))
const signal = new AbortController().signal

test('a connection that breaks off is taken up where it was, and the file is whole', async () => {
  const ranges: (string | undefined)[] = []
  const url = await serve((req, res) => {
    ranges.push(req.headers.range)
    const from = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0)
    const part = content.subarray(from)
    res.writeHead(from > 0 ? 206 : 200, { 'Content-Length': part.length, ETag: '"v1"' })
    if (ranges.length < 3) res.write(part.subarray(0, 60_000), () => res.destroy())
    else res.end(part)
  })
  const progress: number[] = []
  const blob = await download(url, { signal, onProgress: (done) => progress.push(done) })
  expect(Buffer.from(await blob.arrayBuffer()).equals(content)).toBe(true)
  expect(ranges).toEqual([undefined, 'bytes=60000-', 'bytes=120000-'])
  expect(progress.at(-1)).toBe(content.length)
  expect(progress).toEqual([...progress].sort((a, b) => a - b))
})

test('a file that has become another is not glued together', async () => {
  let requests = 0
  const url = await serve((_req, res) => {
    res.writeHead(200, { 'Content-Length': content.length, ETag: `"v${++requests}"` })
    res.write(content.subarray(0, 50_000), () => res.destroy())
  })
  await expect(download(url, { signal, onProgress: () => {} })).rejects.toThrow('has changed meanwhile')
})

test('what the server refuses is said in its words', async () => {
  const url = await serve((_req, res) => {
    res.writeHead(404, { 'Content-Type': 'application/problem+json' })
    res.end(JSON.stringify({ title: 'No recording', detail: 'nothing is recorded between these times' }))
  })
  await expect(download(url, { signal, onProgress: () => {} })).rejects.toThrow('nothing is recorded between these times')
})

test('a server that goes on breaking off is given up', async () => {
  const url = await serve((req, res) => res.writeHead(req.headers.range ? 206 : 200, { 'Content-Length': 10, ETag: '"a"' }).write('x', () => res.destroy()))
  await expect(download(url, { signal, onProgress: () => {}, retries: 1 })).rejects.toThrow('broke off')
})
