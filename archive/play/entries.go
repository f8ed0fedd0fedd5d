package play

import (
	"hash/crc32"
	"sync"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/m3u8"
)

// A style is how the entries of a playlist are written.
type style struct {
	stream   index.Stream
	boxes    bool      // text of what was seen in them
	pictures bool      // the first of each segment alone
	from, to time.Time // only segments that touch this; zero: from the beginning, and for ever
	coarse   int64     // segments of at least so many ticks, where they are of one file; 0: as they are
	oneMap   bool      // a map is written where it becomes another, and not for each file
	flat     *flattener
}

// A reel is the entries of one file, or of a part of one.
type reel struct {
	number        int64
	bytes         int64  // of the file
	sequence      uint64 // media sequence of the first entry
	discontinuity uint64 // of all
	start, end    time.Time
	entries       int
	longest       time.Duration
	lasts         time.Duration // all

	media             int64
	peak, peakPicture float64 // bits per second, of the worst entry, and of its first picture alone

	format index.Format
	kin    kinship

	fresh bool // it begins with a discontinuity; of a tape alone

	text     []byte
	sum      uint32 // of text
	flat     *flattener
	once     sync.Once
	deflated []byte // text as a piece of a gzip stream, once it was asked for
}

// A kinship is what files share that follow each other as if they were one: the bytes
// of their header's ftyp and moov, too.
type kinship struct {
	run, epoch, init int64
	discontinuity    uint64
	format           index.Format
}

func kinOf(f *index.File) kinship {
	return kinship{f.Run, f.Epoch, f.Init, f.Discontinuity, f.Format}
}

// driftLeast is from how much on a segment's time is told that is off what those
// before it make players expect.
const driftLeast = 20 * time.Millisecond

// reel writes the entries of a file; nil where there are none. Of one that is being
// written, the last segment may still grow, and is left out. before is whose entries
// come before, nil: nobody's.
func (s *style) reel(f *index.File, before *kinship) *reel {
	segments := layout.AppendSegments(make([]layout.Segment, 0, len(f.Fragments)), f.Fragments)
	if f.Growing() && len(segments) > 0 {
		segments = segments[:len(segments)-1]
	}
	first, segments := s.touching(f, segments)
	if len(segments) == 0 {
		return nil
	}
	r := &reel{
		number: f.Number, bytes: f.Bytes, sequence: f.Sequence + uint64(first), discontinuity: f.Discontinuity,
		entries: len(segments), format: f.Format, kin: kinOf(f), flat: s.flat, text: make([]byte, 0, 200+len(segments)*90),
	}
	if s.coarse > 0 {
		segments = coarsen(segments, s.coarse)
		r.entries = len(segments)
	}
	uri := string(appendURI(nil, nameOf(s.stream, f)))
	expected := time.Time{}
	for i := range segments {
		seg := &segments[i]
		at, lasts := f.StartOf(seg), layout.Time(seg.Duration)
		e := m3u8.Segment{URI: uri, Duration: lasts, RangeOffset: seg.Offset, RangeBytes: seg.Bytes, Short: true}
		if s.pictures {
			e.RangeBytes = seg.Head
			e.Gap = seg.Head == 0
		}
		if s.boxes {
			e.URI, e.RangeOffset, e.RangeBytes = string(appendBoxesURI(nil, s.stream, f, seg)), 0, 0
		}
		if i == 0 && !s.boxes && (!s.oneMap || before == nil || *before != r.kin) {
			e.MapURI, e.MapBytes = uri, f.Init
		}
		if at.Sub(expected).Abs() > driftLeast {
			e.ProgramDateTime, expected = at, at
		}
		expected = expected.Add(lasts)
		r.text = m3u8.AppendSegment(r.text, &e)
		r.count(&e, seg, at)
	}
	r.sum = crc32.ChecksumIEEE(r.text)
	return r
}

func (r *reel) count(e *m3u8.Segment, seg *layout.Segment, at time.Time) {
	if r.start.IsZero() {
		r.start = at
	}
	r.end = at.Add(e.Duration)
	r.longest = max(r.longest, e.Duration)
	r.lasts += e.Duration
	r.media += seg.Bytes
	if e.Duration > 0 {
		r.peak = max(r.peak, float64(seg.Bytes)*8/e.Duration.Seconds())
		r.peakPicture = max(r.peakPicture, float64(seg.Head)*8/e.Duration.Seconds())
	}
}

// touching leaves the segments that touch what is asked for, and returns which of all
// is the first.
func (s *style) touching(f *index.File, segments []layout.Segment) (int, []layout.Segment) {
	first, last := 0, len(segments)
	for first < last && !s.from.IsZero() && !f.StartOf(&segments[first]).Add(layout.Time(segments[first].Duration)).After(s.from) {
		first++
	}
	for last > first && !s.to.IsZero() && !f.StartOf(&segments[last-1]).Before(s.to) {
		last--
	}
	return first, segments[first:last]
}

// coarsen makes longer segments of those of a file.
func coarsen(segments []layout.Segment, least int64) []layout.Segment {
	longer := segments[:0]
	for _, s := range segments {
		if n := len(longer); n > 0 && longer[n-1].Duration < least {
			last := &longer[n-1]
			last.Count += s.Count
			last.Bytes += s.Bytes
			last.Duration += s.Duration
			continue
		}
		longer = append(longer, s)
	}
	return longer
}
