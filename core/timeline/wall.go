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

	// leastSet is by how much the system's clock was set at least where its readings
	// part from the monotonic ones: less is what lies between reading one and the other.
	leastSet = 200 * time.Millisecond
)

// look begins the timeline with the first packet ever, and notices when somebody has
// set the system's clock since, as NTP does on a board without a battery. Positions go
// on by the clock that nobody sets, and the time of day follows at once. What the
// camera says of it is then to be judged anew.
func (t *Timeline) look(arrival time.Time) {
	if t.zero.IsZero() {
		t.zero = arrival
	}
	// Go's times hold two readings: Sub goes by the monotonic ones, Round(0) leaves only
	// the others.
	moved := arrival.Round(0).Sub(t.zero.Round(0)) - arrival.Sub(t.zero)
	if (moved - t.moved).Abs() >= leastSet {
		t.moved = moved
		t.wall.reported = false
	}
}

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
