package disk_test

import (
	"errors"
	"io/fs"
	"reflect"
	"syscall"
	"testing"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
)

// namesFS tells what was done to names, and has some of it fail.
type namesFS struct {
	disk.FS
	fails map[string]error
	did   []string
}

func (f *namesFS) Remove(path string) error  { return f.do("remove " + path) }
func (f *namesFS) SyncDir(path string) error { return f.do("sync beside " + path) }

func (f *namesFS) do(what string) error {
	f.did = append(f.did, what)
	return f.fails[what]
}

func TestWhatIsUnlinkedIsGoneOnlyWhenItsDirectoryIsOnDisk(t *testing.T) {
	gone := fs.ErrNotExist
	for name, c := range map[string]struct {
		paths []string
		fails map[string]error
		gone  []string
		did   []string
	}{
		"a directory is synced once": {
			paths: []string{"a/1", "a/2"}, gone: []string{"a/1", "a/2"},
			did: []string{"remove a/1", "remove a/2", "sync beside a/1"},
		},
		"where the directories went, that above is synced": {
			paths: []string{"a/b/1", "a/c/2"}, fails: map[string]error{"sync beside a/b/1": gone, "sync beside a/b": gone, "sync beside a/c/2": gone},
			gone: []string{"a/b/1", "a/c/2"},
			did:  []string{"remove a/b/1", "remove a/c/2", "sync beside a/b/1", "sync beside a/b", "sync beside a", "sync beside a/c/2"},
		},
		"what is refused keeps no other": {
			paths: []string{"a/1", "b/1", "c/1", "c/2"}, fails: map[string]error{"remove a/1": syscall.EACCES, "sync beside c/1": syscall.EIO},
			gone: []string{"b/1"},
			did:  []string{"remove a/1", "remove b/1", "remove c/1", "remove c/2", "sync beside b/1", "sync beside c/1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &namesFS{fails: c.fails}
			got, err := disk.Unlink(f, c.paths...)
			if !reflect.DeepEqual(got, c.gone) || !reflect.DeepEqual(f.did, c.did) {
				t.Errorf("gone are %q, by %q", got, f.did)
			}
			if failed := len(c.gone) < len(c.paths); (err != nil) != failed || errors.Is(err, gone) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAFileThatCameToNothingKeepsItsRowUntilItIsUnlinked(t *testing.T) {
	r := newRig(t, nil)
	r.failing(syscall.EIO)
	refused := 0
	r.fs.set(func() {
		r.fs.remove = func() error {
			r.note(func() { refused++ })
			return syscall.EACCES
		}
	})
	r.lane.Write(fragment(0, 1, 100))
	r.await("it is refused", func() bool { return refused > 1 })
	stream, _ := r.index.Find("door", "main")
	if _, there, err := r.index.FileByNumber(t.Context(), index.Key{Stream: stream.ID, Number: 1}); err != nil || !there {
		t.Errorf("its row is there: %t, %v", there, err)
	}
	r.healthy()
	r.await("both are gone", func() bool {
		_, there, err := r.index.FileByNumber(t.Context(), index.Key{Stream: stream.ID, Number: 1})
		return err == nil && !there
	})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if s := r.writer.Stats(); s.OpenFiles != 0 {
		t.Errorf("%d files are open", s.OpenFiles)
	}
}
