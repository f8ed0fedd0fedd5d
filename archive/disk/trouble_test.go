package disk_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
)

// other returns the lane of another camera, and what becomes of its fragments.
func (r *rig) other() (*disk.Lane, *[]disk.Outcome) {
	outcomes := new([]disk.Outcome)
	return r.writer.Lane("gate", "main", func(o disk.Outcome) { r.note(func() { *outcomes = append(*outcomes, o) }) }), outcomes
}

func TestWhatOneFolderRefusesCostsOtherCamerasOnlyWhereTheDiskIsMeant(t *testing.T) {
	for name, c := range map[string]struct {
		err error
		all bool
	}{
		"somebody else's folder": {syscall.EACCES, false},
		"a damaged folder":       {syscall.EIO, false},
		"too many files":         {syscall.EMFILE, false},
		"no room":                {syscall.ENOSPC, true},
		"no quota":               {syscall.EDQUOT, true},
		"a read-only disk":       {syscall.EROFS, true},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &clock{now: noon} // stands: who rests goes on resting
			tries := 0
			r := newRig(t, func(o *disk.Options) { o.Now = clock.get })
			r.fs.set(func() {
				r.fs.create = func(path string) error {
					if !strings.HasPrefix(path, "gate/") {
						return nil
					}
					tries++
					return c.err
				}
			})
			gate, refused := r.other()
			for n := range 3 {
				gate.Write(fragment(n, 1, 100))
				r.await("gate is refused", func() bool { return len(*refused) == n+1 })
				r.lane.Write(fragment(n, 1, 100))
				r.await("the other's fate is told", func() bool { return len(r.outcomes) == n+1 })
			}
			yes, no := r.written()
			if want := map[bool]int{false: 3, true: 0}[c.all]; len(yes) != want {
				t.Errorf("written %v, not written %v", yes, no)
			}
			if len(r.health) != 1 || r.health[0].Cause != disk.CauseOf(c.err) || strings.Contains(r.health[0].Detail, "camera gate") == c.all {
				t.Errorf("told %+v", r.health)
			}
			if well := r.lane.Health().Cause == ""; well == c.all || gate.Health().Cause != disk.CauseOf(c.err) {
				t.Errorf("got %+v, and of gate %+v", r.lane.Health(), gate.Health())
			}
			r.fs.set(func() {
				if tries != 1 {
					t.Errorf("tried %d times at once", tries)
				}
			})
			r.healthy()
			clock.add(2 * time.Second)
			gate.Write(fragment(3, 1, 100))
			r.await("it goes on", func() bool { return len(*refused) == 4 && (*refused)[3].Written && len(r.health) == 2 })
			if h := r.writer.Health(); h.Cause != "" || gate.Health().Cause != "" || r.health[1].Cause != "" {
				t.Errorf("got %+v", h)
			}
		})
	}
}

func TestACameraThatIsGoneIsNoTroubleAnyMore(t *testing.T) {
	clock := &clock{now: noon}
	r := newRig(t, func(o *disk.Options) { o.Now = clock.get })
	r.fs.set(func() {
		r.fs.create = func(path string) error {
			if strings.HasPrefix(path, "gate/") {
				return syscall.EACCES
			}
			return nil
		}
	})
	gate, refused := r.other()
	gate.Write(fragment(0, 1, 100))
	r.await("gate is refused", func() bool { return len(*refused) == 1 })
	r.lane.Write(fragment(0, 1, 100))
	r.await("another is written", func() bool { return len(r.outcomes) == 1 })
	if len(r.health) != 1 {
		t.Errorf("told %+v", r.health)
	}
	clock.add(2 * time.Minute)
	r.lane.Write(fragment(1, 1, 100))
	r.await("the disk is well", func() bool { return len(r.health) == 2 && r.health[1].Cause == "" })
}

func TestAFileThatCouldNotBeSyncedOnceCostsNothingElse(t *testing.T) {
	clock := &clock{now: noon}
	r := newRig(t, func(o *disk.Options) { o.Now = clock.get })
	syncs := 0
	r.fs.set(func() {
		r.fs.sync = func() error {
			if syncs++; syncs == 1 {
				return syscall.EIO
			}
			return nil
		}
	})
	r.lane.Write(fragment(0, 1, 100))
	r.await("the failure is told", func() bool { return len(r.health) == 1 && r.health[0].Cause == index.CauseDiskError })
	gate, others := r.other()
	gate.Write(fragment(0, 1, 100))
	r.await("others are written", func() bool { return len(*others) == 1 && (*others)[0].Written })
	clock.add(2 * time.Second)
	r.lane.Write(fragment(1, 1, 100))
	r.lane.Write(fragment(2, 1, 100))
	r.await("it goes on in another file", func() bool { yes, _ := r.written(); return len(yes) == 3 })
	was := r.writer.Stats().Syncs.Count
	gate.Write(fragment(1, 1, 100))
	r.await("what came is synced", func() bool { return len(*others) == 2 && r.writer.Stats().Syncs.Count > was })
	stream, _ := r.index.Find("door", "main")
	r.await("nobody waits for more of the broken file", func() bool {
		broken, ok, err := r.index.FileByNumber(t.Context(), index.Key{Stream: stream.ID, Number: 1})
		return err == nil && ok && broken.Broken && !broken.Growing()
	})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if len(r.health) != 2 || r.health[1].Cause != "" {
		t.Errorf("told %+v", r.health)
	}
	if s := r.writer.Stats(); s.OpenFiles != 0 || len(s.Drops) != 0 {
		t.Errorf("got %+v", s)
	}
}
