package hls

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/drover-video/drover/core/memfile"
)

// Defaults of Config.
const (
	DefaultSegmentDuration    = 2 * time.Second
	DefaultWindow             = 5
	DefaultPartDuration       = 200 * time.Millisecond
	DefaultFirstWait          = 8 * time.Second
	DefaultLinger             = 4 * time.Second
	DefaultMaxSegmentBytes    = 64 << 20
	DefaultMaxSegmentDuration = 120 * time.Second
	DefaultMaxWindowBytes     = 256 << 20
)

// minSegment is the shortest segment at a discontinuity: players stumble over
// less. A shorter rest is dropped, and counted.
const minSegment = 500 * time.Millisecond

// EpochStore gives numbers for names.
type EpochStore interface {
	// NextEpoch returns the time in milliseconds since 1970, or one more than
	// the highest number it has ever returned for the camera, whichever is
	// higher. The number is remembered over restarts.
	NextEpoch(ctx context.Context, camera string) (int64, error)

	// ReserveDiscontinuities returns the first of count numbers, which are higher
	// than all that were ever reserved for the camera. That is remembered over
	// restarts.
	ReserveDiscontinuities(ctx context.Context, camera string, count int64) (first int64, err error)
}

// Config is how segments are made and kept. Zero fields take their defaults.
type Config struct {
	// SegmentDuration is the least duration of a segment: it is cut at the first
	// keyframe after it.
	SegmentDuration time.Duration

	// Window is how many segments a playlist lists. RFC 8216 6.2.2 wants a
	// playlist of at least three target durations, so that it lists more of
	// short ones, and fewer where they are long.
	Window int

	// Linger is how much media stays to be had after it has left the playlist,
	// for players with a playlist that is a moment old. RFC 8216 6.2.2 asks for
	// the duration of segment and playlist together (12 s by default), which
	// would double the memory of a camera; 4 s are two reloads late. Negative:
	// none.
	Linger time.Duration

	// PartDuration is how long parts of low-latency HLS are, about: a part is as
	// many whole frames as come closest, and more where frames come unevenly.
	PartDuration time.Duration

	// FirstWait is how long a request for a playlist waits for a camera that has
	// not sent anything yet: less than the ten seconds after which players give
	// up. Negative: not at all.
	FirstWait time.Duration

	// OnDemand makes a camera's HLS only while somebody asks for it: from what the
	// ring holds at the first request, until IdleAfter (0: DefaultIdleAfter) has
	// passed without one.
	OnDemand  bool
	IdleAfter time.Duration

	MaxSegmentBytes    int64         // a longer segment is dropped
	MaxSegmentDuration time.Duration // a longer segment is dropped
	MaxWindowBytes     int64         // of one source; the oldest segments go first

	Files  *memfile.Budget  // nil: nothing becomes a memory file
	Epochs EpochStore       // nil: the clock alone, which is enough for tests
	Log    *slog.Logger     // nil: none
	Now    func() time.Time // nil: time.Now
	Seen   Sightings        // what AI workers see; nil: there are none

	deflate *deflater
}

func (c Config) withDefaults() (Config, error) {
	if c.SegmentDuration == 0 {
		c.SegmentDuration = DefaultSegmentDuration
	}
	if c.Window == 0 {
		c.Window = DefaultWindow
	}
	if c.PartDuration == 0 {
		c.PartDuration = DefaultPartDuration
	}
	if c.FirstWait == 0 {
		c.FirstWait = DefaultFirstWait
	}
	if c.IdleAfter == 0 {
		c.IdleAfter = DefaultIdleAfter
	}
	if c.Linger == 0 {
		c.Linger = DefaultLinger
	}
	if c.MaxSegmentBytes == 0 {
		c.MaxSegmentBytes = DefaultMaxSegmentBytes
	}
	if c.MaxSegmentDuration == 0 {
		c.MaxSegmentDuration = DefaultMaxSegmentDuration
	}
	if c.MaxWindowBytes == 0 {
		c.MaxWindowBytes = DefaultMaxWindowBytes
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.deflate = &deflater{}
	switch {
	case c.SegmentDuration < minSegment || c.SegmentDuration > time.Minute:
		return c, errors.New("hls segment duration must be 0.5 s to 1 min")
	case c.PartDuration < 50*time.Millisecond || c.PartDuration > c.SegmentDuration:
		return c, errors.New("hls part duration must be 50 ms at least, and not longer than a segment")
	case c.Window < 3 || c.Window > 1000:
		return c, errors.New("hls window must be 3 to 1000 segments")
	case c.MaxSegmentBytes < 0 || c.MaxSegmentBytes > 1<<31 || c.MaxWindowBytes < c.MaxSegmentBytes:
		return c, errors.New("hls byte limits must be positive, at most 2 GiB for a segment, and more for a window than for a segment")
	case c.MaxSegmentDuration < c.SegmentDuration:
		return c, errors.New("hls longest segment must not be shorter than a segment")
	}
	return c, nil
}
