package timeline

import "time"

const (
	// wallReanchor is how late media may come before that is taken for the
	// camera's clock running slow, and not for the network.
	wallReanchor = 5 * time.Second

	// wallSlewShift sets how fast the estimate follows media that comes ever
	// later: 1/256 of the distance with each frame.
	wallSlewShift = 8
)

// wallClock estimates the distance from positions to the clock on the wall. A
// packet comes late, never early: so the least distance seen is the best, and
// larger ones move the estimate only slowly, for a camera's clock drifts.
type wallClock struct {
	offset time.Duration // wall clock since Timeline.zero, minus position
}

func (w *wallClock) reset(offset time.Duration) { w.offset = offset }

// observe takes the distance seen with one frame.
func (w *wallClock) observe(offset time.Duration) {
	switch late := offset - w.offset; {
	case late <= 0, late > wallReanchor:
		w.offset = offset
	default:
		w.offset += late >> wallSlewShift
	}
}
