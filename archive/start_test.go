package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// refusingFS unlinks nothing below a folder.
type refusingFS struct {
	disk.FS
	folder string
}

func (f refusingFS) Remove(path string) error {
	if strings.HasPrefix(path, f.folder) {
		return syscall.EACCES
	}
	return f.FS.Remove(path)
}

func TestAFolderThatRefusesItKeepsNoOtherFileFromBeingUnlinked(t *testing.T) {
	dir := t.TempDir()
	x, err := index.Open(t.Context(), dir)
	must(t, err)
	defer x.Close()
	name := layout.Name{Camera: "door", Source: "main", Start: zero, Number: 1}
	for range doomedAtOnce + 1 {
		must(t, x.Promise(t.Context(), string(layout.AppendPath(nil, name))))
		name.Number++
	}
	name.Camera = "yard"
	other := string(layout.AppendPath(nil, name))
	must(t, x.Promise(t.Context(), other))
	must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, other)), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, other), []byte("footage"), 0o600))

	refused, err := unlinkDoomed(t.Context(), x, refusingFS{disk.NewDir(dir), "door/"})
	must(t, err)
	if refused == nil {
		t.Error("it is not told")
	}
	if _, err := os.Stat(filepath.Join(dir, other)); !os.IsNotExist(err) {
		t.Errorf("the other is there: %v", err)
	}
	left, err := x.Doomed(t.Context(), "", 10*doomedAtOnce)
	if err != nil || len(left) != doomedAtOnce+1 {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

func TestAFileThatIsNotWholeIsKnownUntilItIsUnlinked(t *testing.T) {
	dir := t.TempDir()
	x, err := index.Open(t.Context(), dir)
	must(t, err)
	s, err := x.Stream(t.Context(), "door", "main")
	must(t, err)
	f := &index.File{Stream: s.ID, Run: 1, Start: zero, Header: 100, Bytes: 100, Format: index.Format{Codecs: "avc1.640028"}}
	must(t, x.Begin(t.Context(), f))
	must(t, x.Close())
	path := filepath.Join(dir, pathOf(s, f))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte("torn"), 0o600))

	for _, c := range []struct {
		folder string // that refuses
		want   string
	}{{"door/", "1 rows, a file: true"}, {"none/", "0 rows, a file: false"}} {
		r, err := Open(t.Context(), Options{Dir: dir, FS: refusingFS{disk.NewDir(dir), c.folder}, Now: func() time.Time { return zero }})
		must(t, err)
		left, err := r.Index().Unfinished(t.Context())
		must(t, err)
		_, statErr := os.Stat(path)
		if got := fmt.Sprintf("%d rows, a file: %t", len(left), statErr == nil); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		must(t, r.Close())
	}
}
