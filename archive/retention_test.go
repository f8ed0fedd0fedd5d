package archive

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/event"
)

// spaceFS is a disk of a size, of which files take what they have.
type spaceFS struct {
	disk.FS
	dir   string
	total int64
}

func (f spaceFS) Space() (disk.Space, error) {
	used := int64(0)
	err := filepath.WalkDir(f.dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".mp4" {
			if info, err := entry.Info(); err == nil {
				used += info.Size()
			}
		}
		return nil
	})
	return disk.Space{Total: f.total, Free: max(0, f.total-used)}, err
}

// pass lets the keeper look at everything now.
func (r *rig) pass() {
	r.t.Helper()
	r.recorder.keeper.deleting.Lock()
	r.recorder.keeper.limitsAt = time.Time{}
	r.recorder.keeper.deleting.Unlock()
	if err := r.recorder.keeper.pass(r.t.Context(), false); err != nil {
		r.t.Fatal(err)
	}
}

// copied gives a file a copy in the second home.
func (r *rig) copied(f *index.File) {
	r.t.Helper()
	o := &index.Object{Stream: f.Stream, Name: "o", From: f.Start, To: f.End(), Bytes: f.Bytes, Parts: []index.Part{index.PartOf(f, 0)}}
	if _, err := r.recorder.Index().Intend(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	must(r.t, r.recorder.Index().Copied(r.t.Context(), o))
}

// restore puts a file of n fragments of two seconds, which is not on disk, into the index.
func (r *rig) restore(source string, number int64, start time.Time, n int) index.File {
	r.t.Helper()
	s, err := r.recorder.Index().Stream(r.t.Context(), "door", source)
	must(r.t, err)
	f := index.File{Stream: s.ID, Number: number, Run: 1, Epoch: 1, Start: start, Init: 10, Header: 100, Bytes: 100, Format: index.Format{Codecs: "avc1"}, Places: index.Here}
	for range n {
		f.Fragments = append(f.Fragments, layout.Fragment{Offset: f.Bytes, Bytes: 100, Head: 80, Duration: 180_000, Keyframe: true})
		f.Bytes += 100
	}
	must(r.t, r.recorder.Index().Restore(r.t.Context(), f))
	return f
}

// minutes records n whole files of a minute each, and a bit.
func (r *rig) minutes(n int) {
	r.t.Helper()
	begun := r.complete()
	for range n {
		r.gops(30)
		r.taken()
	}
	r.gops(2)
	r.taken()
	await(r.t, "the disk has all", func() bool { return r.recorder.writer.Stats().Queued == 0 })
	// Some may have been deleted meanwhile.
	await(r.t, "files are complete", func() bool { return r.complete() >= begun+int64(n)-1 })
}

// complete returns the number of the newest file that is complete.
func (r *rig) complete() int64 {
	newest := int64(0)
	for _, f := range r.files() {
		if !f.Open {
			newest = f.Number
		}
	}
	return newest
}

func TestWhatIsTooOldGoesButForWhatIsKept(t *testing.T) {
	record := camera.RecordSpec{Mode: camera.RecordContinuous, MaxAge: 3*time.Minute + time.Second}
	r := newRig(t, t.TempDir(), continuous, nil)
	r.minutes(8)
	kept := r.files()[1]
	if _, err := r.recorder.Index().AddBookmark(t.Context(), index.Bookmark{Camera: "door", From: kept.Start.Add(time.Second), To: kept.Start.Add(2 * time.Second), Keep: true}); err != nil {
		t.Fatal(err)
	}
	r.spec(record)
	r.pass()
	files := r.files()
	if files[0].Number != kept.Number {
		t.Errorf("the oldest is number %d, the one to be kept %d", files[0].Number, kept.Number)
	}
	if second := files[1]; r.clock().Sub(second.End()) > 3*time.Minute+2*time.Second || r.clock().Sub(second.End()) < 2*time.Minute {
		t.Errorf("the second ended %v ago", r.clock().Sub(second.End()))
	}
	if gaps := cause(r.gaps(), index.CauseDeleted); len(gaps) != 2 {
		t.Errorf("got %+v", gaps)
	}
	report := r.verified()
	if report.Files != len(files) {
		t.Errorf("%d files, of %d", report.Files, len(files))
	}
}

func TestACameraKeepsNoMoreThanItMay(t *testing.T) {
	record := camera.RecordSpec{Mode: camera.RecordContinuous, MaxBytes: 2_000_000}
	r := newRig(t, t.TempDir(), record, nil)
	r.minutes(6) // of 0.66 MB each
	r.pass()
	total := int64(0)
	for _, f := range r.files() {
		total += f.Bytes
	}
	if total > 2_000_000 || total < 1_200_000 {
		t.Errorf("%d bytes are left", total)
	}
	r.verified()
}

func TestWhatWaitsForItsCopyIsKeptAndLeavesNoGapOnceItHasOne(t *testing.T) {
	for name, record := range map[string]camera.RecordSpec{
		"by age":   {Mode: camera.RecordContinuous, MaxAge: 3*time.Minute + time.Second},
		"by bytes": {Mode: camera.RecordContinuous, MaxBytes: 2_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), record, func(o *Options) { o.KeepUntilCopied = true })
			x := r.recorder.Index()
			if err := x.Copying(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			r.minutes(6)
			before := r.files()
			r.pass()
			if after := r.files(); len(after) != len(before) {
				t.Fatalf("%d files of %d are left without a copy", len(after), len(before))
			}
			first := before[0]
			r.copied(&first)
			r.pass()
			after := r.files()
			if len(after) != len(before) || after[0].Places != index.SecondHome || after[1].Places != index.Here {
				t.Errorf("places %b and %b of %d files", after[0].Places, after[1].Places, len(after))
			}
			if gaps := cause(r.gaps(), index.CauseDeleted); len(gaps) != 0 {
				t.Errorf("gaps %+v", gaps)
			}
			r.verified()
		})
	}
}

func TestAFullDiskLosesTheOldestAndRecordingGoesOn(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, continuous, func(o *Options) {
		o.FS, o.MinFree = spaceFS{disk.NewDir(dir), dir, 4_000_000}, Floor{Percent: 25}
	})
	for range 12 {
		r.minutes(1)
		r.pass()
		if s := r.recorder.Space(); s.Total != 4_000_000 || s.Floor != 1_000_000 {
			t.Errorf("got %+v", s)
		}
	}
	free, err := r.recorder.options.FS.Space()
	if err != nil || free.Free < 900_000 {
		t.Errorf("%d bytes are free, %v", free.Free, err)
	}
	if n := len(cause(r.gaps(), index.CauseDiskFull)); n > 0 {
		t.Errorf("%d gaps", n)
	}
	r.verified()
}

func TestAClockThatJumpsDeletesNothingUntilSomebodySaysSo(t *testing.T) {
	dir := t.TempDir()
	record := camera.RecordSpec{Mode: camera.RecordContinuous, MaxAge: 24 * time.Hour}
	passed := func(o *Options) { o.Passed = func() time.Duration { return time.Second } }
	r := newRig(t, dir, record, passed)
	r.minutes(3)
	r.pass()
	before := len(r.files())
	r.setClock(r.clock().Add(365 * 24 * time.Hour))
	r.pass()
	doubted := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.events {
			if e.Kind == event.KindArchiveClock {
				return true
			}
		}
		return false
	}
	if len(r.files()) != before || !r.recorder.Space().DoubtsClock || !doubted() {
		t.Fatalf("%d of %d files are left, told: %t", len(r.files()), before, doubted())
	}
	r.stop() // which changes nothing
	r.open(camera.RecordSpec{Mode: camera.RecordOff, MaxAge: record.MaxAge}, passed)
	r.pass()
	if len(r.files()) != before || !r.recorder.Space().DoubtsClock {
		t.Fatalf("after a restart %d of %d files are left", len(r.files()), before)
	}
	r.recorder.ConfirmClock(t.Context())
	r.pass()
	if n := len(r.files()); n != 0 {
		t.Errorf("%d files are left", n)
	}
	r.verified()
}

func TestAServerThatWasOffForLongDoubtsItsClock(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, continuous, nil)
	r.minutes(1)
	r.stop()
	r.setClock(r.clock().Add(30 * 24 * time.Hour))
	r.open(camera.RecordSpec{Mode: camera.RecordOff, MaxAge: time.Hour}, nil)
	r.pass()
	if !r.recorder.Space().DoubtsClock || len(r.files()) == 0 {
		t.Error("recordings are deleted by a clock that nobody knows")
	}
	r.setClock(zero.Add(10 * time.Minute)) // it was set right
	r.stop()
	r.open(camera.RecordSpec{Mode: camera.RecordOff, MaxAge: time.Hour}, nil)
	r.pass()
	if r.recorder.Space().DoubtsClock {
		t.Error("it is doubted still")
	}
}

func TestDeletionOnRequestLeavesWhatIsKeptAndWhatReachesOut(t *testing.T) {
	r := newRig(t, t.TempDir(), continuous, nil)
	r.minutes(5)
	all := r.files()
	if _, err := r.recorder.Index().AddBookmark(t.Context(), index.Bookmark{Camera: "door", From: all[2].Start, To: all[2].Start.Add(time.Second), Keep: true}); err != nil {
		t.Fatal(err)
	}
	files, bytes, err := r.recorder.Delete(t.Context(), "door", "", all[1].Start, all[3].End().Add(-time.Second))
	if err != nil || files != 1 || bytes != all[1].Bytes {
		t.Errorf("got %d files, %d bytes, %v", files, bytes, err)
	}
	if gaps := cause(r.gaps(), index.CauseRequest); len(gaps) != 1 {
		t.Errorf("got %+v", gaps)
	}
	r.verified()
}

func TestDeletionOnRequestReachesWhatLiesInTheSecondHomeAlone(t *testing.T) {
	r := newRig(t, t.TempDir(), continuous, nil)
	x := r.recorder.Index()
	must(t, x.Copying(t.Context(), true))
	r.minutes(3)
	first := r.files()[0]
	r.copied(&first)
	s, _ := x.Find("door", "main")
	must(t, x.Doom(t.Context(), index.CauseDeleted, index.Victim{File: first, Path: pathOf(s, &first)}))
	files, _, err := r.recorder.Delete(t.Context(), "door", "", first.Start, first.End())
	if err != nil || files != 1 {
		t.Errorf("deleted %d files, %v", files, err)
	}
	if _, there, err := x.FileByNumber(t.Context(), first.Key()); err != nil || there {
		t.Errorf("it is there: %t, %v", there, err)
	}
	if doomed, err := x.DoomedObjects(t.Context(), 10); err != nil || len(doomed) != 1 {
		t.Errorf("of the bucket is to be deleted %+v, %v", doomed, err)
	}
	r.verified()
}

func TestFootageThatNoEventWasInGoes(t *testing.T) {
	record := camera.RecordSpec{Mode: camera.RecordEvent, PreRoll: 2 * time.Minute, PostRoll: time.Second}
	r := newRig(t, t.TempDir(), record, nil)
	r.listens()
	r.minutes(3)
	if err := r.recorder.Trigger("door", r.clock(), r.clock(), "somebody came"); err != nil {
		t.Fatal(err)
	}
	at := r.clock()
	await(t, "it is written down", func() bool {
		kept, err := r.recorder.Index().Bookmarks(t.Context(), "door", at, at.Add(time.Second), 1)
		return err == nil && len(kept) == 1
	})
	r.minutes(8)
	r.pass()
	files := r.files()
	first, last := files[0], files[len(files)-1]
	if first.Start.After(at.Add(-2*time.Minute)) || first.End().Before(at.Add(-2*time.Minute)) {
		t.Errorf("the oldest is of %v to %v, the event was at %v", first.Start, first.End(), at)
	}
	between := 0
	for _, f := range files {
		if f.Start.After(at.Add(time.Minute)) && f.End().Before(last.End().Add(-4*time.Minute)) {
			between++
		}
	}
	if between > 0 {
		t.Errorf("%d files are left that no event was in", between)
	}
	r.verified()
}

func TestFootageOfAClockThatWasAheadHoldsUpNoOther(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		record camera.RecordSpec
		floor  Floor
		want   []int64
	}{
		"by age":         {camera.RecordSpec{Mode: camera.RecordOff, MaxAge: 2 * day}, Floor{Bytes: 1}, []int64{1, 4}},
		"by bytes":       {camera.RecordSpec{Mode: camera.RecordOff, MaxBytes: 400}, Floor{Bytes: 1}, []int64{1, 4}},
		"on a full disk": {camera.RecordSpec{Mode: camera.RecordOff}, Floor{Bytes: 1 << 62}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordOff}, func(o *Options) {
				o.Passed, o.MinFree = func() time.Duration { return time.Second }, c.floor
			})
			// The first was recorded by a clock that was a year ahead.
			for i, start := range []time.Duration{365 * day, -100 * day, -99 * day, -day} {
				r.restore("main", int64(i+1), r.clock().Add(start), 1)
			}
			r.spec(c.record)
			r.pass()
			var left []int64
			for _, f := range r.files() {
				left = append(left, f.Number)
			}
			slices.Sort(left)
			if !slices.Equal(left, c.want) {
				t.Errorf("left are %v, want %v", left, c.want)
			}
		})
	}
}

func TestTheLargerSourceGoesWhereTheSmallerHasAboutAllOfItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		begins time.Duration // the smaller source's file, after the larger's
		n      int           // fragments of it
		goes   bool
	}{
		"all":              {0, 30, true},
		"but for a moment": {time.Second, 30, true},
		"a moment":         {58 * time.Second, 1, false},
		"half":             {0, 15, false},
		"another minute":   {time.Minute, 30, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordOff}, nil)
			day := r.clock().Add(-100 * time.Hour)
			main := r.restore("main", 1, day, 30)
			r.restore("sub", 1, day.Add(c.begins), c.n)
			r.recorder.SetSpec(camera.Spec{ID: "door", Enabled: true, Sources: []camera.SourceSpec{{Name: "main"}, {Name: "sub"}}, Record: camera.RecordSpec{
				Mode: camera.RecordOff, Sources: []string{"main", "sub"}, Thin: camera.ThinSpec{After: time.Hour, Keep: camera.ThinSub},
			}})
			r.pass()
			_, there, err := r.recorder.Index().FileByNumber(t.Context(), main.Key())
			if err != nil || there == c.goes {
				t.Errorf("it is there: %t, %v", there, err)
			}
		})
	}
}

func TestTheFootageOfEventsGoesAsAllOtherDoesAndTheirBookmarksWithIt(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		record camera.RecordSpec
		floor  Floor
		kind   string
		want   int // files, of the old one and that of a minute ago
	}{
		"by age":                       {camera.RecordSpec{Mode: camera.RecordEvent, MaxAge: day}, Floor{Bytes: 1}, "event", 1},
		"by bytes":                     {camera.RecordSpec{Mode: camera.RecordEvent, MaxBytes: 3100}, Floor{Bytes: 1}, "event", 1},
		"for room":                     {camera.RecordSpec{Mode: camera.RecordEvent}, Floor{Bytes: 1 << 62}, "event", 0},
		"but not for want of an event": {camera.RecordSpec{Mode: camera.RecordEvent, PreRoll: time.Hour}, Floor{Bytes: 1}, "event", 2},
		"nor what somebody keeps":      {camera.RecordSpec{Mode: camera.RecordEvent, MaxAge: day, MaxBytes: 1}, Floor{Bytes: 1 << 62}, "user", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordEvent, PreRoll: time.Hour}, func(o *Options) { o.MinFree = c.floor })
			r.recorder.mu.Lock()
			r.recorder.rolling.since["door"] = r.clock().Add(-1000 * day) // it was always so
			r.recorder.mu.Unlock()
			old := r.restore("main", 1, r.clock().Add(-40*day), 30)
			r.restore("main", 2, r.clock().Add(-2*time.Minute), 30)
			x := r.recorder.Index()
			_, err := x.AddBookmark(t.Context(), index.Bookmark{Camera: "door", From: old.Start, To: old.Start.Add(time.Second), Kind: c.kind, Keep: true})
			must(t, err)
			r.spec(c.record)
			r.pass()
			if n := len(r.files()); n != c.want {
				t.Errorf("%d files are left, want %d", n, c.want)
			}
			_, there, err := x.FileByNumber(t.Context(), old.Key())
			must(t, err)
			if left, err := x.Bookmarks(t.Context(), "door", time.Unix(0, 0), time.Time{}, 10); err != nil || len(left) > 0 != there {
				t.Errorf("of the event's footage there is some: %t; bookmarks %+v, %v", there, left, err)
			}
		})
	}
}
