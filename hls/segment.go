package hls

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/memfile"
	"github.com/drover-video/drover/core/mpegts"
)

// timeOffset is added to all media times, so that a picture decoded before the
// timeline's zero has a decode time that a fragment can hold.
const timeOffset = 10 * time.Second

// A segment is immutable once it is published. It holds a reference to each of
// its frames until its own last reference is given up: one is the window's, and
// each response has one while it sends.
type segment struct {
	refs  atomic.Int32
	held  *atomic.Int64   // bytes of media held, of the muxer
	files *memfile.Budget // for what many ask for; may be nil

	layout        *layout
	video, audio  []*media.Frame
	object        // as fragmented MP4
	duration      time.Duration
	wall          time.Time // of the first picture, as its frame says
	discontinuity bool      // before this segment

	// Set by the window, before it is published.
	sequence uint64
	newMap   bool
	pdt      time.Time
	counters mpegts.Counters // of its first packets

	ts rendition
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
}

// heldBytes is what the segment keeps from being freed.
func (s *segment) heldBytes() int64 {
	return s.object.size + s.object.promotion.size() + s.ts.size + s.ts.promotion.size()
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

// writeHeader makes the fragment's header and strings the frames' buffers up
// behind it. endDTS is where the leading track goes on. The scratch room is
// reused from one segment to the next.
func (s *segment) writeHeader(number uint32, endDTS int64, room *scratch) {
	room.runs = room.runs[:0]
	if len(s.video) > 0 {
		room.video = appendSamples(room.video[:0], s.video, endDTS)
		room.runs = append(room.runs, run(videoTrackID, s.video[0], room.video))
	}
	if len(s.audio) > 0 {
		last := s.audio[len(s.audio)-1]
		end := last.DTS + s.layout.sound.ticks(last.Payload())
		if len(s.video) == 0 {
			end = endDTS
		}
		room.audio = appendSamples(room.audio[:0], s.audio, end)
		room.runs = append(room.runs, run(audioTrackID, s.audio[0], room.audio))
	}
	head := fmp4.AppendFragment(make([]byte, 0, fmp4.FragmentSize(room.runs)), number, room.runs)
	b := body{slices: room.slices[:0]}
	for _, frames := range [...][]*media.Frame{s.video, s.audio} {
		for _, f := range frames {
			b.append(f.Payload())
		}
	}
	room.slices = b.slices[:0]
	// The header is a piece of its own: it lies elsewhere.
	s.object.slices = append(append(make([][]byte, 0, 1+len(b.slices)), head), b.slices...)
	s.object.size = int64(len(head)) + b.size
	clear(b.slices)
}

// scratch is what making a segment needs and the next one can use again.
type scratch struct {
	video, audio []fmp4.Sample
	runs         []fmp4.Run
	slices       [][]byte
}

func run(id uint32, first *media.Frame, samples []fmp4.Sample) fmp4.Run {
	base := first.DTS + first.Track.Ticks(timeOffset)
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
