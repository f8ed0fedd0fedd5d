package archive

import (
	"testing"
	"time"

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
