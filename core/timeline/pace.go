package timeline

import (
	"fmt"
	"time"
)

const (
	// paceWindow is over how much of the clock one look at a track's timestamps goes,
	// and paceWindows how many in a row must find the same before it counts: a network
	// that stalled and a burst that follows it look like the opposite of each other.
	paceWindow  = 4 * time.Second
	paceWindows = 2
	paceFrames  = 4 // in a window, at least

	// slowest and fastest are how much of the clock's time timestamps may count. In
	// between, slew follows.
	slowest = 0.4
	fastest = 2.5
)

// pace watches whether a track's timestamps count the time at all. Some cameras send
// the same one for ever, count milliseconds where 1/90000 s was agreed, or send
// numbers that mean nothing.
type pace struct {
	begun  bool
	from   time.Time
	ticks  int64
	frames int
	strays int

	found   verdict
	windows int // in a row that found it
}

type verdict uint8

const (
	paceSane verdict = iota
	paceStill
	paceSlow
	paceFast
	paceWild
)

// observe takes a frame, and reports what is wrong with the track's timestamps once it
// is beyond doubt. ratio is how much of the clock's time they count.
func (p *pace) observe(raw int64, fits bool, arrival time.Time, rate int64) (v verdict, ratio float64) {
	if !p.begun {
		p.restart(raw, arrival)
		return paceSane, 1
	}
	p.frames++
	if !fits {
		p.strays++
	}
	elapsed := arrival.Sub(p.from)
	if elapsed < paceWindow {
		return paceSane, 1
	}
	ratio = float64(raw-p.ticks) / float64(rate) / elapsed.Seconds()
	v = judge(ratio, p.frames, p.strays)
	if v == paceSane || v != p.found {
		p.windows = 0
	}
	p.found = v
	p.windows++
	p.restart(raw, arrival)
	if p.windows < paceWindows {
		return paceSane, 1
	}
	return v, ratio
}

func (p *pace) restart(raw int64, arrival time.Time) {
	p.begun, p.from, p.ticks, p.frames, p.strays = true, arrival, raw, 0, 0
}

func judge(ratio float64, frames, strays int) verdict {
	switch {
	case frames < paceFrames:
		return paceSane
	case strays*2 > frames:
		return paceWild
	case ratio < 0.001:
		return paceStill
	case ratio < slowest:
		return paceSlow
	case ratio > fastest:
		return paceFast
	}
	return paceSane
}

// why says it to people.
func (v verdict) why(ratio float64) string {
	const instead = "; Drover goes by when the pictures arrive: look for newer firmware"
	switch v {
	case paceStill:
		return "the camera's timestamps stand still" + instead
	case paceSlow:
		return fmt.Sprintf("the camera's timestamps count %.2g of a second in each", ratio) + instead
	case paceFast:
		return fmt.Sprintf("the camera's timestamps count %.2g seconds in each", ratio) + instead
	case paceWild:
		return "the camera's timestamps jump about" + instead
	}
	return ""
}

// arrivalSmoothing: a frame is placed a frame's time after the one before, and an
// eighth of the way nearer to when it came, so that jitter of the network is not seen
// and the pace is right.
const arrivalSmoothing = 8

// byArrival is the clock of a track whose timestamps are of no use.
type byArrival struct {
	why      string // "": they are of use
	from     time.Time
	base     int64
	interval time.Duration // from frame to frame, of late
	last     time.Time
}

// goByArrival has the track timed by arrival from here on. Those who play it follow
// at the next entry.
func (t *Track) goByArrival(why string, arrival time.Time) {
	t.arrival = byArrival{why: why, from: arrival, base: t.newest, interval: t.duration(t.nominal), last: arrival}
	t.timeline.jumped = true
	t.reported = false
	at := t.duration(t.newest)
	t.timeline.slew.rebase(at)
	t.timeline.wall.reset(arrival.Sub(t.timeline.zero) - t.timeline.slew.apply(at) - t.shift)
}

// arrived returns the raw time of a frame that is timed by arrival.
func (t *Track) arrived(arrival time.Time) int64 {
	a := &t.arrival
	step := max(arrival.Sub(a.last), 0)
	a.last = arrival
	if step < time.Second {
		a.interval += (step - a.interval) / arrivalSmoothing
	}
	target := a.base + t.ticks(arrival.Sub(a.from))
	next := t.newest + max(t.ticks(a.interval), 1)
	if off := target - next; off > t.rate || off < -t.rate {
		next = target // after a silence, or a burst of one
	} else {
		next += off / arrivalSmoothing
	}
	return max(next, t.newest+1)
}

// Irregular says, for people, why the track is timed by arrival and not by its
// timestamps; "" while it is not.
func (t *Track) Irregular() string { return t.arrival.why }
