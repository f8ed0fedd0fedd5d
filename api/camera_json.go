package api

import (
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/footage"
	"github.com/drover-video/drover/core/secret"
)

// timestamp is a time as the API writes it: RFC 3339, UTC, milliseconds.
type timestamp time.Time

// MarshalText implements encoding.TextMarshaler.
func (t timestamp) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z07:00"), nil
}

// Schema implements huma.SchemaProvider.
func (timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-02T15:04:05.678Z"}}
}

// stamp returns nil for a time that has not come.
func stamp(t time.Time) *timestamp {
	if t.IsZero() {
		return nil
	}
	s := timestamp(t)
	return &s
}

// Camera is a camera as the API shows it: without passwords.
type Camera struct {
	ID       string            `json:"id"`
	Name     string            `json:"name" doc:"For people; may be empty"`
	Sources  []Source          `json:"sources" nullable:"false" doc:"The first is the main stream"`
	Enabled  bool              `json:"enabled"`
	OnDemand bool              `json:"on_demand" doc:"Pulled only while somebody watches"`
	Record   Record            `json:"record"`
	Labels   map[string]string `json:"labels"`
	Origin   string            `json:"origin" enum:"file,api" doc:"Cameras of the configuration file are read-only"`
	ReadOnly bool              `json:"read_only"`
	Status   Status            `json:"status"`
}

// Source is one stream of a camera.
type Source struct {
	Name        string `json:"name" example:"main"`
	URL         string `json:"url" doc:"Without login; what looks like one in its query is [redacted]. Sent back as it is, it changes nothing."`
	FallbackURL string `json:"fallback_url" doc:"Pulled while url fails; empty for none"`
	Username    string `json:"username"`
	HasPassword bool   `json:"has_password" doc:"Passwords are never shown"`
	Transport   string `json:"transport" enum:"auto,tcp,udp,multicast,tunnel"`
	TLS         TLS    `json:"tls"`
}

// TLS says which certificates of a camera are taken for rtsps://.
type TLS struct {
	Verify      string `json:"verify" enum:"system,pin,none"`
	Fingerprint string `json:"fingerprint" doc:"SHA-256 of the certificate that is pinned; empty where none is"`
}

// Record says when a camera is recorded.
type Record struct {
	Mode     string         `json:"mode" enum:"off,continuous,event,schedule"`
	MaxAge   string         `json:"max_age" example:"30d" doc:"How long recordings are kept; empty for no limit"`
	MaxBytes int64          `json:"max_bytes" doc:"How many bytes of recordings are kept; 0 for no limit"`
	Sources  []string       `json:"sources" nullable:"false" doc:"Names of the sources that are recorded; empty for the first"`
	PreRoll  string         `json:"pre_roll" example:"10s" doc:"Of mode event: how much is kept before one; empty for 10s"`
	PostRoll string         `json:"post_roll" example:"30s" doc:"Of mode event: how much is kept after one; empty for 30s"`
	Schedule RecordSchedule `json:"schedule"`
	Thin     Thin           `json:"thin"`
}

// RecordSchedule is the hours of mode schedule.
type RecordSchedule struct {
	Zone  string   `json:"zone" example:"Europe/Berlin" doc:"Time zone of the spans; empty for UTC"`
	Spans []string `json:"spans" nullable:"false"`
}

// Thin says what is left of recordings after a while.
type Thin struct {
	After string `json:"after" example:"7d" doc:"Empty: all is kept"`
	Keep  string `json:"keep" doc:"keyframes, sub, or empty where all is kept"`
}

func recordOf(r *camera.RecordSpec) Record {
	return Record{
		Mode: string(r.Mode), MaxAge: timeOf(r.MaxAge), MaxBytes: r.MaxBytes, Sources: list(r.Sources), PreRoll: timeOf(r.PreRoll), PostRoll: timeOf(r.PostRoll),
		Schedule: RecordSchedule{Zone: r.Schedule.Zone, Spans: list(r.Schedule.Spans)}, Thin: Thin{After: timeOf(r.Thin.After), Keep: string(r.Thin.Keep)},
	}
}

// timeOf writes a time; "" for none.
func timeOf(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return config.FormatDuration(d)
}

// list is never null in JSON.
func list(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}

// Status is how a camera is doing.
type Status struct {
	State     string         `json:"state" enum:"idle,connecting,live,stalled,backoff,disabled"`
	Since     *timestamp     `json:"since,omitempty"`
	Error     string         `json:"error" doc:"Why it is not live, or why nothing can be shown of it though it is; else empty"`
	Sources   []SourceStatus `json:"sources" nullable:"false"`
	Viewers   int            `json:"viewers"`
	Recording bool           `json:"recording" doc:"Footage of it is being written now"`

	RecordingState  string `json:"recording_state" enum:"off,recording,waiting,failed" doc:"waiting: for an event, its hours, or the camera; failed: the disk does not take it"`
	RecordingReason string `json:"recording_reason" doc:"Why nothing is written, or what is wrong though it is; else empty"`
}

// SourceStatus is how one source is doing.
type SourceStatus struct {
	Name        string     `json:"name"`
	State       string     `json:"state" enum:"idle,connecting,live,stalled,backoff,disabled"`
	Since       *timestamp `json:"since,omitempty"`
	Error       string     `json:"error"`
	Transport   string     `json:"transport" doc:"In use, or last in use; empty before the first connection"`
	Reason      string     `json:"transport_reason" doc:"Why this transport, for people"`
	OnFallback  bool       `json:"on_fallback" doc:"The fallback URL is in use, or was last"`
	Tracks      []Track    `json:"tracks" nullable:"false"`
	GOPSeconds  float64    `json:"gop_seconds" doc:"Between the last two keyframes; 0 if unknown"`
	LastFrameAt *timestamp `json:"last_frame_at,omitempty"`
	Reconnects  uint64     `json:"reconnects"`
	LostPackets uint64     `json:"lost_packets"`
	NextTryAt   *timestamp `json:"next_try_at,omitempty" doc:"While waiting to connect again"`
	Reordered   uint64     `json:"reordered_packets" doc:"Packets of UDP that overtook others, and were put in order"`
	Dropped     uint64     `json:"kernel_dropped_packets" doc:"Of the lost, those that the receive buffer of the server's system had no room for"`
	BytesIn     uint64     `json:"bytes_in"`
}

// Track is one video or audio track.
type Track struct {
	Codec      string  `json:"codec" example:"H264"`
	Profile    string  `json:"profile" example:"High 4.1" doc:"And level; empty while unknown"`
	Width      int     `json:"width" doc:"0 for audio, and while unknown"`
	Height     int     `json:"height"`
	FPS        float64 `json:"fps"`
	SampleRate int     `json:"sample_rate" doc:"Hz; 0 for video"`
	BitrateBPS int64   `json:"bitrate_bps"`
	Playable   bool    `json:"playable" doc:"In HLS"`
	Reason     string  `json:"reason" doc:"Why it is not playable"`

	DeliveredAs string `json:"delivered_as" doc:"The codec in which it is handed on, where that is another: FLAC for G.711, G.722 and L16, without loss; else empty"`
	MPEGTS      bool   `json:"mpegts" doc:"It is in the MPEG-TS variant of HLS, too"`
	Note        string `json:"note" doc:"What is odd about it, and what Drover does about that; else empty"`
}

func (rs *routes) cameraOf(v camera.View) Camera {
	spec := v.Spec
	c := Camera{
		ID: spec.ID, Name: spec.Name, Enabled: spec.Enabled, OnDemand: spec.OnDemand,
		Record:   recordOf(&spec.Record),
		Sources:  make([]Source, len(spec.Sources)),
		Labels:   spec.Labels,
		Origin:   string(spec.Origin),
		ReadOnly: spec.Origin == camera.OriginFile,
		Status:   statusOf(v.Status),
	}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	for i, s := range spec.Sources {
		c.Sources[i] = Source{Name: s.Name, URL: secret.RedactURL(s.URL), FallbackURL: secret.RedactURL(s.FallbackURL), Username: s.Username,
			HasPassword: !s.Password.IsZero(), Transport: string(s.Transport),
			TLS: TLS{Verify: string(s.TLS.Verify), Fingerprint: s.TLS.Fingerprint}}
	}
	c.Status.Viewers = rs.options.Viewers(spec.ID)
	if rs.options.Troubles != nil {
		c.Status.addTroubles(rs.options.Troubles(spec.ID))
	}
	recording := footage.Recording{State: footage.RecordingOff}
	if rs.options.Recorder != nil {
		recording = rs.options.Recorder.Recording(spec.ID)
	}
	c.Status.Recording = recording.State == footage.RecordingOn
	c.Status.RecordingState, c.Status.RecordingReason = string(recording.State), recording.Reason
	return c
}

// addTroubles says why nothing can be shown of sources that are live: of the camera,
// where that is so of all of them.
func (s *Status) addTroubles(troubles map[string]string) {
	shown := false
	for i := range s.Sources {
		source := &s.Sources[i]
		why := troubles[source.Name]
		if source.State == string(camera.StateLive) && source.Error == "" {
			source.Error = why
			shown = shown || why == ""
		}
	}
	for _, source := range s.Sources {
		if s.State == string(camera.StateLive) && s.Error == "" && !shown {
			s.Error = source.Error
		}
	}
}

func statusOf(s camera.Status) Status {
	status := Status{State: string(s.State), Since: stamp(s.Since), Error: s.Error, Sources: make([]SourceStatus, len(s.Sources))}
	for i, source := range s.Sources {
		status.Sources[i] = SourceStatus{
			Name: source.Name, State: string(source.State), Since: stamp(source.Since), Error: source.Error,
			Transport: string(source.Transport), Reason: source.TransportReason, OnFallback: source.OnFallback, Tracks: tracksOf(source.Tracks), GOPSeconds: thousandths(source.GOP.Seconds()),
			LastFrameAt: stamp(source.LastFrameAt), NextTryAt: stamp(source.NextTryAt), Reconnects: source.Reconnects, LostPackets: source.LostPackets,
			Reordered: source.ReorderedPackets, Dropped: source.KernelDroppedPackets, BytesIn: source.BytesIn,
		}
	}
	return status
}

func tracksOf(tracks []camera.TrackStatus) []Track {
	shown := make([]Track, len(tracks))
	for i, t := range tracks {
		shown[i] = Track{Codec: t.Codec, Profile: t.Profile, Width: t.Width, Height: t.Height, FPS: thousandths(t.FPS),
			SampleRate: t.SampleRate, BitrateBPS: t.BitrateBPS, Playable: t.Playable, Reason: t.Reason,
			DeliveredAs: t.DeliveredAs, MPEGTS: t.MPEGTS, Note: t.Note}
	}
	return shown
}

// thousandths rounds; what is no number, and JSON cannot write, is unknown.
func thousandths(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(x*1000) / 1000
}
