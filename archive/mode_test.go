package archive

import (
	"errors"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/footage"
)

func TestAScheduleSwitchesRecording(t *testing.T) {
	// zero is a Wednesday, ten o'clock.
	r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordSchedule, Schedule: camera.Schedule{Spans: []string{"wed 10:01-10:02"}}}, nil)
	r.gops(29)
	if len(r.ring.Subscribers()) > 0 {
		t.Fatal("it records too early")
	}
	r.gops(2)
	r.listens()
	r.gops(5)
	r.taken()
	r.setClock(zero.Add(2 * time.Minute))
	await(t, "it ends", func() bool { return len(r.ring.Subscribers()) == 0 })
	r.verified()
}

func TestAnEventIsRecordedWithWhatWasBeforeIt(t *testing.T) {
	r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordEvent, PreRoll: 4 * time.Second, PostRoll: 6 * time.Second}, nil)
	r.gops(10)
	if len(r.ring.Subscribers()) > 0 {
		t.Fatal("it records without an event")
	}
	at := r.clock()
	if err := r.recorder.Trigger("door", at, at.Add(2*time.Second), "somebody came"); err != nil {
		t.Fatal(err)
	}
	r.listens()
	r.gops(1)
	if err := r.recorder.Trigger("door", at, at.Add(4*time.Second), "somebody came"); err != nil { // it goes on
		t.Fatal(err)
	}
	r.gops(6)
	await(t, "it ends", func() bool { return len(r.ring.Subscribers()) == 0 })
	var kept []index.Bookmark
	await(t, "the event is written down", func() bool {
		var err error
		kept, err = r.recorder.Index().Bookmarks(t.Context(), "door", at, at.Add(time.Second), 10)
		return err == nil && len(kept) == 1 && kept[0].To.Equal(at.Add(10*time.Second).Truncate(time.Microsecond))
	})
	if b := kept[0]; !b.Keep || b.Kind != "event" || b.Name != "somebody came" || !b.From.Equal(at.Add(-4*time.Second).Truncate(time.Microsecond)) {
		t.Errorf("got %+v", b)
	}
	r.gops(5)
	// A second event soon after: nothing is recorded twice.
	if err := r.recorder.Trigger("door", r.clock(), r.clock(), "again"); err != nil {
		t.Fatal(err)
	}
	r.listens()
	r.gops(3)
	r.taken()
	files := r.files()
	if first := files[0].Start; first.After(at.Add(-4 * time.Second)) {
		t.Errorf("it begins at %v, the event was at %v", first, at)
	}
	for i := 1; i < len(files); i++ {
		if files[i].Start.Before(files[i-1].End()) {
			t.Errorf("file %d begins at %v, the one before ends at %v", i, files[i].Start, files[i-1].End())
		}
	}
	r.verified()
}

func TestATriggerSaysWhatIsWrongWithIt(t *testing.T) {
	r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordOff}, nil)
	now := r.clock()
	if err := r.recorder.Trigger("door", now, now, ""); !errors.Is(err, footage.ErrNotRecorded) {
		t.Errorf("of a camera that is off: %v", err)
	}
	if err := r.recorder.Trigger("nobody", now, now, ""); !errors.Is(err, footage.ErrNotRecorded) {
		t.Errorf("of a camera that is not: %v", err)
	}
	r.spec(continuous)
	for name, times := range map[string][2]time.Time{
		"reversed": {now, now.Add(-time.Second)}, "long ago": {now.Add(-2 * time.Hour), now}, "in the future": {now.Add(time.Hour), now.Add(time.Hour)},
		"endless": {now, now.Add(1000 * time.Hour)},
	} {
		if err := r.recorder.Trigger("door", times[0], times[1], ""); !errors.Is(err, footage.ErrBadEvent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatTheRingHoldsOfACameraThatHasGoneIsNotRecorded(t *testing.T) {
	r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordOff}, nil)
	r.gops(5)
	r.state(camera.StateBackoff, camera.FaultNone, "no route to the camera")
	r.setClock(r.clock().Add(7 * time.Minute))
	r.skip(7 * time.Minute)
	on := r.clock()
	r.spec(continuous)
	r.listens()
	r.epoch++
	r.count = 0
	r.state(camera.StateLive, camera.FaultNone, "")
	r.gops(5)
	r.taken()
	await(t, "it is recorded", func() bool { return len(r.files()) > 0 })
	if first := r.files()[0].Start; first.Before(on) {
		t.Errorf("it begins at %v, recording was switched on at %v", first, on)
	}
	if gaps := r.gaps(); len(gaps) > 0 {
		t.Errorf("gaps: %+v", gaps)
	}
	r.verified()
}
