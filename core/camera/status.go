package camera

import "time"

// State is how a camera, or one of its sources, is doing.
type State string

// The states of a source. A camera's state is that of its best source.
const (
	StateIdle       State = "idle"       // on demand, and nobody asks
	StateConnecting State = "connecting" // dialling, or waiting for the first access unit
	StateLive       State = "live"
	StateStalled    State = "stalled" // connected, but no access unit for too long
	StateBackoff    State = "backoff" // waiting before the next try
	StateDisabled   State = "disabled"
)

// Fault is what keeps a source from being live, as far as it matters for what is to
// be done about it.
type Fault string

// The faults of a source.
const (
	FaultNone    Fault = ""
	FaultNetwork Fault = "network" // it cannot be reached, ends the stream, or goes silent
	FaultLogin   Fault = "login"   // it refuses the login
)

// A Change is one of a source's state.
type Change struct {
	Camera, Source string
	State          State
	Fault          Fault  // of the last failure; none while live
	Reason         string // of the same, for people; never holds a secret
	At             time.Time
}

// Status is how a camera is doing, as the API shows it.
type Status struct {
	State   State
	Since   time.Time
	Error   string // of the last failure, "" while live; never holds a secret
	Sources []SourceStatus
}

// SourceStatus is how one source is doing.
type SourceStatus struct {
	Name      string
	State     State
	Since     time.Time
	Error     string
	NextTryAt time.Time // zero unless waiting for it
	Transport Transport // the one in use, or last in use; "" before the first
	// TransportReason says why this transport, for people; it never holds a secret.
	TransportReason string
	OnFallback      bool // the fallback URL is in use, or was last
	Tracks          []TrackStatus
	GOP             time.Duration // between the last two keyframes; 0 if unknown
	LastFrameAt     time.Time     // zero before the first
	Reconnects      uint64        // streams after the first
	LostPackets     uint64
	// Of UDP: packets that overtook others and were put in order, and packets that
	// this machine had no room for, which are among those lost.
	ReorderedPackets     uint64
	KernelDroppedPackets uint64
	BytesIn              uint64
}

// TrackStatus is what is known of a track.
type TrackStatus struct {
	Codec      string // "H264", "H265", "AAC", or the name the camera gave it
	Profile    string // and level: "High 4.1", "AAC-LC"; "" while unknown
	Width      int    // pixels; 0 for audio, and before the parameters are known
	Height     int
	FPS        float64
	SampleRate int    // Hz; 0 for video
	BitrateBPS int64  // bits per second over the last seconds
	Playable   bool   // in HLS
	Reason     string // why not, for people; "" if playable

	// DeliveredAs is the codec in which the track is handed on, where it is
	// another: "FLAC" for G.711, G.722 and L16, of which not a sample is changed.
	DeliveredAs string

	// Note says what is odd about the track and what Drover does about it, for
	// people; "" where nothing is.
	Note string

	// MPEGTS: the track is in the MPEG-TS variant of HLS, too.
	MPEGTS bool
}
