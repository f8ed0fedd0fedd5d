package archive

import (
	"errors"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/footage"
)

var onEvents = camera.RecordSpec{Mode: camera.RecordEvent, PreRoll: 5 * time.Second, PostRoll: 5 * time.Second}

// awaitBookmark waits until the door's only bookmark spans a time.
func (r *rig) awaitBookmark(from, to time.Time) {
	r.t.Helper()
	await(r.t, "the event is written down from its beginning to its end", func() bool {
		got, err := r.recorder.Index().Bookmarks(r.t.Context(), "door", zero.Add(-24*time.Hour), zero.Add(72*time.Hour), 10)
		return err == nil && len(got) == 1 && got[0].From.Equal(from) && got[0].To.Equal(to)
	})
}

func TestAnEventThatLastsForHoursIsRecordedToItsEnd(t *testing.T) {
	for name, tell := range map[string]func(*Recorder, string, time.Time, time.Time, string) error{
		"of a caller of the API": (*Recorder).Trigger, "that Drover follows": (*Recorder).GoesOn,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), onEvents, nil)
			at := r.clock()
			for minute := range 30 * 60 { // longer than an event may be that is told at once
				r.setClock(at.Add(time.Duration(minute) * time.Minute))
				if err := tell(r.recorder, "door", at, r.clock().Add(time.Minute), "a long visit"); err != nil {
					t.Fatalf("after %d minutes: %v", minute, err)
				}
			}
			r.awaitBookmark(at.Add(-onEvents.PreRoll), r.clock().Add(time.Minute+onEvents.PostRoll))
		})
	}
}

func TestWhatDroverFollowsMayHaveBegunLongAgo(t *testing.T) {
	r := newRig(t, t.TempDir(), onEvents, nil)
	now := r.clock()
	// It was followed all the time; the camera is recorded only since now.
	if err := r.recorder.GoesOn("door", now.Add(-30*time.Hour), now, "a parked car"); err != nil {
		t.Fatal(err)
	}
	r.awaitBookmark(now.Add(-oldest-onEvents.PreRoll), now.Add(onEvents.PostRoll))
	if err := r.recorder.GoesOn("door", now.Add(-30*time.Hour), now.Add(-2*time.Hour), "a car that left"); !errors.Is(err, footage.ErrBadEvent) {
		t.Errorf("over for hours: %v", err)
	}
}

func TestAnEventThatIsToldLateIsKeptFromItsBeginning(t *testing.T) {
	for name, wait := range map[string]bool{"before the other is written down": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), onEvents, nil)
			now := r.clock()
			tell := func(from, to time.Duration) {
				if err := r.recorder.Trigger("door", now.Add(from), now.Add(to), "somebody came"); err != nil {
					t.Fatal(err)
				}
			}
			tell(0, 0)
			if wait {
				r.awaitBookmark(now.Add(-onEvents.PreRoll), now.Add(onEvents.PostRoll))
			}
			tell(-30*time.Second, -3*time.Second)
			r.awaitBookmark(now.Add(-30*time.Second-onEvents.PreRoll), now.Add(onEvents.PostRoll))
		})
	}
}

func TestALateEventJoinsTheOneThatItTouches(t *testing.T) {
	r := newRig(t, t.TempDir(), onEvents, nil)
	now := r.clock()
	for _, at := range []time.Duration{-10 * time.Minute, 0, -10*time.Minute - 8*time.Second} {
		if err := r.recorder.Trigger("door", now.Add(at), now.Add(at), "somebody came"); err != nil {
			t.Fatal(err)
		}
	}
	var got []index.Bookmark
	await(t, "both are written down, the first from its beginning", func() bool {
		got, _ = r.recorder.Index().Bookmarks(t.Context(), "door", zero.Add(-time.Hour), zero.Add(time.Hour), 10)
		return len(got) == 2 && got[0].From.Equal(now.Add(-10*time.Minute-13*time.Second)) && got[0].To.Equal(now.Add(-10*time.Minute+5*time.Second))
	})
}
