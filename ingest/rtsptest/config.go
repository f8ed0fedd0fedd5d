package rtsptest

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// CameraConfig is what a camera offers and how it behaves. All but Path has a
// usable zero value.
type CameraConfig struct {
	Path string // "door"; queries behind it are ignored
	Clip string // default "h264"; see ClipNames

	AAC  bool // with sound
	PCMA bool // with sound in A-law

	Sound Sound // with sound in another codec, be it beside those

	// What the session description and the stream say of the video.
	BareSDP    bool                    // no parameter sets in the session description
	NoInBand   bool                    // no parameter sets before keyframes
	Aggregate  bool                    // those in one packet (STAP-A, AP)
	PacketSize int                     // most bytes of RTP payload; default 1400
	RewriteSDP func(sdp string) string // last word on the session description

	Start     StartAt
	Transport Transport // the only one allowed; default TCP and UDP
	Tunnel    bool      // RTSP over HTTP is allowed, too
	Group     string    // multicast is allowed, too, to this group; default of TransportMulticast "239.255.42.42"
	// GroupInSDP names the group in the session description only.
	GroupInSDP bool
	UDPLost    bool          // UDP is set up, and nothing arrives
	Reports    time.Duration // between sender reports; default 5 s, below zero none
	// WallClock is what sender reports tell; default time.Now.
	WallClock func() time.Time
	// FirstTimestamp and FirstSequence are the RTP fields of each media's first
	// packet; 0 for random ones.
	FirstTimestamp uint32
	FirstSequence  uint16

	Auth     Auth
	User     string
	Password string

	// SessionTimeout is told to clients, and ends a session without a request
	// in that time; 0 for none.
	SessionTimeout time.Duration
	// Slots is how many sessions there can be; 0 for no limit. A session that
	// ended without TEARDOWN holds its slot for SlotHold.
	Slots    int
	SlotHold time.Duration

	Answer   Answer
	NoReason bool           // "RTSP/1.0 200" and no more
	Redirect string         // DESCRIBE answers 302 with this URL
	Status   map[string]int // method to the status it answers instead of working
	// StatusTimes ends the effect of Status after so many such answers; 0 for never.
	StatusTimes int

	Faults []Fault
}

// StartAt is where the first client of a camera begins. Others begin at the next
// keyframe, or anywhere with StartAny.
type StartAt string

// Where the first client begins.
const (
	StartKeyframe StartAt = ""     // at once with a keyframe: the camera jumps to it
	StartNext     StartAt = "next" // when the next keyframe is due; cameras have theirs at different times
	StartAny      StartAt = "any"  // at once, within a GOP
)

// Transport is a way of carrying RTP.
type Transport string

// The transports.
const (
	TransportBoth      Transport = ""
	TransportTCP       Transport = "tcp"
	TransportUDP       Transport = "udp"
	TransportMulticast Transport = "multicast"
	TransportTunnel    Transport = "tunnel" // TCP, but within HTTP only
)

// Auth is how a camera asks who is there.
type Auth string

// The ways of authentication. Digest is RFC 2069 with MD5, as most cameras have it.
const (
	AuthNone   Auth = ""
	AuthBasic  Auth = "basic"
	AuthDigest Auth = "digest"
)

// Answer is whether a camera answers requests.
type Answer string

// How a camera answers.
const (
	AnswerNormal   Answer = ""
	AnswerNever    Answer = "never"
	AnswerNonsense Answer = "nonsense" // bytes that are not RTSP
)

func (c *CameraConfig) setDefaults() error {
	c.Path = strings.Trim(c.Path, "/")
	if c.Path == "" {
		return errors.New("camera without a path")
	}
	if c.Clip == "" {
		c.Clip = "h264"
	}
	if c.PacketSize == 0 {
		c.PacketSize = 1400
	}
	// Below, a fragment has no room; above, an interleaved frame cannot say its length.
	if c.PacketSize < 16 || c.PacketSize > 65000 {
		return fmt.Errorf("camera %s: packet size %d is not within 16 and 65000", c.Path, c.PacketSize)
	}
	if c.Transport == TransportMulticast && c.Group == "" {
		c.Group = "239.255.42.42"
	}
	if group := net.ParseIP(c.Group); c.Group != "" && !group.IsMulticast() {
		return fmt.Errorf("camera %s: %s is no multicast group", c.Path, c.Group)
	}
	if c.Reports == 0 {
		c.Reports = 5 * time.Second
	}
	if c.WallClock == nil {
		c.WallClock = time.Now
	}
	if c.Auth != AuthNone && c.User == "" {
		return fmt.Errorf("camera %s: authentication %s needs a user", c.Path, c.Auth)
	}
	return nil
}

func (c *CameraConfig) packing() packing {
	return packing{payloadSize: c.PacketSize, parameters: !c.NoInBand, aggregate: c.Aggregate}
}
