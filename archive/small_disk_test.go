package archive

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/event"
)

// smallDisk returns a directory on a disk of 64 MB: a real one where the test may
// mount it, else one that says so.
func smallDisk(t *testing.T) (dir string, files disk.FS) {
	t.Helper()
	const size = 64 << 20
	dir = t.TempDir()
	if os.Geteuid() == 0 && unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m") == nil {
		t.Cleanup(func() {
			if err := unix.Unmount(dir, 0); err != nil {
				t.Errorf("unmount: %v", err)
			}
		})
		return dir, disk.NewDir(dir)
	}
	return dir, spaceFS{disk.NewDir(dir), dir, size}
}

func TestOnADiskOf64MBRecordingGoesOnByDeletingTheOldest(t *testing.T) {
	dir, files := smallDisk(t)
	r := newRig(t, dir, continuous, func(o *Options) { o.FS, o.WriteBuffer = files, 3<<20 })
	r.bytes = 20_000
	r.gops(1)
	for written := int64(0); written < 150<<20; written += int64(r.gop * r.bytes) { // more than twice the disk
		r.gops(1)
		r.taken()
		await(t, "the disk has it", func() bool { return r.recorder.writer.Stats().Queued == 0 })
		must(t, r.recorder.keeper.pass(t.Context(), false)) // so fast is no camera
	}
	space, err := files.Space()
	if err != nil || space.Free < space.Total/20 {
		t.Errorf("%+v, %v", space, err)
	}
	if gaps := cause(r.gaps(), index.CauseDiskFull); len(gaps) > 0 {
		t.Errorf("not recorded for want of room: %+v", gaps)
	}
	if deleted := cause(r.gaps(), index.CauseDeleted); len(deleted) != 1 {
		t.Errorf("deleted: %+v", deleted)
	}
	report := r.verified()
	if report.Bytes < 20<<20 {
		t.Errorf("only %d bytes are left", report.Bytes)
	}
	t.Logf("%d MB of %d MB are footage, %d MB are free", report.Bytes>>20, space.Total>>20, space.Free>>20)
}

func TestADiskThatSomebodyElseFilledIsToldAndDoesNotReachTheCamera(t *testing.T) {
	dir, files := smallDisk(t)
	if _, fake := files.(spaceFS); fake {
		files = &faultyFS{FS: files}
	}
	r := newRig(t, dir, continuous, func(o *Options) { o.FS = files })
	r.bytes = 20_000
	r.gops(3)
	await(t, "it is recorded", func() bool { n, _ := r.frames(); return n[0] >= 100 })
	fill(t, dir, files)
	r.gops(20)
	r.taken()
	await(t, "it is told", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.events {
			if e.Kind == event.KindArchiveDisk {
				return true
			}
		}
		return false
	})
	empty(t, dir, files)
	r.setClock(r.clock().Add(2 * time.Second))
	await(t, "it goes on", func() bool {
		r.gops(1)
		r.taken()
		f := r.files()
		return len(f) > 1 && len(f[len(f)-1].Fragments) > 1
	})
	if gaps := cause(r.gaps(), index.CauseDiskFull); len(gaps) == 0 {
		await(t, "the gap is told", func() bool { return len(cause(r.gaps(), index.CauseDiskFull)) > 0 })
	}
	r.verified()
}

const otherFile = "somebody else's"

func fill(t *testing.T, dir string, files disk.FS) {
	t.Helper()
	if f, fake := files.(*faultyFS); fake {
		f.set(unix.ENOSPC)
		return
	}
	file, err := os.Create(dir + "/" + otherFile)
	must(t, err)
	defer file.Close()
	for piece := make([]byte, 64<<10); ; {
		if _, err := file.Write(piece); err != nil {
			return // full
		}
	}
}

func empty(t *testing.T, dir string, files disk.FS) {
	t.Helper()
	if f, fake := files.(*faultyFS); fake {
		f.set(nil)
		return
	}
	must(t, os.Remove(dir+"/"+otherFile))
}
