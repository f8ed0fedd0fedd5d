package archive

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/sample"
)

const (
	// shortest is how long a fragment is at least, if GOPs are shorter than that.
	shortest = time.Second

	// longest is how long a fragment is at most, if GOPs are longer than that.
	longest = 2 * time.Second

	// maxPiece is how many bytes make a fragment of a GOP that is not over.
	maxPiece = 32 << 20

	// minute is how long a file is.
	minute = time.Minute

	// longestFile is when a file is given up that no keyframe comes for.
	longestFile = 8 * time.Minute

	// timeOffset is what decoding times count from, as in the live stream: even one
	// before the timeline's zero is one that a fragment can hold.
	timeOffset = 10 * time.Second

	// maxWaiting bounds the sound that waits for a picture.
	maxWaiting = 1024
)

// A cutter cuts a source's frames into fragments. It belongs to the source's
// goroutine and owns a reference to each frame of the open fragment.
type cutter struct {
	run     int64         // Unix ms
	stagger time.Duration // by which the stream's minutes begin later than others'
	drops   *dropCounters
	emit    func(*disk.Fragment)

	begun bool
	epoch uint64
	lead  track // cut by: video, or audio where there is no video
	other track // audio beside video

	pending []*media.Frame // of the lead: the open fragment
	sounds  []*media.Frame // of the other, in order: those of the open fragment, and those that came early
	bytes   int64

	awaiting bool // nothing of the lead is taken until the next keyframe
	hole     bool // frames are missing before the open fragment
	lost     bool // because packets were
	busy     bool // because they were not taken from the ring in time
	breaks   bool // the open fragment does not go on from what was before
	fresh    bool // the open fragment begins a new file
	joined   bool // no time is missing between the last fragment and the open one
	hasGap   bool // the open fragment begins gap ticks behind the last frame before it, in the same epoch
	gap      int64
	clockSet bool // the open fragment goes on from the last, and its wall-clock time does not

	keyAt  int64         // DTS of the newest keyframe
	hasKey bool          // of this epoch
	pieces time.Duration // how long pieces of a GOP should be

	spec   *disk.FileSpec
	layout tracks // of spec
	number uint32 // of fragments
	times  times
}

// track is what is known of a track in the current epoch.
type track struct {
	info   *media.Track
	params *media.Params
	last   int64 // DTS of its newest frame
	step   int64 // ticks from one frame to the next, as last seen
}

// tracks are what a file's moov says.
type tracks struct {
	video, audio *media.Track
	picture      *media.Params
	sound        *media.Params
	soundCodec   sample.Sound
}

// DropReason says why a frame is not recorded.
type DropReason uint8

// The reasons for dropping a frame.
const (
	DropUnplayable       DropReason = iota // of a codec that no file here holds
	DropAwaitingKeyframe                   // it needs frames that are not there
	DropOtherTrack                         // a second track of its kind
	DropParameters                         // its parameters cannot be written, or changed in mid-GOP
	DropTimeBackwards
	dropReasons
)

// String returns the reason as metrics name it.
func (r DropReason) String() string {
	return [...]string{"unplayable", "awaiting_keyframe", "other_track", "parameters", "time_backwards"}[r]
}

type dropCounters [dropReasons]atomic.Uint64

func (c *cutter) drop(f *media.Frame, reason DropReason) {
	c.drops[reason].Add(1)
	f.Release()
}

// push takes over an item's frame.
func (c *cutter) push(item ring.Item) {
	f := item.Frame
	if !c.begun || f.Epoch != c.epoch {
		c.flush()
		c.epoch, c.begun = f.Epoch, true
		c.restart()
	}
	if !c.known(f) && f.Entry && f.Track.Codec != media.CodecJPEG {
		c.leadBy(f)
	}
	switch {
	case f.Track.Codec == media.CodecJPEG:
		c.drop(f, DropUnplayable)
	case f.Track == c.lead.info:
		c.pushLead(f, item.Missed)
	case f.Track.Kind == media.KindAudio && (c.lead.info == nil || c.lead.info.Kind == media.KindVideo):
		c.pushSound(f)
	case c.lead.info == nil:
		c.drop(f, DropAwaitingKeyframe)
	default:
		c.drop(f, DropOtherTrack)
	}
}

// known reports whether there is a track to cut by, and f is not of a better one: a
// picture after all, where every sound was said to be an entry.
func (c *cutter) known(f *media.Frame) bool {
	return c.lead.info != nil && !(c.lead.info.Kind == media.KindAudio && f.Track.Kind == media.KindVideo)
}

// leadBy makes f's track the one to cut by. Sound that came before it waits for it.
func (c *cutter) leadBy(f *media.Frame) {
	if c.lead.info != nil {
		c.flush()
		c.other = track{}
	}
	c.lead = track{info: f.Track}
	c.breaks, c.fresh, c.joined = true, true, false
	c.hasKey = false
}

// restart begins an epoch: nothing before relates to what comes.
func (c *cutter) restart() {
	c.lead, c.other = track{}, track{}
	c.breaks, c.fresh, c.hole, c.lost = true, true, false, false
	c.awaiting, c.joined, c.hasGap, c.clockSet, c.hasKey = true, false, false, false, false
	c.pieces = 0
}

func (c *cutter) pushLead(f *media.Frame, missed uint64) {
	t := &c.lead
	if t.params != nil && f.DTS <= t.last {
		c.drop(f, DropTimeBackwards)
		return
	}
	if !f.Entry && (c.awaiting || f.Lost > 0 || missed > 0 || !sample.SameParams(f.Params, t.params)) {
		// It needs frames that are not there.
		if !c.awaiting {
			c.flush()
		}
		c.awaiting = true
		c.lost = c.lost || f.Lost > 0
		c.busy = c.busy || missed > 0
		c.drop(f, DropAwaitingKeyframe)
		return
	}
	if f.Entry {
		c.entry(f, missed)
	} else if c.isFull(f) {
		c.cut(f.DTS, false)
		c.awaiting = c.times.end.Sub(c.times.file) > longestFile
	}
	if c.awaiting {
		c.drop(f, DropParameters)
		return
	}
	if t.params != nil && f.Lost == 0 && missed == 0 && t.last != 0 {
		t.step = f.DTS - t.last
	}
	t.last, t.params = f.DTS, f.Params
	c.pending = append(c.pending, f)
	c.bytes += int64(len(f.Payload()))
}

// isFull reports whether the open fragment should end before f, in mid-GOP.
func (c *cutter) isFull(f *media.Frame) bool {
	if len(c.pending) == 0 {
		return false
	}
	length := c.length(f)
	limit := longest
	if c.pieces > 0 {
		limit = c.pieces
	}
	return length >= limit || c.bytes > maxPiece
}

// entry takes note of a frame on which decoding can start, before it is added.
func (c *cutter) entry(f *media.Frame, missed uint64) {
	t := &c.lead
	known := t.params != nil
	if known && !c.awaiting {
		gap := f.DTS - t.last
		missing := (f.Lost > 0 || missed > 0) && gap*2 > t.step*3
		silent := t.step > 0 && gap > 4*t.step && f.Track.Duration(gap) > time.Second
		switch {
		case missing || silent:
			c.flush()
			c.behind(gap, f.Lost > 0)
			c.busy = missed > 0
		case c.joined && c.times.astray(f, c.length(f)):
			c.cut(f.DTS, false)
			c.fresh, c.breaks, c.joined, c.clockSet = true, true, false, true
		case !sample.SameParams(f.Params, t.params):
			c.cut(f.DTS, false)
			c.fresh, c.breaks = true, true
		case len(c.pending) > 0 && (!c.pending[0].Entry || f.Track.Duration(f.DTS-c.pending[0].DTS) >= shortest):
			c.cut(f.DTS, false)
		}
	} else if known {
		c.behind(f.DTS-t.last, c.lost || f.Lost > 0)
	}
	if c.hasKey && !c.hole {
		c.gop(f.Track.Duration(f.DTS - c.keyAt))
	}
	c.keyAt, c.hasKey = f.DTS, true
	c.awaiting = false
	if len(c.pending) > 0 {
		return // a GOP so short that it shares a fragment
	}
	if known && !c.fresh && c.minuteIsOver(f) {
		c.fresh = true
	}
	if c.spec == nil || !sample.SameParams(c.layout.picture, f.Params) {
		if _, err := c.leadCodec(f); err != nil {
			c.awaiting = true
		}
	}
}

// length returns how long the open fragment is that f is behind.
func (c *cutter) length(f *media.Frame) time.Duration {
	if len(c.pending) == 0 {
		return 0
	}
	return f.Track.Duration(f.DTS - c.pending[0].DTS)
}

// behind notes that the open fragment begins behind a hole.
func (c *cutter) behind(gap int64, lost bool) {
	c.hole, c.lost, c.fresh, c.breaks, c.joined = true, lost, true, true, false
	c.gap, c.hasGap = gap, true
}

// gop notes how long GOPs are: long ones are cut into pieces of one length.
func (c *cutter) gop(length time.Duration) {
	c.pieces = 0
	if length > longest+longest/20 {
		n := (length + longest - 1) / longest
		c.pieces = length/n + time.Duration(1)
	} else if length > longest {
		c.pieces = longest + longest/20
	}
}

// minuteIsOver reports whether a file that began when the present one did should not
// go on at f.
func (c *cutter) minuteIsOver(f *media.Frame) bool {
	if c.times.file.IsZero() {
		return true
	}
	slot := func(t time.Time) int64 { return (t.UnixNano() - int64(c.stagger)) / int64(minute) }
	return slot(c.times.due()) > slot(c.times.file)
}

func (c *cutter) leadCodec(f *media.Frame) (fmp4.Codec, error) {
	if f.Track.Kind == media.KindAudio {
		return sample.NewSound(f.Track, f.Params)
	}
	return sample.NewPicture(f.Params)
}

func (c *cutter) pushSound(f *media.Frame) {
	t := &c.other
	switch {
	case t.info == nil:
		if _, err := sample.NewSound(f.Track, f.Params); err != nil {
			c.drop(f, DropParameters)
			return
		}
		t.info, t.params = f.Track, f.Params
	case f.Track != t.info:
		c.drop(f, DropOtherTrack)
		return
	case f.DTS <= t.last:
		c.drop(f, DropTimeBackwards)
		return
	case !sample.SameParams(f.Params, t.params):
		if _, err := sample.NewSound(f.Track, f.Params); err != nil {
			c.drop(f, DropParameters)
			return
		}
		t.params = f.Params
	}
	if len(f.Payload()) == 0 {
		c.drop(f, DropParameters)
		return
	}
	t.last = f.DTS
	c.sounds = append(c.sounds, f)
	c.bytes += int64(len(f.Payload()))
	if len(c.sounds) > maxWaiting {
		c.bytes -= int64(len(c.sounds[0].Payload()))
		c.drop(c.sounds[0], DropAwaitingKeyframe)
		c.sounds = slices.Delete(c.sounds, 0, 1)
	}
}

// flush ends the open fragment where it stands; nothing goes on from it.
func (c *cutter) flush() {
	if len(c.pending) > 0 {
		c.cut(c.lead.last+c.lastStep(), true)
	}
	for _, f := range c.sounds {
		c.drop(f, DropAwaitingKeyframe)
	}
	clear(c.sounds)
	c.sounds = c.sounds[:0]
	c.bytes = 0
}

// forget makes what comes next begin a new file, whatever it is: the camera went away.
func (c *cutter) forget() { c.begun = false }

// lastStep is how long a frame lasts that nothing follows.
func (c *cutter) lastStep() int64 {
	if last := c.pending[len(c.pending)-1]; last.Track.Kind == media.KindAudio {
		if codec, err := sample.NewSound(last.Track, last.Params); err == nil {
			return max(codec.Ticks(last.Payload()), 1)
		}
	}
	t := &c.lead
	switch {
	case t.step > 0:
		return t.step
	case t.params != nil && t.params.FPS > 0:
		return int64(float64(t.info.ClockRate) / t.params.FPS)
	default:
		return int64(t.info.ClockRate) / 25
	}
}
