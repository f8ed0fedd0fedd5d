package archive

import (
	"time"

	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/media"
)

const (
	// deadband is how far the wall-clock time of footage may be off the estimate
	// before anything is done about it, and settled when it is near enough again.
	deadband = 50 * time.Millisecond
	settled  = 5 * time.Millisecond

	// slewShare is the share of its own time by which footage is moved.
	slewShare = 50

	// mostOverlap is how far behind the end of what was before an epoch may be said
	// to begin for that to be an error of the estimate, and how far footage may be off
	// the estimate for it to be moved there. Beyond it somebody has set the clock.
	mostOverlap = 10 * time.Second

	// leastLeap is by how much an epoch begins at least further on than time has passed
	// since the one before, where somebody has set the clock meanwhile: what was held up
	// in the network before a camera went away was taken for older than it was.
	leastLeap = time.Minute
)

// times gives fragments their wall-clock times: smoothly, so that footage without a
// hole has none in wall-clock time either, though the estimate that comes with frames
// moves about.
type times struct {
	file    time.Time // start of the present file; zero before the first
	clock   layout.Clock
	carry   time.Duration // by which fragments of the file are off its clock
	end     time.Time     // of the last fragment; zero before the first
	lastFor time.Duration // how long that was
	place   time.Duration // of its end, on the source's timeline
	slewing bool
}

// due is when a fragment begins that goes on from the last.
func (t *times) due() time.Time {
	if t.file.IsZero() {
		return t.end
	}
	return t.clock.Due().Add(t.carry)
}

// begin returns when the fragment begins whose first frame is f. joined says that it
// goes on from the last one; else it is behind so much of a hole of the same epoch,
// or, without known, of another epoch.
func (t *times) begin(f *media.Frame, joined bool, behind time.Duration, known bool) time.Time {
	start := f.Wall.Truncate(time.Microsecond)
	switch {
	case t.end.IsZero():
	case joined:
		start = t.due()
		if f.Keyframe {
			start = start.Add(t.slew(f.Wall.Sub(start)))
		}
	case known:
		start = t.end.Add(behind)
		t.slewing = true
	case start.Before(t.end) && t.end.Sub(start) < mostOverlap:
		start = t.end
		t.slewing = true
	}
	return start.Truncate(time.Microsecond)
}

// astray reports whether the estimate has left footage that goes on from the last
// fragment, and is so much of a fragment further on: slewing would take hours.
func (t *times) astray(f *media.Frame, further time.Duration) bool {
	return f.Wall.Sub(t.due().Add(further)).Abs() > mostOverlap
}

// leap returns by how much the clock was set since the last fragment, if it was, where
// an epoch begins at start, at a place on the source's timeline: that goes by a clock
// that nobody sets, while the camera is away too.
func (t *times) leap(start time.Time, place time.Duration) time.Duration {
	if t.end.IsZero() {
		return 0
	}
	leap := start.Sub(t.end) - (place - t.place)
	if leap.Abs() < leastLeap {
		return 0
	}
	return leap
}

// slew returns by how much the next fragment is moved towards the estimate.
func (t *times) slew(off time.Duration) time.Duration {
	if off.Abs() > deadband {
		t.slewing = true
	}
	if !t.slewing {
		return 0
	}
	most := t.lastFor / slewShare
	step := max(-most, min(most, off))
	if (off - step).Abs() < settled {
		t.slewing = false
	}
	return step
}

// fragment notes one that begins at start and lasts so many ticks of 1/90000 s.
func (t *times) fragment(start time.Time, ticks int64, fresh bool) (end time.Time) {
	if fresh || t.file.IsZero() {
		t.file, t.clock, t.carry = start, layout.NewClock(start), 0
	}
	t.carry = start.Sub(t.clock.Due())
	t.clock.Next(&layout.Fragment{Duration: ticks})
	t.lastFor = layout.Time(ticks)
	t.end = t.due()
	return t.end
}
