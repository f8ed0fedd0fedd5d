package archive

import (
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
)

func TestWhatWasRecordedToBeKeptStaysWhenOnlyEventsAreKeptFromThenOn(t *testing.T) {
	const month = 30 * 24 * time.Hour
	events := camera.RecordSpec{Mode: camera.RecordEvent, MaxAge: month, PreRoll: time.Minute}
	r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordContinuous, MaxAge: month}, nil)
	r.minutes(4)
	before := r.files()
	r.spec(events)
	r.pass()
	if n := len(r.files()); n != len(before) {
		t.Fatalf("%d of %d files are left once the mode is event", n, len(before))
	}
	r.minutes(5) // they roll
	r.stop()
	r.open(events, nil)
	r.pass()
	after := r.files()
	if len(after) < len(before) {
		t.Fatalf("%d files are left, %d were recorded before", len(after), len(before))
	}
	for i := range before {
		if after[i].Number != before[i].Number {
			t.Errorf("file %d is number %d, not %d", i, after[i].Number, before[i].Number)
		}
	}
	if rolled := cause(r.gaps(), index.CauseRequest); len(rolled) != 1 {
		t.Errorf("of what no event was in, over a restart, there went %+v", rolled)
	}
	r.verified()
}

func TestRollingBeginsAnewOnceACameraWasRecordedOtherwise(t *testing.T) {
	rolls, keeps := &policy{rolling: true}, &policy{}
	at := func(n int) time.Time { return zero.Add(time.Duration(n) * time.Minute) }
	for name, c := range map[string]struct {
		told []*policy // one a minute; nil: the camera was removed
		want time.Time
	}{
		"never":              {[]*policy{keeps}, time.Time{}},
		"from the start":     {[]*policy{rolls}, at(0)},
		"goes on":            {[]*policy{rolls, rolls}, at(0)},
		"later":              {[]*policy{keeps, rolls}, at(1)},
		"with a pause":       {[]*policy{rolls, keeps, rolls}, at(2)},
		"of another camera":  {[]*policy{rolls, nil, rolls}, at(2)},
		"not any more":       {[]*policy{rolls, keeps}, time.Time{}},
		"of a camera's name": {[]*policy{rolls, nil}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rollings{since: map[string]time.Time{}}
			for i, p := range c.told {
				r.set("door", p, at(i))
			}
			if got := r.since["door"]; !got.Equal(c.want) {
				t.Errorf("since %v, want %v", got, c.want)
			}
		})
	}
}
