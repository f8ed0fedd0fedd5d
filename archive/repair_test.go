package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
