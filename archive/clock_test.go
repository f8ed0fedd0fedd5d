package archive

import (
	"slices"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
)

func TestAClockWithoutABatteryIsBelievedWhenItIsPutRight(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		off  time.Duration // how long the machine was off
		more time.Duration // by which the clock jumps afterwards
		want bool          // it is doubted
	}{
		"off for two minutes":               {2 * time.Minute, 0, false},
		"off for days":                      {6 * day, 0, false},
		"put to before the last recording":  {-day, 0, false},
		"off for weeks, or wrong":           {30 * day, 0, true},
		"right, and then ahead by a year":   {2 * time.Minute, 365 * day, true},
		"off for weeks, and back to normal": {30 * day, -29 * day, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), continuous, nil)
			r.minutes(1)
			r.stop()
			last := r.clock()
			r.setClock(time.Date(1970, 1, 1, 0, 0, 5, 0, time.UTC))
			r.open(camera.RecordSpec{Mode: camera.RecordOff}, func(o *Options) { o.Passed = func() time.Duration { return time.Second } })
			r.pass()
			r.setClock(last.Add(c.off))
			r.pass()
			r.setClock(r.clock().Add(time.Second + c.more))
			r.pass()
			if got := r.recorder.Space().DoubtsClock; got != c.want {
				t.Errorf("it is doubted: %t", got)
			}
		})
	}
}

func TestAClockThatWasAheadForAWhileHidesNoGapAndNoFootage(t *testing.T) {
	for name, c := range map[string]struct {
		restart bool // while it is ahead, and not only when it is right again
		away    bool // the camera goes away where the clock is set
	}{
		"set while footage comes":          {false, false},
		"set while the camera is away":     {false, true},
		"ahead before and after a restart": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := newRig(t, dir, continuous, nil)
			set := func(drift time.Duration) {
				r.taken()
				if c.away {
					r.reconnect(10 * time.Second)
				}
				r.drift = drift
				r.setClock(zero.Add(r.video.Duration(r.dts) + drift))
			}
			restart := func(off time.Duration) {
				r.taken()
				r.stop()
				r.reconnect(off)
				r.setClock(zero.Add(r.video.Duration(r.dts) + r.drift - time.Second)) // it takes a second to connect
				r.open(continuous, nil)
			}
			r.gops(5)
			set(365 * 24 * time.Hour)
			r.gops(5)
			if c.restart {
				restart(time.Minute)
				r.gops(5)
			}
			set(0)
			r.gops(40)
			restart(2 * time.Hour)
			r.gops(5)
			r.taken()
			r.stop()
			r.open(camera.RecordSpec{Mode: camera.RecordOff}, nil)
			if down := cause(r.gaps(), index.CauseProcessDown); !slices.ContainsFunc(down, func(g index.Gap) bool { return g.To.Sub(g.From) == 2*time.Hour }) {
				t.Errorf("that Drover did not run for two hours is not told: %+v", r.gaps())
			}
			for _, g := range r.gaps() {
				for _, f := range r.files() {
					if !g.To.IsZero() && f.Start.Before(g.To) && g.From.Before(f.End()) {
						t.Errorf("footage from %v to %v lies in a gap from %v to %v: %s (%s)", f.Start, f.End(), g.From, g.To, g.Cause, g.Detail)
					}
				}
			}
			r.verified()
		})
	}
}
