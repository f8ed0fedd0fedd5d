package timeline

import "time"

const (
	// wallReanchor is how late media may come before that is taken for the
	// camera's clock running slow, and not for the network.
	wallReanchor = 5 * time.Second

	// wallSlewShift sets how fast the estimate follows media that comes ever
	// later: 1/256 of the distance with each frame.
	wallSlewShift = 8

	// reportSlewShift sets how fast it follows sender reports, whose clocks are
	// often read a little late: a quarter of the distance with each.
	reportSlewShift = 2

	// reportExpiry is how long a sender report counts.
	reportExpiry = time.Minute
)

// wallClock estimates the distance from positions to the clock on the wall. A
// packet comes late, never early: so the least distance seen is the best, and
// larger ones move the estimate only slowly, for a camera's clock drifts. Better
// than that is what a camera with a sane clock says itself.
type wallClock struct {
	offset     time.Duration // wall clock since Timeline.zero, minus position
	reported   bool          // offset comes from sender reports
	reportedAt time.Time
}

func (w *wallClock) reset(offset time.Duration) { *w = wallClock{offset: offset} }

// observe takes the distance seen with one frame.
func (w *wallClock) observe(offset time.Duration, arrival time.Time) {
	if w.reported {
		if arrival.Sub(w.reportedAt) < reportExpiry {
			return
		}
		w.reported = false
	}
	switch late := offset - w.offset; {
	case late <= 0, late > wallReanchor:
		w.offset = offset
	default:
		w.offset += late >> wallSlewShift
	}
}

// report takes the distance that a sender report tells.
func (w *wallClock) report(offset time.Duration, arrival time.Time) {
	if w.reported {
		w.offset += (offset - w.offset) >> reportSlewShift
	} else {
		w.offset = offset
	}
	w.reported, w.reportedAt = true, arrival
}
