package archive

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
)

func TestOldFilesKeepTheirKeyframesAndTheirTimes(t *testing.T) {
	record := camera.RecordSpec{Mode: camera.RecordContinuous, Thin: camera.ThinSpec{After: time.Hour, Keep: camera.ThinKeyframes}}
	dir := t.TempDir()
	r := newRig(t, dir, record, nil)
	r.sound = aacParams()
	for _, gop := range []int{50, 10, 125} { // of two seconds, short, long
		r.gop, r.count = gop, 0
		r.pictures(1500)
		r.taken()
	}
	r.gops(2)
	r.taken()
	await(t, "files are complete", func() bool { f := r.files(); return len(f) >= 4 && !f[2].Open })
	before := r.files()
	kept := before[1]
	if _, err := r.recorder.Index().AddBookmark(t.Context(), index.Bookmark{Camera: "door", From: kept.Start, To: kept.Start.Add(time.Second), Keep: true}); err != nil {
		t.Fatal(err)
	}
	r.setClock(before[2].End().Add(time.Hour + time.Second))
	thin := thinner{k: r.recorder.keeper, from: map[int64]index.Moment{}}
	if _, err := thin.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := r.files()
	for i := range 3 {
		was, is := before[i], after[i]
		if is.Thinned != (is.Number != kept.Number) {
			t.Errorf("file %d is thinned: %t", is.Number, is.Thinned)
		}
		if !is.Start.Equal(was.Start) || (is.Span-was.Span).Abs() > 2*time.Microsecond || is.Duration != was.Duration || is.Sequence != was.Sequence {
			t.Errorf("file %d: got  %+v\nwant %+v", is.Number, is, was)
		}
		if is.Thinned && (is.Bytes >= was.Bytes || is.Frames[1] != 0 || is.Format.Codecs != "avc1.64000C") {
			t.Errorf("file %d: %d of %d bytes, frames %v, %s", is.Number, is.Bytes, was.Bytes, is.Frames, is.Format.Codecs)
		}
	}
	if got, want := after[0].Frames[0], before[0].Duration/180_000; got != want {
		t.Errorf("of %d GOPs of two seconds each %d keyframes are left", want, got)
	}
	if _, err := thin.pass(t.Context()); err != nil { // it is done once
		t.Fatal(err)
	}
	r.verified()
	if all, err := filepath.Glob(filepath.Join(dir, "door/main/*/*k.mp4")); err != nil || len(all) < 2 {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := Repair(t.Context(), dir, zero); err != nil {
		t.Fatal(err)
	}
	if report, err := Verify(t.Context(), dir, true); err != nil || len(report.Problems) > 0 {
		t.Errorf("after a repair: %+v, %v", report, err)
	}
}

func TestACrashWhileThinningLeavesTheWholeFile(t *testing.T) {
	record := camera.RecordSpec{Mode: camera.RecordContinuous, Thin: camera.ThinSpec{After: time.Hour, Keep: camera.ThinKeyframes}}
	dir := t.TempDir()
	fs := &faultyFS{FS: disk.NewDir(dir)}
	r := newRig(t, dir, record, func(o *Options) { o.FS = fs })
	r.minutes(2)
	before := r.files()[0]
	s, _ := r.recorder.Index().Find("door", "main")
	r.stop()
	// As it is after the file was begun, and before the index has it.
	x, err := index.Open(t.Context(), dir)
	must(t, err)
	thin := before
	thin.Thinned = true
	must(t, x.Promise(t.Context(), pathOf(s, &thin)))
	must(t, x.Close())
	must(t, os.WriteFile(filepath.Join(dir, pathOf(s, &thin)), []byte("half of it"), 0o600))
	r.open(camera.RecordSpec{Mode: camera.RecordOff}, nil)
	if now := r.files()[0]; now.Thinned || now.Bytes != before.Bytes {
		t.Errorf("got %+v", now)
	}
	r.verified()
}

func TestTheFirstSourceGoesWhereAnotherHasFootage(t *testing.T) {
	p := newPolicy(camera.Spec{
		Sources: []camera.SourceSpec{{Name: "main"}, {Name: "sub"}},
		Record:  camera.RecordSpec{Sources: []string{"main", "sub"}, Thin: camera.ThinSpec{After: time.Hour, Keep: camera.ThinSub}},
	}, time.Second, nil)
	if p.firstGoesAfter("main") != time.Hour || p.firstGoesAfter("sub") != 0 {
		t.Errorf("got %v and %v", p.firstGoesAfter("main"), p.firstGoesAfter("sub"))
	}
}

func TestNothingIsThinnedByAClockThatHasJustJumped(t *testing.T) {
	record := camera.RecordSpec{Mode: camera.RecordContinuous, Thin: camera.ThinSpec{After: 24 * time.Hour, Keep: camera.ThinKeyframes}}
	r := newRig(t, t.TempDir(), record, func(o *Options) { o.Passed = func() time.Duration { return time.Second } })
	r.minutes(2)
	r.pass()
	r.setClock(r.clock().Add(365 * 24 * time.Hour)) // the keeper has not come to look at it
	thin := thinner{k: r.recorder.keeper, from: map[int64]index.Moment{}}
	thinned, err := thin.pass(t.Context())
	if err != nil || thinned > 0 {
		t.Errorf("%d bytes were thinned, %v", thinned, err)
	}
}
