package hls

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/memfile"
	"github.com/drover-video/drover/core/mpegts"
	"github.com/drover-video/drover/core/sample"
)

// A segment is immutable once it is published. It holds a reference to each of
// its frames until its own last reference is given up: one is the window's, and
// each response has one while it sends.
type segment struct {
	refs  atomic.Int32
	held  *atomic.Int64   // bytes of media held, of the muxer
	files *memfile.Budget // for what many ask for; may be nil

	layout       *layout
	video, audio []*media.Frame
	object               // as fragmented MP4
	parts        []*part // all of object, side by side
	partTarget   time.Duration
	duration     time.Duration
	wall         time.Time     // of the first picture, as its frame says
	shift        time.Duration // from the source's timeline to media time

	period uint64 // discontinuity sequence
	tags   int    // discontinuities before this segment
	tsOnly bool   // there is one in MPEG-TS, and none in fragmented MP4
	tsMore uint64 // how many of these there were, it included

	// Set by the window, before it or its first part is published.
	numbered bool
	sequence uint64
	newMap   bool
	pdt      time.Time
	counters mpegts.Counters // of its first packets

	ts   rendition
	seen rendition // what AI workers saw
}

// A rendition is a segment in another container, made when it is first asked
// for, once however many ask.
type rendition struct {
	once sync.Once
	object
}

// acquire adds a reference, unless the segment is gone already.
func (s *segment) acquire() bool {
	for {
		refs := s.refs.Load()
		if refs <= 0 {
			return false
		}
		if s.refs.CompareAndSwap(refs, refs+1) {
			return true
		}
	}
}

// release gives a reference up.
func (s *segment) release() {
	if s.refs.Add(-1) > 0 {
		return
	}
	releaseFrames(s.video)
	releaseFrames(s.audio)
	s.held.Add(-s.heldBytes())
	for _, o := range [...]*object{&s.object, &s.ts.object} {
		o.promotion.end()
		o.body = body{}
	}
	for _, p := range s.parts {
		if o := p.sent.Load(); o != nil {
			o.promotion.end()
		}
	}
}

// discontinuity is the discontinuity sequence at the head of a playlist that begins
// with the segment.
func (s *segment) discontinuity() uint64 { return s.period - uint64(s.tags) }

// tsTags is how many discontinuities there are before the segment in MPEG-TS.
func (s *segment) tsTags() int {
	if s.tsOnly {
		return s.tags + 1
	}
	return s.tags
}

// tsDiscontinuity is what discontinuity is, in MPEG-TS.
func (s *segment) tsDiscontinuity() uint64 { return s.period + s.tsMore - uint64(s.tsTags()) }

// heldBytes is what the segment keeps from being freed.
func (s *segment) heldBytes() int64 {
	n := s.object.size + s.object.promotion.size() + s.ts.size + s.ts.promotion.size()
	for _, p := range s.parts {
		if o := p.sent.Load(); o != nil {
			n += o.promotion.size()
		}
	}
	return n
}

func releaseFrames(frames []*media.Frame) {
	for i, f := range frames {
		f.Release()
		frames[i] = nil
	}
}

func payloadBytes(frames []*media.Frame) int64 {
	n := int64(0)
	for _, f := range frames {
		n += int64(len(f.Payload()))
	}
	return n
}

// scratch is what making parts needs and the next ones can use again.
type scratch struct {
	cuts         []cut
	lead, follow []fmp4.Sample
	runs         []fmp4.Run
	heads        []byte
	ends, counts []int  // of each part: where its head ends, how many slices it has
	soundEnds    uint64 // in ticks, where the last run of sound ended; 0: nothing goes on from it
	slices       [][]byte
}

// trackID is that of a segment's leading track.
func trackID(video bool) uint32 {
	if video {
		return sample.VideoTrackID
	}
	return sample.AudioTrackID
}

func run(id uint32, first *media.Frame, shift time.Duration, samples []fmp4.Sample) fmp4.Run {
	base := first.DTS + first.Track.Ticks(shift)
	return fmp4.Run{TrackID: id, BaseTime: uint64(max(0, base)), Samples: samples}
}

func appendSamples(dst []fmp4.Sample, frames []*media.Frame, endDTS int64) []fmp4.Sample {
	for i, f := range frames {
		next := endDTS
		if i+1 < len(frames) {
			next = frames[i+1].DTS
		}
		dst = append(dst, fmp4.Sample{
			Duration: uint32(max(0, next-f.DTS)),
			Size:     uint32(len(f.Payload())),
			CTS:      int32(f.PTS - f.DTS),
			Sync:     f.Keyframe || f.Track.Kind == media.KindAudio,
		})
	}
	return dst
}
