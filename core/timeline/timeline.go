// Package timeline rebuilds a camera's time. RTP timestamps wrap, jump, stand
// still and begin anywhere; out of them comes one timeline per source that only
// moves forward, on which all tracks share their zero, and a wall-clock time for
// each point of it.
//
// The package reads no clock: arrival times come in.
package timeline

import "time"

// Timeline is the time of one source, over all its connections. It belongs to
// the goroutine that reads the source.
type Timeline struct {
	zero  time.Time     // arrival of the first packet ever; position 0
	moved time.Duration // by which the system's clock was set since then
	end   time.Duration
	epoch uint64

	// Where the current epoch's first packet lies, by arrival and position: the
	// tracks begin relative to it.
	anchored bool
	anchorAt time.Time
	anchor   time.Duration

	jumped bool // a track changed its line: a new epoch is due
	slew   slew
	wall   wallClock
	tracks []*Track
	lead   int // place of the track whose clock steers all
}

// New returns a timeline whose next epoch is firstEpoch+1.
func New(firstEpoch uint64) *Timeline {
	return &Timeline{epoch: firstEpoch}
}

// Epoch returns the epoch in force.
func (t *Timeline) Epoch() uint64 { return t.epoch }

// Connect begins a new epoch with tracks of the given clock rates, in ticks per
// second. What was there before does not relate to what comes, but positions
// grow on.
func (t *Timeline) Connect(clockRates ...int) []*Track {
	t.epoch++
	t.anchored = false
	t.jumped = false
	t.slew.reset()
	t.lead = 0
	t.tracks = make([]*Track, len(clockRates))
	for i, rate := range clockRates {
		t.tracks[i] = newTrack(t, rate)
	}
	return t.tracks
}

// Lead names the track, by its place in Connect, whose clock steers the pace of
// all and tells the time of day: the picture's. A bad audio clock never costs the
// video. Without a call it is the first.
func (t *Timeline) Lead(track int) { t.lead = track }

// Entry tells that the next frame is one on which a subscriber may start. If
// timestamps have jumped since the last, a new epoch begins here, where a player
// can follow, and Entry reports true.
func (t *Timeline) Entry() bool {
	if !t.jumped {
		return false
	}
	t.jumped = false
	t.epoch++
	return true
}

// Wall returns the wall-clock time of a position on the timeline, as known now,
// and whether it is the camera's own, by its sender reports. It has no monotonic
// reading: one of zero would hide that the clock was set since.
func (t *Timeline) Wall(position time.Duration) (at time.Time, reported bool) {
	return t.zero.Round(0).Add(t.moved + position + t.wall.offset), t.wall.reported
}

// begin returns the position of a track's first packet in an epoch.
func (t *Timeline) begin(arrival time.Time) time.Duration {
	if !t.anchored {
		t.anchored = true
		t.anchorAt = arrival
		// By the clock, so that time away from the camera passes on the timeline
		// as well; but never into what has been, and far enough after it that
		// pictures decoded ahead of their time stay after it too.
		t.anchor = arrival.Sub(t.zero)
		if t.end > 0 {
			t.anchor = max(t.anchor, t.end+maxBack)
		}
		t.wall.reset(arrival.Sub(t.zero) - t.anchor)
	}
	return max(t.anchor+arrival.Sub(t.anchorAt), 0)
}

// reached notes how far the timeline goes.
func (t *Timeline) reached(position time.Duration) {
	t.end = max(t.end, position)
}
