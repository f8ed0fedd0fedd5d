package archive

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/camera"
)

func TestAnIndexThatIsLostIsMadeAnewOfTheFiles(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, continuous, nil)
	r.sound = aacParams()
	for range 7 {
		r.gops(10)
		r.taken()
	}
	r.lose(5 * time.Second)
	r.gops(3)
	r.taken()
	before := r.verified()
	files := beforeRepair(t, dir)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(dir, "archive.db"+suffix)); err != nil && suffix == "" {
			t.Fatal(err)
		}
	}
	done, err := Repair(t.Context(), dir, zero)
	if err != nil || done.Files != before.Files || len(done.Left) > 0 {
		t.Fatalf("got %+v, %v, want %d files", done, err, before.Files)
	}
	after := beforeRepair(t, dir)
	for i := range files {
		a, b := files[i], after[i]
		a.Fragments, b.Fragments = nil, nil
		if a.Format != b.Format || a.Sequence != b.Sequence || a.Discontinuity != b.Discontinuity || a.Bytes != b.Bytes || a.Frames != b.Frames || a.Span != b.Span || b.Thinned {
			t.Errorf("got  %+v\nwant %+v", b, a)
		}
	}
	report, err := Verify(t.Context(), dir, true)
	if err != nil || len(report.Problems) > 0 || report.Frames != before.Frames {
		t.Errorf("got %+v, %v", report, err)
	}
	x, err := index.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	gaps, err := x.Gaps(t.Context(), 1, time.Time{}, time.Time{}, 0, 10)
	if err != nil || len(gaps) != 1 || gaps[0].Cause != index.CauseUnknown || gaps[0].To.Sub(gaps[0].From) != 5*time.Second {
		t.Errorf("got %+v, %v", gaps, err)
	}
}

func TestWhereDroverEndedWhileItThinnedRepairTakesTheWholeFile(t *testing.T) {
	for name, size := range map[string]func(whole int64) int64{
		"in the middle of a fragment": func(whole int64) int64 { return whole / 3 },
		"in its header":               func(int64) int64 { return 100 },
		"when it was done":            func(whole int64) int64 { return whole },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := newRig(t, dir, thinKeyframes, nil)
			r.minutes(3)
			whole := r.files()[0]
			s, _ := r.recorder.Index().Find("door", "main")
			path := filepath.Join(dir, pathOf(s, &whole))
			data, err := os.ReadFile(path)
			must(t, err)
			r.setClock(whole.End().Add(time.Hour + time.Second))
			thin := thinner{k: r.recorder.keeper, from: map[int64]index.Moment{}}
			_, err = thin.pass(t.Context())
			must(t, err)
			r.stop()
			must(t, os.WriteFile(path, data, 0o600))
			keyframes := strings.TrimSuffix(path, ".mp4") + "k.mp4"
			info, err := os.Stat(keyframes)
			must(t, err)
			must(t, os.Truncate(keyframes, size(info.Size())))
			done, err := Repair(t.Context(), dir, zero)
			if err != nil || len(done.Left) > 0 {
				t.Fatalf("got %+v, %v", done, err)
			}
			report, err := Verify(t.Context(), dir, true)
			if err != nil || len(report.Problems) > 0 || report.Doomed != 1 || report.Bytes != done.Bytes {
				t.Errorf("got %+v, %v, of %d bytes that were repaired", report, err, done.Bytes)
			}
			x, err := index.Open(t.Context(), dir)
			must(t, err)
			defer x.Close()
			f, _, err := x.FileByNumber(t.Context(), whole.Key())
			if err != nil || f.Thinned || f.Span != whole.Span || f.Bytes != whole.Bytes {
				t.Errorf("got %+v, %v, want %+v", f, err, whole)
			}
			if usage, err := x.UsageOf(t.Context(), whole.Stream); err != nil || usage.Bytes != report.Bytes {
				t.Errorf("%d bytes are counted, %v, there are %d", usage.Bytes, err, report.Bytes)
			}
		})
	}
}

func TestRepairLeavesAFileOfANumberThatNoneCouldFollow(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, continuous, nil)
	r.minutes(2)
	s, _ := r.recorder.Index().Find("door", "main")
	whole := r.files()[0]
	r.stop()
	data, err := os.ReadFile(filepath.Join(dir, pathOf(s, &whole)))
	must(t, err)
	for number, sequence := range map[int64]uint64{math.MaxInt64 - 1: 1, 7: math.MaxUint64} {
		identity := layout.Identity{Camera: "door", Source: "main", Number: number, Run: 1, Start: whole.Start, Sequence: sequence}
		forged := append(layout.AppendIdentity(slices.Clone(data[:whole.Init]), identity), data[whole.Header:]...)
		f := whole
		f.Number = number
		must(t, os.WriteFile(filepath.Join(dir, pathOf(s, &f)), forged, 0o600))
	}
	done, err := Repair(t.Context(), dir, zero)
	if err != nil || len(done.Left) != 2 {
		t.Fatalf("got %+v, %v", done, err)
	}
	r.open(continuous, nil)
	r.reconnect(time.Minute)
	before := len(r.files())
	r.minutes(2)
	if after := r.files(); len(after) <= before || after[len(after)-1].Number > 100 {
		t.Errorf("%d files before and %d after: it is not recorded any more", before, len(after))
	}
}

// beforeRepair returns what the index says of all files.
func beforeRepair(t *testing.T, dir string) []index.File {
	t.Helper()
	x, err := index.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	files, err := x.Files(t.Context(), 1, zero.Add(-time.Hour), zero.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		want   string
	}{
		"a file that is gone":    {func(t *testing.T, path string) { must(t, os.Remove(path)) }, "no such file"},
		"a file that is shorter": {func(t *testing.T, path string) { must(t, os.Truncate(path, 5000)) }, "it has 5000 bytes"},
		"a byte that is another": {func(t *testing.T, path string) {
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			must(t, err)
			_, err = file.WriteAt([]byte("x"), 3000)
			must(t, err)
			must(t, file.Close())
		}, "its checksum is another"},
		"a file of another name": {func(t *testing.T, path string) {
			must(t, os.Rename(path, strings.Replace(path, "-1.mp4", "-9.mp4", 1)))
		}, "it is not in the index"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := newRig(t, dir, continuous, nil)
			r.gops(3)
			r.taken()
			r.verified()
			all, err := filepath.Glob(filepath.Join(dir, "door/main/*/*-1.mp4"))
			if err != nil || len(all) != 1 {
				t.Fatalf("got %v, %v", all, err)
			}
			c.damage(t, all[0])
			report, err := Verify(t.Context(), dir, true)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, p := range report.Problems {
				found = found || strings.Contains(p.What, c.want)
			}
			if !found {
				t.Errorf("got %+v", report.Problems)
			}
		})
	}
}

// thinKeyframes keeps the keyframes of what is older than an hour.
var thinKeyframes = camera.RecordSpec{Mode: camera.RecordContinuous, Thin: camera.ThinSpec{After: time.Hour, Keep: camera.ThinKeyframes}}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
