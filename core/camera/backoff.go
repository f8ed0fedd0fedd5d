package camera

import "time"

// Defaults of Backoff.
const (
	DefaultBackoffMin = time.Second
	DefaultBackoffMax = time.Minute
)

// stableAfter is how long a stream must have run before its next failure counts
// as the first: a camera that accepts and closes each second is not well. One that
// ran for worthwhile, again and again, is left alone for a quarter of that time at most.
const (
	stableAfter = 30 * time.Second
	worthwhile  = 10 * time.Second
)

// Backoff is how long to leave a camera alone that failed.
type Backoff struct {
	Min time.Duration // before the first retry, at most
	Max time.Duration // before any retry, at most

	// Random returns a number in [0, 1). With full jitter, a thousand cameras that
	// vanish together do not come back in step.
	Random func() float64

	failures int
}

// next returns the time before the next try, which is at least floor.
func (b *Backoff) next(floor time.Duration) time.Duration {
	limit := b.Max
	if shift := b.failures; shift < 30 {
		limit = min(b.Max, b.Min<<shift)
	}
	b.failures++
	// The floor is spread too, upwards.
	return floor + time.Duration(b.Random()*float64(limit))
}

func (b *Backoff) reset() { b.failures = 0 }

// ran tells for how long a stream ran before it failed.
func (b *Backoff) ran(d time.Duration) {
	switch {
	case d >= stableAfter:
		b.reset()
	case d >= worthwhile:
		for b.failures > 0 && (b.failures >= 30 || b.Min<<b.failures > d/4) {
			b.failures--
		}
	}
}
