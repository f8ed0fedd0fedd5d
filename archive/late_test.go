package archive

import (
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/core/camera"
)

func TestRoomThatShowsLateIsWaitedForButNotForEver(t *testing.T) {
	type look struct {
		after    time.Duration // since the deletion of 100 bytes, of 1000 that were free
		free     int64
		written  uint64
		patience time.Duration
		want     int64
	}
	for name, looks := range map[string][]look{
		"it shows at once":                 {{0, 1100, 0, lateness, 0}},
		"it shows bit by bit":              {{0, 1000, 0, lateness, 100}, {1, 1040, 0, lateness, 60}, {2, 1100, 0, lateness, 0}},
		"what is written takes it":         {{0, 1000, 30, lateness, 70}, {1, 1000, 100, lateness, 0}},
		"somebody else takes it":           {{0, 900, 0, lateness, 100}, {lateness, 900, 0, lateness, 0}},
		"a full disk waits for less long":  {{0, 0, 0, lateWhenFull, 100}, {lateWhenFull, 0, 0, lateWhenFull, 0}},
		"the clock goes back":              {{0, 1000, 0, lateness, 100}, {-time.Hour, 1000, 0, lateness, 0}},
		"more shows than was deleted here": {{0, 5000, 0, lateness, 0}, {1, 5000, 0, lateness, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var l late
			l.look(zero, 1000, 0, lateness)
			l.add(zero, 100)
			for i, at := range looks {
				if got := l.look(zero.Add(at.after), at.free, at.written, at.patience); got != at.want {
					t.Errorf("look %d: %d bytes are to show, want %d", i, got, at.want)
				}
			}
		})
	}
}

// lateFS shows room so many looks after it was made.
type lateFS struct {
	spaceFS
	looks int
	shown *[]int64
}

func (f lateFS) Space() (disk.Space, error) {
	s, err := f.spaceFS.Space()
	*f.shown = append(*f.shown, s.Free)
	s.Free = (*f.shown)[max(0, len(*f.shown)-1-f.looks)]
	return s, err
}

func TestOnADiskThatShowsRoomLateNoMoreIsDeleted(t *testing.T) {
	left := map[int]int{}
	for _, looks := range []int{0, 8} {
		r := newRig(t, t.TempDir(), continuous, nil)
		r.minutes(12)
		total := int64(0)
		for _, f := range r.files() {
			total += f.Bytes
		}
		r.stop()
		r.open(camera.RecordSpec{Mode: camera.RecordOff}, func(o *Options) {
			o.FS, o.MinFree = lateFS{spaceFS{disk.NewDir(r.dir), r.dir, total + total/100}, looks, new([]int64)}, Floor{Percent: 10}
		})
		for range 12 {
			r.pass()
		}
		left[looks] = len(r.files())
		r.stop()
	}
	if left[8] != left[0] || left[0] < 8 {
		t.Errorf("by how many looks room shows late, there are left: %v", left)
	}
}
