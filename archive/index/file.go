package index

import (
	"time"

	"github.com/drover-video/drover/archive/layout"
)

// MaxFileSpan is the longest time that one file may span: what a range touches is
// looked for so far before it.
const MaxFileSpan = 10 * time.Minute

// Format is what playlists say of a file's tracks.
type Format struct {
	Codecs        string // as in CODECS
	Width, Height int    // 0 without video
	FPS           float64
}

// Places is where a file lies.
type Places uint8

// The places of a file.
const (
	Here       Places = 1 << iota // below the archive's directory
	SecondHome                    // in the object store
	Evicted                       // no place: it was in the object store, and is not copied there again
)

// File is one file of a stream, and what is in it.
type File struct {
	Stream, Number int64

	Run, Epoch int64
	Start      time.Time     // of the first picture, in microseconds
	Span       time.Duration // from Start to the end of the last picture, by wall-clock time
	Duration   int64         // of media, in 1/90000 s
	Init       int64         // bytes of ftyp and moov
	Header     int64         // bytes before the first fragment
	Bytes      int64         // of the file, the header included
	Format     Format
	Frames     [2]int64 // of the leading track and the other
	Thinned    bool     // of keyframes alone
	Places     Places
	Open       bool // being written, or Broken
	Broken     bool // could not be synced: nothing more is written, and the next start looks at what is there

	// Of its first segment, of the stream's playlist that reaches over all its files.
	// Begin sets them.
	Sequence, Discontinuity uint64

	// Discontinuous: its first segment does not go on from the file before. For Begin.
	Discontinuous bool

	Fragments []layout.Fragment // of some queries only
}

// Copied reports whether the file has a copy in the second home, or had one.
func (f *File) Copied() bool { return f.Places&(SecondHome|Evicted) != 0 }

// End is when the last picture ends.
func (f *File) End() time.Time { return f.Start.Add(f.Span) }

// StartOf returns when the first picture of one of the file's segments is shown.
func (f *File) StartOf(s *layout.Segment) time.Time {
	return f.Start.Add(layout.Time(s.Start) + time.Duration(s.Shift)*time.Microsecond)
}

// Growing reports whether more may be written to the file.
func (f *File) Growing() bool { return f.Open && !f.Broken }

// Playable is when the last picture ends that players are given: of a file being
// written that of the last segment but one, for the last may still grow.
func (f *File) Playable() time.Time {
	if !f.Growing() || len(f.Fragments) == 0 {
		return f.End()
	}
	segments := layout.AppendSegments(nil, f.Fragments)
	return f.StartOf(&segments[len(segments)-1])
}

// add takes in a fragment that was written behind all others.
func (f *File) add(fragment layout.Fragment, frames [2]int64) {
	f.Fragments = append(f.Fragments, fragment)
	f.Bytes += fragment.Bytes
	f.Duration += fragment.Duration
	f.Frames[0] += frames[0]
	f.Frames[1] += frames[1]
	f.Span = max(f.Span, layout.Time(f.Duration)+time.Duration(fragment.Shift)*time.Microsecond)
}

// far stands for the end of what has not ended.
const far = int64(1) << 62

func micros(t time.Time) int64 {
	if t.IsZero() {
		return far
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == far {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
