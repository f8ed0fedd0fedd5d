package timeline

import "time"

const (
	// slewWindow is how much of the stream one look at its pace takes in: the
	// packet that came with the least delay in it is the one that counts.
	slewWindow = 5 * time.Second

	// slewIdle is how far the stream may be off pace without being touched.
	slewIdle = 40 * time.Millisecond

	// slewTime is in what time a distance is made up for.
	slewTime = 10 * time.Second

	// gentleSlew bounds the change of pace while the distance is below
	// gentleLimit: nobody sees or hears 2 %. Beyond it the camera's clock is
	// plainly wrong (fewer pictures come than its timestamps say), and a stream
	// that runs dry would be worse.
	gentleSlew  = 0.02
	gentleLimit = time.Second
	hardSlew    = 0.25
)

// slew keeps a stream at the pace of Drover's clock. A camera's clock may run
// fast or slow; a player plays at the pace of its own, and would run dry, or ever
// later. So positions are stretched or squeezed, all tracks alike, and never
// jump.
type slew struct {
	from       time.Duration // raw position from which on rate is in force
	correction time.Duration // at from
	rate       float64       // corrected positions gain this on raw ones

	begun     bool
	reference time.Duration // least delay at the beginning
	windowEnd time.Duration // raw position
	least     time.Duration // delay, in the window
	seen      bool
}

func (s *slew) reset() { *s = slew{} }

// rebase forgets the pace so far, from a raw position on, where the stream is timed
// by another clock.
func (s *slew) rebase(raw time.Duration) {
	*s = slew{correction: s.apply(raw) - raw, from: raw}
}

// apply returns the corrected position.
func (s *slew) apply(raw time.Duration) time.Duration {
	return raw + s.correction + time.Duration(s.rate*float64(raw-s.from))
}

// observe takes the delay of a frame against its corrected position: by how much
// the arrival is later, apart from a constant.
func (s *slew) observe(raw, delay time.Duration) {
	if !s.seen || delay < s.least {
		s.least = delay
	}
	if !s.seen {
		s.seen = true
		s.windowEnd = raw + slewWindow
	}
	if raw < s.windowEnd {
		return
	}
	s.seen = false
	if !s.begun {
		s.begun = true
		s.reference = s.least
		return
	}
	s.steer(raw, s.least-s.reference)
}

// steer sets the pace from a position on, given how far the stream is behind.
func (s *slew) steer(raw, behind time.Duration) {
	s.correction = s.apply(raw) - raw
	s.from = raw
	if behind.Abs() < slewIdle {
		s.rate = 0
		return
	}
	limit := gentleSlew
	if behind.Abs() > gentleLimit {
		limit = hardSlew
	}
	s.rate = max(-limit, min(limit, float64(behind)/float64(slewTime)))
}
