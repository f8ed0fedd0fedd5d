// What the API answers, as far as the app reads it. Everything that a server of
// another version may leave out has a value here that means "not known".

export type State = 'idle' | 'connecting' | 'live' | 'stalled' | 'backoff' | 'disabled'

export type Transport = 'auto' | 'tcp' | 'udp' | 'multicast' | 'tunnel'

export interface Track {
  codec: string
  width: number
  height: number
  fps: number
  sampleRate: number
  bitrateBPS: number
  playable: boolean
  /** Why it is not playable. */
  reason: string
  /** The codec in which it is handed on, where that is another; else "". */
  deliveredAs: string
  /** It is in the MPEG-TS variant of HLS, too. */
  mpegts: boolean
  /** What is odd about it, and what Drover does about that; else "". */
  note: string
}

export interface SourceStatus {
  name: string
  state: State
  error: string
  transport: string
  tracks: Track[]
  gopSeconds: number
  lastFrameAt: Date | null
  nextTryAt: Date | null
  reconnects: number
  lostPackets: number
}

export type RecordMode = 'off' | 'continuous' | 'event' | 'schedule'

/** When a camera is recorded, and for how long that is kept. */
export interface RecordSettings {
  mode: RecordMode
  /** As the API writes ages: "30d"; "" for no limit. */
  maxAge: string
  /** 0 for no limit. */
  maxBytes: number
  /** Those of the camera's sources that are recorded, by name; none: the first. */
  sources: string[]
  /** Of mode schedule: days and hours as the API writes them, "mon-fri 08:00-18:00". */
  hours: string[]
  /** The zone of those; "" for UTC. */
  zone: string
}

/** What recording a camera comes to. */
export interface RecordingStatus {
  mode: RecordMode
  state: 'off' | 'recording' | 'waiting' | 'failed'
  /** Why nothing is written, or what is wrong though it is; else empty. */
  reason: string
}

export interface Status {
  state: State
  since: Date | null
  error: string
  nextTryAt: Date | null
  sources: SourceStatus[]
  viewers: number
  recording: RecordingStatus
}

export interface Source {
  name: string
  url: string
  username: string
  transport: Transport
  hasPassword: boolean
}

export interface Camera {
  id: string
  name: string
  enabled: boolean
  onDemand: boolean
  /** It comes from the configuration file and is changed there. */
  readOnly: boolean
  sources: Source[]
  record: RecordSettings
  status: Status
}

export interface ProbeResult {
  transport: string
  tracks: Track[]
  gopSeconds: number
}

/** What the app sends for a source. Without a password, the stored one is kept. */
export interface SourceInput {
  name: string
  url: string
  username: string
  password?: string
  transport: Transport
}

export interface CameraInput {
  id: string
  name: string
  enabled: boolean
  on_demand: boolean
  sources: SourceInput[]
  record?: { mode: RecordMode; max_age: string; max_bytes: number; schedule?: { zone: string; spans: string[] } }
}

/** What a link shows: the live picture, or what was recorded too. */
export type ShareAction = 'watch' | 'archive'

/** A link to a camera that was given away and works. */
export interface Share {
  id: string
  camera: string
  action: ShareAction
  name: string
  expiresAt: Date | null
  /** At once; 0 for no limit. */
  maxViewers: number
  /** How many there are now, where there is a limit. */
  viewers: number
}

/** What a link is to be. The lifetime is as the API writes times: "24h", "7d". */
export interface ShareInput {
  camera: string
  action: ShareAction
  lifetime: string
  name: string
  /** At once; 0 for no limit. */
  maxViewers: number
}

/** A link just made, with where it leads: shown this once. */
export interface GivenShare extends Share {
  watch: string
  token: string
}
