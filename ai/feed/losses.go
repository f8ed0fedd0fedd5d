package feed

// losses is what a stream's pump was too slow for. It belongs to the pump.
type losses struct {
	came   uint64 // frames that the pump got
	wanted uint64 // of those, what the worker asked for
	missed uint64 // that it is yet to be told of
}

// add takes frames that never came to the pump, and returns how many of those the worker
// missed. What they were nobody knows: they are taken to have been wanted as often as the
// frames that came, which is exact where all are wanted.
func (l *losses) add(frames uint64) uint64 {
	if l.came == 0 {
		return 0 // nothing is missed before the first
	}
	wanted := (frames*l.wanted + l.came/2) / l.came
	l.missed += wanted
	return wanted
}

// take counts a frame that the worker gets, and returns how many it is told that it
// missed before that.
func (l *losses) take() uint64 {
	l.came++
	l.wanted++
	missed := l.missed
	l.missed = 0
	return missed
}
