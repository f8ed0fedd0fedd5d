import { API_TIMEOUT_MS, PROBE_TIMEOUT_MS } from '../config'
import { problemError, RequestError, UNREACHABLE } from './problem'
import { readCamera, readCameras, readGivenShare, readProbe, readShares } from './read'
import type { Camera, CameraInput, GivenShare, ProbeResult, Share, ShareInput, Transport } from './types'

const BASE = '/api/v1'

interface CallOptions {
  method?: string
  body?: unknown
  contentType?: string
  timeoutMs?: number
  signal?: AbortSignal | undefined
}

export async function call(path: string, options: CallOptions = {}): Promise<unknown> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? API_TIMEOUT_MS)
  const signal = options.signal ? anySignal([options.signal, timeout]) : timeout
  const headers: Record<string, string> = { Accept: 'application/json' }
  const init: RequestInit = { method: options.method ?? 'GET', headers, signal, cache: 'no-store' }
  if (options.body !== undefined) {
    headers['Content-Type'] = options.contentType ?? 'application/json'
    init.body = JSON.stringify(options.body)
  }
  let response: Response
  let answer: string
  try {
    response = await fetch(BASE + path, init)
    answer = await response.text()
  } catch (err) {
    if (options.signal?.aborted) throw err
    throw new RequestError(timeout.aborted ? 'The server did not answer in time' : UNREACHABLE, 0)
  }
  const parsed = parse(answer)
  if (!response.ok) throw problemError(response.status, parsed)
  return parsed
}

// AbortSignal.any is younger than some tablets on walls.
function anySignal(signals: AbortSignal[]): AbortSignal {
  const both = new AbortController()
  for (const signal of signals) {
    if (signal.aborted) both.abort(signal.reason)
    signal.addEventListener('abort', () => both.abort(signal.reason), { once: true, signal: both.signal })
  }
  return both.signal
}

function parse(answer: string): unknown {
  try {
    return JSON.parse(answer)
  } catch {
    return null // a proxy's page, or no body
  }
}

export function cameraPath(id: string): string {
  return `/cameras/${encodeURIComponent(id)}`
}

export async function listCameras(signal?: AbortSignal): Promise<Camera[]> {
  return readCameras(await call('/cameras', { signal }))
}

export async function getCamera(id: string, signal?: AbortSignal): Promise<Camera> {
  return readCamera(await call(cameraPath(id), { signal }))
}

export async function addCamera(input: CameraInput): Promise<Camera> {
  return readCamera(await call('/cameras', { method: 'POST', body: input }))
}

export async function changeCamera(id: string, changes: Partial<Omit<CameraInput, 'id'>>): Promise<Camera> {
  return readCamera(await call(cameraPath(id), { method: 'PATCH', body: changes }))
}

export async function removeCamera(id: string): Promise<void> {
  await call(cameraPath(id), { method: 'DELETE' })
}

export async function restartCamera(id: string): Promise<void> {
  await call(`${cameraPath(id)}/restart`, { method: 'POST' })
}

export async function listShares(): Promise<Share[]> {
  return readShares(await call('/shares'))
}

/** Makes a link. */
export async function addShare({ camera, action, lifetime, name, maxViewers }: ShareInput): Promise<GivenShare> {
  return readGivenShare(await call('/shares', { method: 'POST', body: { camera, action, expires_in: lifetime, name, max_viewers: maxViewers } }))
}

export async function revokeShare(id: string): Promise<void> {
  await call(`/shares/${encodeURIComponent(id)}`, { method: 'DELETE' })
}

export interface ProbeInput {
  url: string
  username: string
  /** Left out: that of the stored source, if one is named. */
  password?: string
  transport: Transport
  /** The stored camera and source that the rest is a change of. */
  camera?: string
  source?: string
}

/** Asks a camera what it offers. Rejects with a RequestError when it cannot be had. */
export async function probe(input: ProbeInput, signal?: AbortSignal): Promise<ProbeResult> {
  const result = readProbe(await call('/probe', { method: 'POST', body: input, timeoutMs: PROBE_TIMEOUT_MS, signal }))
  if (result.error !== '') throw new RequestError(result.error, 200)
  return result
}
