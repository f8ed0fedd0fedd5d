// A stand-in for Drover's HTTP side, for developing and testing the app: the
// cameras part of the API in memory, and real HLS from clips.

import { existsSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeCamera, offerOf } from './cameras.mjs'
import { makeClips } from './clips.mjs'
import { LiveClip } from './hls.mjs'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

export class MockServer {
  cameras = new Map()
  /** Answers to `METHOD path` that a test wants instead: (request body) => [status, body]. */
  overrides = new Map()
  /** Every request to the API with a body, as [method, path, body]. */
  requests = []
  /** Links that were made, by id. */
  shares = new Map()
  /** What players reported, as lines of CMCD. */
  reports = []
  /** Cameras whose HLS is away: id -> [status, headers]. */
  absent = new Map()
  /** Changes the bytes of a segment, where a test wants bad ones. */
  /** @type {null | ((bytes: Buffer) => void)} */
  spoil = null
  /** What is recorded, by camera. */
  archives = new Map()
  /** Paths below /archive that were asked for. */
  archived = []
  /** The first recorded source is in a codec that no browser has heard of. */
  strangeCodec = false
  /** How long a piece of an export takes. */
  clipDelayMs = 0
  port = 0
  url = ''

  constructor() {
    this.policy = contentPolicy()
  }

  async start(port = this.port) {
    this.clips ??= Object.fromEntries(Object.entries(await makeClips()).map(([name, folder]) => [name, new LiveClip(folder, name)]))
    this.server = http.createServer((req, res) => {
      this.answer(req, res).catch((err) => {
        console.error('mock server:', err)
        res.destroy()
      })
    })
    await new Promise((resolve, reject) => this.server.once('error', reject).listen(port, '127.0.0.1', resolve))
    this.port = this.server.address().port
    this.url = `http://127.0.0.1:${this.port}`
  }

  /** As when the process ends: connections are cut. */
  async stop() {
    const closed = new Promise((resolve) => this.server.close(resolve))
    this.server.closeAllConnections()
    await closed
  }

  add(camera) {
    this.cameras.set(camera.id, camera)
  }

  async answer(req, res) {
    const { pathname, searchParams } = new URL(req.url, 'http://mock')
    const bookmarks = /^\/api\/v1\/cameras\/([^/]+)\/bookmarks(?:\/(\d+))?$/.exec(pathname)
    if (bookmarks) return this.bookmark(req, res, bookmarks[1], bookmarks[2])
    const recordings = /^\/api\/v1\/cameras\/([^/]+)\/recordings(\/days)?$/.exec(pathname)
    if (recordings) return this.recordings(res, recordings[1], recordings[2] !== undefined, searchParams)
    if (pathname.startsWith('/archive/')) return this.archive(req, res, pathname.split('/').slice(2), searchParams)
    if (pathname.startsWith('/api/v1/')) return this.api(req, res, pathname.slice('/api/v1'.length))
    if (req.method === 'POST' && /^\/hls\/[^/]+\/cmcd$/.test(pathname)) return this.collect(req, res)
    if (pathname.startsWith('/hls/')) return this.hls(res, pathname.split('/').slice(2))
    return this.app(res, pathname)
  }

  async api(req, res, where) {
    const body = await readBody(req)
    if (req.method !== 'GET') this.requests.push([req.method, where, body])
    const override = this.overrides.get(`${req.method} ${where}`)
    if (override) return json(res, ...(await override(body)))
    const [, kind, id, action] = where.split('/')
    if (kind === 'probe') return this.probe(res, body)
    if (kind === 'shares') return this.share(req, res, body, id)
    if (kind !== 'cameras') return problem(res, 404, 'Not found', `there is nothing at ${where}`)
    if (id === undefined) return req.method === 'POST' ? this.create(res, body) : json(res, 200, { cameras: this.list() })
    const camera = this.cameras.get(id)
    if (!camera) return problem(res, 404, 'Not found', 'no camera of this id')
    if (action === 'restart') return res.writeHead(204).end()
    if (req.method === 'GET') return json(res, 200, camera)
    if (camera.read_only) return problem(res, 409, 'Conflict', 'the camera comes from the configuration file and is changed there')
    if (req.method === 'DELETE') this.cameras.delete(id)
    else this.add(makeCamera({ ...camera, status: undefined, ...body }))
    return req.method === 'DELETE' ? res.writeHead(204).end() : json(res, 200, this.cameras.get(id))
  }

  share(req, res, body, id) {
    if (req.method === 'DELETE') return res.writeHead(this.shares.delete(id) ? 204 : 404).end()
    if (req.method === 'GET') return json(res, 200, { shares: [...this.shares.values()] })
    const share = { id: `share${this.shares.size}`, camera: body.camera, action: body.action, name: body.name, expires_at: new Date(Date.now() + 7 * 86_400_000).toISOString(), max_viewers: body.max_viewers, viewers: 0 }
    this.shares.set(share.id, share)
    return json(res, 201, { ...share, token: 'TOKEN', watch: `/s/TOKEN/watch/${body.camera}` })
  }

  list() {
    for (const camera of this.cameras.values()) {
      for (const source of camera.status.sources) if (source.state === 'live') source.last_frame_at = new Date().toISOString()
    }
    return [...this.cameras.values()]
  }

  create(res, spec) {
    if (this.cameras.has(spec.id)) return problem(res, 409, 'Conflict', 'a camera of this id exists already')
    this.add(makeCamera(spec))
    return json(res, 201, this.cameras.get(spec.id))
  }

  probe(res, { url }) {
    const offer = offerOf(url)
    if (offer) return json(res, 200, { ok: true, transport: 'tcp', tracks: offer.tracks, gop_seconds: 2, step: '', error: '' })
    const error = 'connect: the camera refuses the connection: is RTSP switched on in it?'
    return json(res, 200, { ok: false, transport: '', tracks: [], gop_seconds: 0, step: 'connect', error })
  }

  async collect(req, res) {
    let text = ''
    for await (const piece of req) text += piece
    this.reports.push(...text.trim().split('\n'))
    return res.writeHead(204).end()
  }

  async hls(res, [id, ...rest]) {
    const camera = this.cameras.get(id)
    const away = this.absent.get(id)
    if (away) return problem(res, away[0], 'Not yet', 'the camera has sent nothing so far', away[1])
    if (!camera) return problem(res, 404, 'Not found', 'no camera of this id')
    // Without parts low latency is whole segments too.
    if (['index.m3u8', 'live.m3u8'].includes(rest.join('/'))) return playlist(res, this.multivariant(camera), 5)
    const clip = this.clips[rest[0]]
    if (clip && rest[1] === 'media.m3u8') return playlist(res, clip.mediaPlaylist(), 1)
    const bytes = clip ? await clip.file(rest[1]) : null
    if (!bytes) return problem(res, 404, 'Not found', 'the segment has left the window')
    res.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': bytes.length, 'Cache-Control': 'public, max-age=3600, immutable' })
    if (rest[1] !== 'init.mp4') this.spoil?.(bytes)
    return res.end(bytes)
  }

  recordings(res, id, isDays, query) {
    const override = this.overrides.get('GET recordings')
    if (override) return json(res, ...override(query))
    const archive = this.archives.get(id)
    if (isDays) return json(res, 200, archive?.days(query) ?? { days: [] })
    return json(res, 200, archive?.recordings(query) ?? { spans: [], gaps: [], bookmarks: [] })
  }

  async bookmark(req, res, id, number) {
    const archive = this.archives.get(id)
    const body = await readBody(req)
    this.requests.push([req.method, `/cameras/${id}/bookmarks${number ? `/${number}` : ''}`, body])
    if (req.method === 'DELETE') {
      archive.bookmarks = archive.bookmarks.filter((mark) => String(mark.id) !== number)
      return res.writeHead(204).end()
    }
    const mark = { id: 100 + archive.bookmarks.length, kind: 'user', name: body.name ?? '', keep: body.keep ?? false, from: Date.parse(body.from), to: Date.parse(body.to) }
    archive.bookmarks.push(mark)
    return json(res, 201, mark)
  }

  async archive(req, res, [id, ...rest], query) {
    const archive = this.archives.get(id)
    const offer = offerOf(this.cameras.get(id)?.sources[0].url ?? '')
    const name = rest.join('/')
    this.archived.push(`${name}?${query}`)
    const clip = this.clips[offer?.clips[0]]
    if (!archive || !clip) return problem(res, 404, 'No recording', 'nothing is recorded between these times')
    if (name === 'index.m3u8') {
      const text = archive.playlist(query)?.replaceAll('clip/', query.get('source') === 'sub' ? 'clip/' : 'main/')
      return text ? playlist(res, text, 1) : problem(res, 404, 'No recording', 'nothing is recorded between these times')
    }
    if (rest[0] === 'main' && rest[1] === 'init.mp4' && this.strangeCodec) return send(res, Buffer.from((await clip.init()).toString('latin1').replace('avc1', 'hvc1').replace('avcC', 'hvcC'), 'latin1'))
    if (rest[0] === 'clip' || rest[0] === 'main') return send(res, rest[1] === 'init.mp4' ? await clip.init() : await clip.segment(Number.parseInt(rest[1], 10)))
    if (name === 'frame') {
      const [n] = archive.segments(Number(query.get('at')) - 1000, Number(query.get('at')) + 1)
      if (n === undefined) return problem(res, 404, 'No recording', 'nothing is recorded at this time')
      return send(res, Buffer.concat([await clip.init(), await clip.segment(n)]), { 'Drover-Frame-Time': new Date(n * 1000).toISOString() })
    }
    const segments = archive.segments(Number(query.get('from')), Number(query.get('to')))
    if (segments.length === 0) return problem(res, 404, 'No recording', 'nothing is recorded between these times')
    const bytes = Buffer.concat([await clip.init(), ...(await Promise.all(segments.map((n) => clip.segment(n))))])
    if (name === 'clip.mp4.sha256') return res.writeHead(200, { 'Content-Type': 'text/plain' }).end(`${createHash('sha256').update(bytes).digest('hex')}  clip.mp4\n`)
    res.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': bytes.length, ETag: '"clip"' })
    for (let at = 0; at < bytes.length && !res.destroyed; at += 200_000) {
      res.write(bytes.subarray(at, at + 200_000))
      if (this.clipDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.clipDelayMs))
    }
    return res.end()
  }

  multivariant(camera) {
    let text = '#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS\n'
    text += '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="seen",NAME="What is seen",DEFAULT=NO,AUTOSELECT=NO,FORCED=NO,URI="boxes.m3u8"\n'
    camera.sources.forEach((source, i) => {
      const offer = offerOf(source.url)
      if (offer?.h265) text += '#EXT-X-STREAM-INF:BANDWIDTH=3100000,CODECS="hvc1.1.6.L120.B0,mp4a.40.2",RESOLUTION=2560x1440\nhevc/media.m3u8\n'
      else if (offer) text += (i > 0 ? this.clips.small : this.clips[offer.clips[0]]).streamInf(`${i > 0 ? 'small' : offer.clips[0]}/media.m3u8`)
    })
    return text
  }

  async app(res, pathname) {
    const page = pathname === '/' || /^(\/s\/[^/]+)?\/(camera|watch)\/[^/]+$/.test(pathname)
    const file = page ? 'index.html' : path.normalize(pathname).slice(1)
    if (!existsSync(path.join(DIST, file))) return res.writeHead(404).end('not found')
    const headers = { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream', 'Content-Security-Policy': `${this.policy}'none'` }
    if (pathname.includes('/watch/')) headers['Content-Security-Policy'] = `${this.policy}*`
    res.writeHead(200, headers)
    return res.end(await readFile(path.join(DIST, file)))
  }
}

/** The policy that the real server sends, read from where it is written. */
function contentPolicy() {
  const source = readFileSync(new URL('../../web.go', import.meta.url), 'utf8')
  const [, expression] = /contentPolicy = ([^\n]*(?:\n\s*"[^\n]*)*)/.exec(source)
  return [...expression.matchAll(/"([^"]*)"/g)].map((match) => match[1]).join('')
}

async function readBody(req) {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : null
}

function json(res, status, body, headers = {}) {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store', ...headers })
  res.end(JSON.stringify(body))
}

function problem(res, status, title, detail, headers = {}) {
  json(res, status, { type: 'about:blank', title, status, detail }, { 'Content-Type': 'application/problem+json', ...headers })
}

function send(res, bytes, headers = {}) {
  res.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': bytes.length, 'Cache-Control': 'public, max-age=3600', ...headers })
  res.end(bytes)
}

function playlist(res, text, maxAge) {
  res.writeHead(200, { 'Content-Type': 'application/vnd.apple.mpegurl', 'Cache-Control': `public, max-age=${maxAge}` })
  res.end(text)
}
