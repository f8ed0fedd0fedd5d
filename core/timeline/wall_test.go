package timeline

import (
	"testing"
	"time"
	"unsafe"
)

// set returns a reading of the clock as it is after somebody has set the system's
// clock on by whole seconds: the monotonic part stays. Go makes no such time, so the
// seconds are changed where it keeps them, and the outcome is checked.
func set(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	was := at
	*(*uint64)(unsafe.Pointer(&at)) += uint64(by/time.Second) << 30
	if at.Round(0).Sub(was.Round(0)) != by || at.Sub(was) != 0 {
		t.Fatalf("Go keeps times in another way: %v became %v", was, at)
	}
	return at
}

// A clocked camera sends to a server whose clock is set.
type clocked struct {
	t        *testing.T
	timeline *Timeline
	track    *Track
	now      time.Time // with a monotonic part
	by       time.Duration
	reports  bool // of a clock that is by `camera` off the server's, as it was at first
	camera   time.Duration
	rtp      uint32

	last, step time.Duration // position of the newest frame, and how far it is from the one before
}

func newClocked(t *testing.T) *clocked {
	c := &clocked{t: t, timeline: New(0), now: time.Now()}
	c.connect()
	return c
}

func (c *clocked) connect() { c.track = c.timeline.Connect(90000)[0] }

// off sends frames for a time and returns how far the newest is off the server's clock.
func (c *clocked) off(length time.Duration) (off time.Duration, reported bool) {
	for i := range int(length / (40 * time.Millisecond)) {
		at := set(c.t, c.now, c.by)
		if c.reports && i%125 == 100 {
			c.track.Report(c.now.Round(0).Add(c.camera), c.rtp, at)
		}
		position := c.track.Position(c.track.PTS(c.rtp, at))
		c.last, c.step = position, position-c.last
		var wall time.Time
		wall, reported = c.timeline.Wall(position)
		off = wall.Sub(at)
		c.now, c.rtp = c.now.Add(40*time.Millisecond), c.rtp+frame
	}
	return off, reported
}

func TestTheTimeOfDayFollowsAClockThatIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Second, -time.Second, time.Hour, -time.Hour, 50 * 365 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			c := newClocked(t)
			c.off(10 * time.Second)
			c.by = by
			if off, _ := c.off(40 * time.Millisecond); off.Abs() > 50*time.Millisecond {
				t.Errorf("the first frame after it is %v off", off)
			}
			if c.step != 40*time.Millisecond {
				t.Errorf("the position moved by %v from one frame to the next", c.step)
			}
			c.connect()
			if off, _ := c.off(time.Minute); off.Abs() > 50*time.Millisecond {
				t.Errorf("after a reconnect footage is %v off", off)
			}
		})
	}
}

func TestReportsAreJudgedByTheClockThatWasSet(t *testing.T) {
	// The server is an hour late until NTP is heard; the camera is right all the time.
	c := newClocked(t)
	c.reports, c.camera = true, time.Hour+200*time.Millisecond
	if off, reported := c.off(10 * time.Second); reported || off.Abs() > 50*time.Millisecond {
		t.Errorf("before: %v off, by report: %t", off, reported)
	}
	c.by = time.Hour
	if off, reported := c.off(10 * time.Second); !reported || off != 200*time.Millisecond {
		t.Errorf("after: %v off, by report: %t", off, reported)
	}
	// Somebody sets the server's clock wrong.
	c.by = 3 * time.Hour
	if off, reported := c.off(10 * time.Second); reported || off.Abs() > time.Second {
		t.Errorf("set wrong: %v off, by report: %t", off, reported)
	}
}
