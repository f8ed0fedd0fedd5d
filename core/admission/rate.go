package admission

import "time"

// rateWindow is over how long bits per second are averaged, at least: longer than
// a player takes from one segment to the next.
const rateWindow = 4 * time.Second

// A rate turns a count of bytes that grows into bits per second, over the last
// one to two windows.
type rate struct {
	bits int64 // per second, of late

	from, next reading
}

type reading struct {
	at    time.Time
	bytes uint64
}

// add is told the count. Of a count that does not grow any more, or falls, the
// rate is 0.
func (r *rate) add(bytes uint64, now time.Time) {
	last := reading{at: now, bytes: bytes}
	switch {
	case r.next.at.IsZero() || bytes < r.next.bytes || now.Sub(r.next.at) > 4*rateWindow:
		// The first, or another count, or one that nobody looked at for long.
		r.from, r.next, r.bits = last, last, 0
		return
	case now.Sub(r.next.at) >= rateWindow:
		r.from, r.next = r.next, last
	}
	// A burst at the start is not yet a rate.
	over := max(now.Sub(r.from.at), rateWindow)
	r.bits = int64(float64(bytes-r.from.bytes) * 8 / over.Seconds())
}
