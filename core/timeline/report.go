package timeline

import "time"

const (
	// A sender report is believed about the time of day when it says that the
	// camera sent at most so much before it arrived, and not after, but for a
	// little that two clocks may differ.
	maxReportAge   = 5 * time.Second
	maxReportAhead = 500 * time.Millisecond

	// alignIdle is how far apart tracks may be without being touched: less than
	// people notice (ITU-R BT.1359: 45 ms).
	alignIdle = 40 * time.Millisecond

	// maxAlign is the largest distance between tracks that is believed.
	maxAlign = 10 * time.Second

	// alignRate is how fast a track is moved, as a share of its own time; five
	// times as fast while it is far off.
	alignRate = 0.01
	alignFar  = 300 * time.Millisecond
)

// Report takes a sender report (RFC 3550 section 6.4.1): what the camera's clock
// said at one timestamp of the track. Two tracks with reports are brought onto
// one line, and where the camera's clock is sane it gives the wall-clock time.
func (t *Track) Report(ntp time.Time, rtp uint32, arrival time.Time) {
	if !t.begun || t.strays > 0 || t.arrival.why != "" {
		return
	}
	t.timeline.look(arrival)
	raw := t.duration(t.current.at(rtp))
	if (raw - t.duration(t.newest)).Abs() > maxReportAge {
		return // of a time long gone, or of timestamps of another line
	}
	position := t.timeline.slew.apply(raw) + t.shift
	t.reported, t.clock = true, ntp.Sub(t.timeline.zero)-position
	if age := arrival.Sub(ntp); age <= maxReportAge && age >= -maxReportAhead {
		t.timeline.wall.report(t.clock-t.timeline.moved, arrival)
	}
	t.timeline.align()
}

// align moves tracks towards the first one that has had a report.
func (t *Timeline) align() {
	var lead *Track
	for _, track := range t.tracks {
		if !track.reported {
			continue
		}
		if lead == nil {
			lead = track
			continue
		}
		if apart := track.clock - lead.clock; apart.Abs() > alignIdle && apart.Abs() < maxAlign {
			track.shiftTo = track.shift + apart
		}
	}
}

// glide moves a track's shift towards where it is to be, by a share of the time
// that has passed on the track.
func (t *Track) glide(passed time.Duration) {
	left := t.shiftTo - t.shift
	if left == 0 || passed <= 0 {
		return
	}
	step := time.Duration(alignRate * float64(passed))
	if left.Abs() > alignFar {
		step *= 5
	}
	// The clock of the last report was taken with the shift as it was then.
	moved := max(-step, min(step, left))
	t.shift += moved
	t.clock -= moved
}
