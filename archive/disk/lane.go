package disk

import (
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/media"
)

// A Fragment is what is written at once: a mark, a moof and an mdat.
type Fragment struct {
	Head   []byte         // up to the media: mark, moof and the header of mdat
	Body   [][]byte       // the media
	Frames []*media.Frame // whose payloads Body is; released when it is written or dropped
	Bytes  int64          // of Head and Body

	Entry  layout.Fragment // its offset and shift are set by the writer
	Counts [2]int64        // frames of the leading track and of the other
	Start  time.Time       // of its first picture, in microseconds
	End    time.Time

	// Of the file that it belongs to, or begins where there is none.
	Spec *FileSpec
	// Fresh: it begins a new file. Breaks: that does not go on from the one before.
	Fresh, Breaks bool

	Slack time.Duration // what may lie between it and the one before without being a gap
	Lost  bool          // packets were lost before it
	Busy  bool          // frames before it were not taken in time
	Leap  time.Duration // by how much the clock was set since the one before
}

// A FileSpec is what fragments of one file have in common. It is immutable.
type FileSpec struct {
	Run, Epoch int64
	Init       []byte // ftyp and moov
	Format     index.Format
}

func (f *Fragment) release() {
	for i, frame := range f.Frames {
		frame.Release()
		f.Frames[i] = nil
	}
	f.Frames, f.Body = nil, nil
}

// An Outcome is what became of a fragment.
type Outcome struct {
	Start, End time.Time
	Slack      time.Duration // as in Fragment
	Lost, Busy bool          // as in Fragment
	Leap       time.Duration // as in Fragment
	Written    bool
	// Where it was not written:
	Cause  index.Cause
	Detail string // for people
}

func (f *Fragment) outcome() Outcome {
	return Outcome{Start: f.Start, End: f.End, Slack: f.Slack, Lost: f.Lost, Busy: f.Busy, Leap: f.Leap}
}

// A Lane is one stream's way to the disk. Its methods never wait, and are called by
// one goroutine at a time.
type Lane struct {
	writer         *Writer
	camera, source string
	done           func(Outcome)

	// Owned by the writer's goroutine.
	stream   int64 // in the index; 0 while it was not asked for
	file     *openFile
	awaiting bool // nothing is written until a fragment that begins with a keyframe
	follows  bool // the next file goes on where the one before ended

	// Guarded by writer.mu.
	dropping bool // as awaiting, for what had no room in the queue
}

// Lane returns the way of a camera's source. done is told what became of each fragment, by
// the writer's goroutine or from within Write; it must not wait.
func (w *Writer) Lane(camera, source string, done func(Outcome)) *Lane {
	return &Lane{writer: w, camera: camera, source: source, done: done}
}

// Write takes over a fragment, with the references to its frames.
func (l *Lane) Write(f *Fragment) {
	w := l.writer
	w.mu.Lock()
	room := w.queued+f.Bytes <= w.options.Buffer && !w.stopped
	if l.dropping && !f.Entry.Keyframe {
		room = false
	}
	if !room {
		l.dropping = true
		w.mu.Unlock()
		w.drop(l, f, index.CauseDiskSlow, "the disk cannot keep up")
		w.noteSlow()
		return
	}
	if l.dropping {
		l.dropping, f.Fresh = false, true
		f.Entry.Hole = true
	}
	w.queued += f.Bytes
	w.jobs = append(w.jobs, job{lane: l, fragment: f})
	urgent := w.queued > w.options.Buffer/4
	w.mu.Unlock()
	w.nudge(urgent)
}

// End tells that the stream's file is complete for now.
func (l *Lane) End() {
	w := l.writer
	w.mu.Lock()
	w.jobs = append(w.jobs, job{lane: l})
	w.mu.Unlock()
	w.nudge(false)
}
