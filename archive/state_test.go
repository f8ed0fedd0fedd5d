package archive

import (
	"syscall"
	"testing"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/footage"
)

func TestRecordingTellsWhetherItRecordsAndWhyNot(t *testing.T) {
	r := newRig(t, t.TempDir(), continuous, nil)
	check := func(what string, want footage.Recording) {
		t.Helper()
		if got := r.recorder.Recording("door"); got != want {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
	}
	check("live", footage.Recording{State: footage.RecordingOn})
	r.state(camera.StateBackoff, camera.FaultNone, "no route to the camera")
	check("away", footage.Recording{State: footage.RecordingWaiting, Reason: "no route to the camera"})
	r.state(camera.StateConnecting, camera.FaultNone, "")
	check("connecting", footage.Recording{State: footage.RecordingWaiting, Reason: "connecting to the camera"})
	r.state(camera.StateLive, camera.FaultNone, "")

	twoSources := camera.Spec{ID: "door", Enabled: true, Sources: []camera.SourceSpec{{Name: "main"}, {Name: "sub"}}, Record: continuous}
	twoSources.Record.Sources = []string{"sub", "main"}
	r.recorder.SetSpec(twoSources)
	check("one of two", footage.Recording{State: footage.RecordingOn, Reason: "source sub: the camera is not pulled"})

	r.spec(camera.RecordSpec{Mode: camera.RecordEvent})
	check("no event", footage.Recording{State: footage.RecordingWaiting, Reason: "there was no event"})
	r.spec(camera.RecordSpec{Mode: camera.RecordSchedule, Schedule: camera.Schedule{Spans: []string{"thu 10:01-10:02"}}})
	check("not its hours", footage.Recording{State: footage.RecordingWaiting, Reason: "the schedule leaves it out"})
	r.spec(camera.RecordSpec{Mode: camera.RecordOff})
	check("off", footage.Recording{State: footage.RecordingOff})
	r.recorder.SetSpec(camera.Spec{ID: "door", Sources: []camera.SourceSpec{{Name: "main"}}, Record: continuous})
	check("disabled", footage.Recording{State: footage.RecordingWaiting, Reason: "the camera is switched off"})
	if got := r.recorder.Recording("yard"); got.State != footage.RecordingOff {
		t.Errorf("another camera: %+v", got)
	}
}

// deniedFS makes no files.
type deniedFS struct{ disk.FS }

func (deniedFS) Create(string) (disk.File, error) { return nil, syscall.EACCES }

func TestACameraWhoseFolderRefusesItIsSaidToBeNotRecorded(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, continuous, func(o *Options) { o.FS = deniedFS{disk.NewDir(dir)} })
	want := footage.Recording{State: footage.RecordingFailed, Reason: "permission denied"}
	await(t, "it is told", func() bool { r.gops(1); return r.recorder.Recording("door") == want })
	if s := r.recorder.Stats().Sources; len(s) != 1 || s[0].Recording {
		t.Errorf("got %+v", s)
	}
}

func TestASourceThatIsRecordedCountsMoreThanWhatIsWrongWithAnother(t *testing.T) {
	on := footage.Recording{State: footage.RecordingOn}
	failed := footage.Recording{State: footage.RecordingFailed, Reason: "no"}
	waiting := footage.Recording{State: footage.RecordingWaiting, Reason: "later"}
	for _, c := range []struct{ a, b, want footage.Recording }{
		{on, failed, footage.Recording{State: footage.RecordingOn, Reason: "no"}},
		{waiting, on, footage.Recording{State: footage.RecordingOn, Reason: "later"}},
		{waiting, failed, failed},
		{failed, waiting, failed},
	} {
		if got := better(c.a, c.b); got != c.want {
			t.Errorf("%+v and %+v: got %+v, want %+v", c.a, c.b, got, c.want)
		}
	}
}
