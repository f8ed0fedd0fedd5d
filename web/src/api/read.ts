import type { Camera, GivenShare, ProbeResult, RecordingStatus, RecordMode, RecordSettings, Share, Source, SourceStatus, State, Status, Track, Transport } from './types'

// The API's answers are read field by field: one odd field costs that field,
// not the page.

type Fields = Record<string, unknown>

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function number(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

function time(value: unknown): Date | null {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN
  // Go's zero time is "never".
  return Number.isNaN(ms) || ms < 0 ? null : new Date(ms)
}

const STATES: readonly string[] = ['idle', 'connecting', 'live', 'stalled', 'backoff', 'disabled']

function state(value: unknown): State {
  return STATES.includes(text(value)) ? (value as State) : 'idle'
}

const TRANSPORTS: readonly string[] = ['auto', 'tcp', 'udp', 'multicast', 'tunnel']

function transport(value: unknown): Transport {
  return TRANSPORTS.includes(text(value)) ? (value as Transport) : 'auto'
}

function readTrack(value: unknown): Track {
  const f = fields(value)
  return {
    codec: text(f.codec),
    width: number(f.width),
    height: number(f.height),
    fps: number(f.fps),
    sampleRate: number(f.sample_rate),
    bitrateBPS: number(f.bitrate_bps),
    playable: f.playable !== false,
    reason: text(f.reason),
    deliveredAs: text(f.delivered_as),
    mpegts: f.mpegts === true,
    note: text(f.note),
  }
}

function readSourceStatus(value: unknown): SourceStatus {
  const f = fields(value)
  return {
    name: text(f.name),
    state: state(f.state),
    error: text(f.error),
    transport: text(f.transport),
    tracks: list(f.tracks).map(readTrack),
    gopSeconds: number(f.gop_seconds),
    lastFrameAt: time(f.last_frame_at),
    nextTryAt: time(f.next_try_at),
    reconnects: number(f.reconnects),
    lostPackets: number(f.lost_packets),
  }
}

const MODES: readonly string[] = ['off', 'continuous', 'event', 'schedule']

function recordMode(value: unknown): RecordMode {
  return MODES.includes(text(value)) ? (value as RecordMode) : 'off'
}

function readRecord(value: unknown): RecordSettings {
  const f = fields(value)
  const schedule = fields(f.schedule)
  return { mode: recordMode(f.mode), maxAge: text(f.max_age), maxBytes: number(f.max_bytes), sources: list(f.sources).map(text).filter(Boolean), hours: list(schedule.spans).map(text).filter(Boolean), zone: text(schedule.zone) }
}

const RECORDING_STATES: readonly string[] = ['off', 'recording', 'waiting', 'failed']

function readRecording(status: Fields, mode: RecordMode): RecordingStatus {
  const state = text(status.recording_state)
  return {
    mode,
    state: RECORDING_STATES.includes(state) ? (state as RecordingStatus['state']) : 'off',
    reason: text(status.recording_reason),
  }
}

function readStatus(value: unknown, record: RecordSettings): Status {
  const f = fields(value)
  const sources = list(f.sources).map(readSourceStatus)
  return {
    state: state(f.state),
    since: time(f.since),
    error: text(f.error) || (sources.find((source) => source.error !== '')?.error ?? ''),
    nextTryAt: time(f.next_try_at) ?? sources.find((source) => source.nextTryAt)?.nextTryAt ?? null,
    sources,
    viewers: number(f.viewers),
    recording: readRecording(f, record.mode),
  }
}

function readSource(value: unknown): Source {
  const f = fields(value)
  return {
    name: text(f.name),
    url: text(f.url),
    username: text(f.username),
    transport: transport(f.transport),
    hasPassword: f.has_password === true,
  }
}

export function readCamera(value: unknown): Camera {
  const f = fields(value)
  const record = readRecord(f.record)
  return {
    id: text(f.id),
    name: text(f.name),
    enabled: f.enabled !== false,
    onDemand: f.on_demand === true,
    readOnly: f.read_only === true,
    sources: list(f.sources).map(readSource),
    record,
    status: readStatus(f.status, record),
  }
}

export function readCameras(value: unknown): Camera[] {
  return list(fields(value).cameras).map(readCamera).filter((camera) => camera.id !== '')
}

/** Reads what a probe found. That a camera cannot be asked is an answer, too: then error is not empty. */
export function readProbe(value: unknown): ProbeResult & { error: string } {
  const f = fields(value)
  return {
    transport: text(f.transport),
    tracks: list(f.tracks).map(readTrack),
    gopSeconds: number(f.gop_seconds),
    error: text(f.error),
  }
}

function readShare(value: unknown): Share {
  const f = fields(value)
  return { id: text(f.id), camera: text(f.camera), action: f.action === 'archive' ? 'archive' : 'watch', name: text(f.name), expiresAt: time(f.expires_at), maxViewers: number(f.max_viewers), viewers: number(f.viewers) }
}

export function readShares(value: unknown): Share[] {
  return list(fields(value).shares).map(readShare)
}

export function readGivenShare(value: unknown): GivenShare {
  const f = fields(value)
  return { ...readShare(value), watch: text(f.watch), token: text(f.token) }
}
