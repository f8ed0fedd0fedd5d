// The cameras of the mock server, in memory, as the API shows them.

const video = (codec, width, height, fps, bitrate_bps) => ({ codec, width, height, fps, bitrate_bps, playable: true, mpegts: codec === 'H264' })
const AAC = { codec: 'AAC', sample_rate: 48000, bitrate_bps: 64000, playable: true, mpegts: true }
const PCMA = { codec: 'PCMA', sample_rate: 8000, playable: true, delivered_as: 'FLAC' }

/** What the simulated cameras offer, by the last word of their URL's path. */
const OFFERS = {
  door: { tracks: [video('H264', 640, 360, 25, 900_000), AAC], clips: ['door'] },
  yard: { tracks: [video('H264', 640, 360, 25, 1_200_000), PCMA], clips: ['yard'] },
  hevc: { tracks: [video('H265', 2560, 1440, 20, 3_100_000), AAC], clips: [], h265: true },
}

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString()

export function offerOf(url) {
  return OFFERS[url.replace(/\?.*/, '').split('/').pop()] ?? null
}

/** What a spec posted to the API becomes: the camera as the API shows it. */
export function makeCamera(spec) {
  const sources = spec.sources ?? [{ name: 'main', url: spec.url, username: spec.username, password: spec.password, transport: spec.transport }]
  return {
    id: spec.id,
    name: spec.name ?? '',
    enabled: spec.enabled ?? true,
    on_demand: spec.on_demand ?? false,
    origin: spec.origin ?? 'api',
    read_only: spec.origin === 'file',
    record: spec.record ?? { mode: 'off', max_age: '', max_bytes: 0 },
    sources: sources.map(({ name, url, username, password, transport }, i) => ({
      name: name ?? (i === 0 ? 'main' : 'sub'), url, username: username ?? '', has_password: Boolean(password), transport: transport ?? 'auto',
    })),
    status: spec.status ?? statusOf(spec.enabled ?? true, sources, spec.record),
  }
}

function statusOf(enabled, sources, record) {
  const state = enabled ? (offerOf(sources[0].url) ? 'live' : 'connecting') : 'disabled'
  return {
    state,
    since: ago(3),
    error: '',
    viewers: 0,
    ...recordingOf(record?.mode ?? 'off', state === 'live'),
    sources: sources.map((source, i) => ({
      name: source.name ?? (i === 0 ? 'main' : 'sub'),
      state,
      transport: 'tcp',
      tracks: (enabled && offerOf(source.url)?.tracks) || [],
      gop_seconds: state === 'live' ? 2 : 0,
      last_frame_at: state === 'live' ? ago(0) : undefined,
      reconnects: 0,
      lost_packets: 0,
    })),
  }
}

/** What a camera's status says of its recording. */
export function recordingOf(mode, isLive) {
  const state = mode === 'off' ? 'off' : isLive && mode === 'continuous' ? 'recording' : 'waiting'
  const reason = { event: 'there was no event', schedule: 'the schedule leaves it out', continuous: 'connecting to the camera' }[mode]
  return { recording: state === 'recording', recording_state: state, recording_reason: state === 'waiting' ? reason : '' }
}

/** A camera that waits for its next try. */
export function backoffCamera(id, name, error, nextTrySeconds) {
  const camera = makeCamera({ id, name, url: 'rtsp://192.168.1.44/stream1' })
  Object.assign(camera.status, { state: 'backoff', error })
  Object.assign(camera.status.sources[0], { state: 'backoff', error, reconnects: 4, next_try_at: ago(-nextTrySeconds) })
  return camera
}
