package timeline

import "time"

const (
	// maxBack is how far a timestamp may lie behind the newest without being a
	// jump: reordered pictures do, by a few frames.
	maxBack = time.Second

	// maxAhead is how much further a timestamp may move than the clock did since
	// the packet before: what a network held up comes in a burst.
	maxAhead = 3 * time.Second

	// settle is how many frames in a row on a new line make it the line. One or
	// two may be strays, and the line before is kept for their end.
	settle = 3

	// returns is how long the line before a jump is remembered. Some cameras go back
	// to it, and to and fro each second: both lines lead to the same place.
	returns = time.Minute

	// maxReturn is how far from where it should be by now it may be found.
	maxReturn = 300 * time.Millisecond
)

// Track turns the RTP timestamps of one track into ticks on the timeline.
type Track struct {
	timeline *Timeline
	rate     int64

	begun   bool
	current line
	before  line      // the current one until the newest jump, or change between the two
	leftAt  time.Time // when; zero: there was none
	other   line      // where the newest stray frames lie
	strays  int       // frames in a row on other
	late    int64     // ticks that passed before the first of them, beyond a frame's time

	newest    int64 // greatest raw time, in ticks, before correction
	lastTime  time.Time
	nominal   int64 // ticks from frame to frame, of late
	lastDTS   int64
	dtsGiven  bool
	restamped uint64

	pace    pace
	arrival byArrival

	// How this track lies against the others, by sender reports.
	reported bool
	clock    time.Duration // the camera's clock since Timeline.zero, minus position
	shift    time.Duration // added to the track's positions
	shiftTo  time.Duration // where shift is going
}

// A line maps RTP timestamps to ticks: it runs through one point and is followed
// by small steps, so that 32 bits suffice.
type line struct {
	rtp   uint32
	ticks int64
}

func (l line) at(rtp uint32) int64 { return l.ticks + int64(int32(rtp-l.rtp)) }

func newTrack(t *Timeline, rate int) *Track {
	rate = max(rate, 1)
	return &Track{timeline: t, rate: int64(rate), nominal: int64(rate) / 25}
}

// Restamped returns how many timestamps were not believed.
func (t *Track) Restamped() uint64 { return t.restamped }

// PTS returns the presentation time of a frame in ticks of the track. A frame
// whose timestamp makes no sense gets the place after the newest one; when those
// that follow agree with it and not with what was before, the track goes on from
// there and the timeline notes that a new epoch is due.
func (t *Track) PTS(rtp uint32, arrival time.Time) int64 {
	t.timeline.look(arrival)
	if !t.begun {
		t.begun = true
		t.current = line{rtp, t.ticks(t.timeline.begin(arrival))}
		t.newest = t.current.ticks
		t.lastTime = arrival
		return t.correct(t.newest, arrival, true)
	}
	if t.arrival.why != "" {
		raw := t.arrived(arrival)
		t.advance(raw)
		return t.correct(raw, arrival, true)
	}
	elapsed := max(arrival.Sub(t.lastTime), 0)
	t.lastTime = arrival
	fits := t.plausible(t.current.at(rtp), elapsed)
	if !fits && t.isBack(rtp, elapsed, arrival) {
		fits = true
		t.current, t.before, t.leftAt = t.before, t.current, arrival
	}
	raw := t.current.at(rtp)
	if fits {
		t.strays = 0
		t.current = line{rtp, raw}
	} else {
		t.restamped++
		raw = t.stray(rtp, elapsed)
	}
	t.advance(raw)
	if t == t.timeline.tracks[t.timeline.lead] {
		// What another track says is wrong costs that track alone, and its frames last
		// what they say themselves.
		if v, ratio := t.pace.observe(t.newest, fits, arrival, t.rate); v != paceSane {
			t.goByArrival(v.why(ratio), arrival)
		}
	}
	return t.correct(raw, arrival, fits)
}

// correct brings a raw time to the pace of the timeline and in line with the
// other tracks. What a frame that fits tells about pace and clock is noted.
func (t *Track) correct(raw int64, arrival time.Time, fits bool) int64 {
	at := t.duration(raw)
	position := t.timeline.slew.apply(at) + t.shift
	if fits && t == t.timeline.tracks[t.timeline.lead] {
		delay := arrival.Sub(t.timeline.zero) - position
		t.timeline.slew.observe(at, delay)
		t.timeline.wall.observe(delay, arrival)
	}
	corrected := raw + t.ticks(position-at)
	t.timeline.reached(t.duration(corrected))
	return corrected
}

// stray places a frame that does not fit the current line, and makes the line it
// is on the current one when enough frames in a row are on it.
func (t *Track) stray(rtp uint32, elapsed time.Duration) int64 {
	if t.strays > 0 && t.plausible(t.other.at(rtp), elapsed) {
		t.strays++
		t.other = line{rtp, t.other.at(rtp)}
	} else {
		t.strays = 1
		// No later than a frame's time, for the next frame may be on the old line
		// again, and what was held up comes in a burst.
		t.other = line{rtp, t.newest + t.nominal}
		t.late = max(t.ticks(elapsed)-t.nominal, 0)
	}
	if t.strays == settle {
		t.strays = 0
		t.before, t.leftAt = t.current, t.lastTime
		t.other.ticks += t.late // on a line of its own, the clock says how much later it is
		t.current = t.other
		t.timeline.jumped = true
		t.pace = pace{}
		t.reported = false // of the line before
	}
	return t.other.ticks
}

// isBack reports whether a frame that does not fit the current line is on the one
// before, where it should be by now.
func (t *Track) isBack(rtp uint32, elapsed time.Duration, arrival time.Time) bool {
	if t.leftAt.IsZero() || arrival.Sub(t.leftAt) > returns {
		return false
	}
	step := t.before.at(rtp) - t.newest
	return step > -t.ticks(maxReturn) && step < t.ticks(elapsed+maxReturn)
}

// plausible reports whether a frame may come at a place, given how much time has
// passed since the frame before.
func (t *Track) plausible(pts int64, elapsed time.Duration) bool {
	step := pts - t.newest
	return step > -t.ticks(maxBack) && step < t.ticks(elapsed+maxAhead)
}

// advance notes a raw time.
func (t *Track) advance(raw int64) {
	step := raw - t.newest
	if step <= 0 {
		return
	}
	if step < t.rate {
		t.nominal = max(t.nominal+(step-t.nominal)/8, 1)
	}
	t.newest = raw
	t.glide(t.duration(step))
}

// DTS makes a decoding time fit: greater than the one before, over epochs too. A
// frame whose time does not move gets an eighth of a frame's time, so that a
// clock that stood still is soon caught up with. It returns the presentation
// time too, which is never before the decoding time.
func (t *Track) DTS(pts, dts int64) (fitPTS, fitDTS int64) {
	if t.dtsGiven && dts <= t.lastDTS {
		dts = t.lastDTS + max(t.nominal/8, 1)
	}
	t.dtsGiven = true
	t.lastDTS = dts
	pts = max(pts, dts)
	t.timeline.reached(t.duration(pts))
	return pts, dts
}

// Position converts ticks of the track to a position on the timeline.
func (t *Track) Position(ticks int64) time.Duration { return t.duration(ticks) }

func (t *Track) ticks(d time.Duration) int64 {
	return int64(d/time.Second)*t.rate + int64(d%time.Second)*t.rate/int64(time.Second)
}

func (t *Track) duration(ticks int64) time.Duration {
	return time.Duration(ticks/t.rate)*time.Second + time.Duration(ticks%t.rate)*time.Second/time.Duration(t.rate)
}
