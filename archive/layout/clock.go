package layout

import "time"

// A Clock tells the wall-clock times of a file's fragments, one after the other.
type Clock struct {
	start time.Time
	ticks int64 // of all fragments so far
}

// NewClock returns the clock of a file whose first picture is shown at start.
func NewClock(start time.Time) Clock { return Clock{start: start} }

// Next returns when the next fragment's first picture is shown, and goes on to
// the one behind it.
func (c *Clock) Next(f *Fragment) time.Time {
	at := c.Due().Add(time.Duration(f.Shift) * time.Microsecond)
	c.ticks += f.Duration
	return at
}

// Due returns when the next fragment is shown if it has no shift, in whole
// microseconds.
func (c *Clock) Due() time.Time {
	return c.start.Add(Time(c.ticks)).Truncate(time.Microsecond)
}

// Shift returns that of a next fragment whose first picture is shown at a time.
func (c *Clock) Shift(at time.Time) int64 { return at.UnixMicro() - c.Due().UnixMicro() }

// Ends returns when the last of a file's fragments ends that begins at start.
func Ends(start time.Time, fragments []Fragment) time.Time {
	clock, end := NewClock(start), start
	for i := range fragments {
		end = clock.Next(&fragments[i]).Add(Time(fragments[i].Duration))
	}
	return end
}
