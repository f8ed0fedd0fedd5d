package disk_test

import (
	"context"
	"errors"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
)

func start(t *testing.T, w *disk.Writer) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- w.Run(ctx) }()
	stopped, err := false, error(nil)
	stop := func() error {
		if !stopped {
			cancel()
			stopped, err = true, <-result
		}
		return err
	}
	t.Cleanup(func() { stop() })
	return stop
}

func TestFragmentsAreInTheFilesThatTheIndexTellsOf(t *testing.T) {
	r := newRig(t, nil)
	for n := range 10 {
		f := fragment(n, 1, 5000)
		f.Fresh = n%4 == 0
		r.lane.Write(f)
	}
	r.await("all are written", func() bool { yes, _ := r.written(); return len(yes) == 10 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if n := r.verify(); n != 10 {
		t.Errorf("%d fragments are there", n)
	}
	if s := r.writer.Stats(); s.Fragments != 10 || s.Queued != 0 || s.OpenFiles != 0 || s.Health.Cause != "" {
		t.Errorf("got %+v", s)
	}
}

func TestAFileThatEndsIsFinishedWhileOthersGoOn(t *testing.T) {
	r := newRig(t, nil)
	r.lane.Write(fragment(0, 1, 100))
	r.lane.End()
	r.await("it is finished", func() bool {
		stream, ok := r.index.Find("door", "main")
		if !ok {
			return false
		}
		files, err := r.index.Files(t.Context(), stream.ID, noon, noon.Add(time.Minute))
		return err == nil && len(files) == 1 && !files[0].Open
	})
}

// failing lets every write fail from now on, leaving torn bytes behind.
func (r *rig) failing(err error) {
	r.fs.set(func() {
		r.fs.write = func(int64, [][]byte) (int64, error, bool) { return 20, err, true }
	})
}

func (r *rig) healthy() {
	r.fs.set(func() { r.fs.write, r.fs.create, r.fs.sync, r.fs.remove = nil, nil, nil, nil })
}

func TestADiskThatFailsLosesWholeGOPsAndIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		cause index.Cause
	}{
		"an error of the disk": {syscall.EIO, index.CauseDiskError},
		"no room":              {syscall.ENOSPC, index.CauseDiskFull},
		"no quota":             {syscall.EDQUOT, index.CauseDiskFull},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &clock{now: noon}
			r := newRig(t, func(o *disk.Options) { o.Now = clock.get })
			r.lane.Write(fragment(0, 2, 5000))
			r.lane.Write(fragment(1, 2, 5000))
			r.await("the first GOP is written", func() bool { yes, _ := r.written(); return len(yes) == 2 })
			r.failing(c.err)
			r.lane.Write(fragment(2, 2, 5000))
			r.await("the failure is told", func() bool { _, no := r.written(); return len(no) == 1 && len(r.health) == 1 })
			r.healthy()
			clock.add(time.Minute)
			r.lane.Write(fragment(3, 2, 5000)) // of the GOP that failed
			r.lane.Write(fragment(4, 2, 5000))
			r.lane.Write(fragment(5, 2, 5000))
			r.await("it is well again", func() bool { yes, _ := r.written(); return len(yes) == 4 && len(r.health) == 2 })
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			yes, no := r.written()
			if !reflect.DeepEqual(yes, []int{0, 1, 4, 5}) || !reflect.DeepEqual(no, []int{2, 3}) {
				t.Errorf("written %v, not written %v", yes, no)
			}
			if r.outcomes[2].Cause != c.cause || r.health[0].Cause != c.cause || r.health[1].Cause != "" {
				t.Errorf("got %+v, health %+v", r.outcomes[2], r.health)
			}
			if full := c.cause == index.CauseDiskFull; full != (r.full > 0) {
				t.Errorf("asked for room %d times", r.full)
			}
			if n := r.verify(); n != 4 {
				t.Errorf("%d fragments are there", n)
			}
		})
	}
}

func TestADirectoryThatBecomesReadOnlyCostsWhatComesMeanwhile(t *testing.T) {
	clock := &clock{now: noon}
	r := newRig(t, func(o *disk.Options) { o.Now = clock.get })
	r.fs.set(func() { r.fs.create = func(string) error { return syscall.EROFS } })
	r.lane.Write(fragment(0, 1, 100))
	r.await("it is told", func() bool { _, no := r.written(); return len(no) == 1 })
	r.healthy()
	clock.add(time.Minute)
	r.lane.Write(fragment(1, 1, 100))
	r.await("it goes on", func() bool { yes, _ := r.written(); return len(yes) == 1 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if n := r.verify(); n != 1 {
		t.Errorf("%d fragments are there", n)
	}
}

func TestWhatCouldNotBeSyncedIsNotFinished(t *testing.T) {
	r := newRig(t, nil)
	r.fs.set(func() { r.fs.sync = func() error { return syscall.EIO } })
	r.lane.Write(fragment(0, 1, 100))
	r.await("the failure is told", func() bool { return len(r.health) > 0 })
	r.healthy() // as a kernel does, which has let go of what it could not write
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.index.Close()
	again, err := index.Open(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if open, err := again.Unfinished(t.Context()); err != nil || len(open) != 1 {
		t.Errorf("got %d open rows, %v: what the disk really has is not looked at", len(open), err)
	}
}

func TestADiskThatHangsCostsNobodyTime(t *testing.T) {
	r := newRig(t, func(o *disk.Options) {
		o.Buffer = 20_000
		o.StopTimeout = 10 * time.Millisecond
	})
	hang, hanging := make(chan struct{}), make(chan struct{}, 10)
	r.fs.set(func() {
		r.fs.write = func(int64, [][]byte) (int64, error, bool) {
			hanging <- struct{}{}
			<-hang
			return 0, nil, false
		}
	})
	r.lane.Write(fragment(0, 2, 5000))
	<-hanging
	for n := 1; n < 20; n++ {
		r.lane.Write(fragment(n, 2, 5000)) // does not return if it waits
	}
	_, no := r.written()
	if len(no) < 15 || r.outcomes[len(r.outcomes)-1].Cause != index.CauseDiskSlow {
		t.Errorf("not written: %v, as %+v", no, r.outcomes)
	}
	if len(r.health) != 1 || r.health[0].Cause != index.CauseDiskSlow {
		t.Errorf("told: %+v", r.health)
	}
	if s := r.writer.Stats(); s.Queued > 20_000 || s.Drops[index.CauseDiskSlow] != uint64(len(no)) {
		t.Errorf("got %+v", s)
	}
	if err := r.stop(); !errors.Is(err, disk.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	close(hang)
	r.await("what hung is done", func() bool { return r.writer.Stats().OpenFiles == 0 && r.writer.Stats().Syncs.Count > 0 })
}

func TestADiskThatWasSlowGoesOnWithAWholeGOP(t *testing.T) {
	r := newRig(t, func(o *disk.Options) { o.Buffer = 12_000 })
	hang, hanging := make(chan struct{}), make(chan struct{}, 100)
	r.fs.set(func() {
		r.fs.write = func(int64, [][]byte) (int64, error, bool) {
			hanging <- struct{}{}
			<-hang
			return 0, nil, false
		}
	})
	r.lane.Write(fragment(0, 2, 5000))
	<-hanging
	r.lane.Write(fragment(1, 2, 5000))
	r.lane.Write(fragment(2, 2, 5000)) // no room
	close(hang)
	r.await("there is room", func() bool { return r.writer.Stats().Queued == 0 })
	r.lane.Write(fragment(3, 2, 5000)) // of no use without the one before
	r.lane.Write(fragment(4, 2, 5000))
	r.await("it goes on", func() bool { yes, _ := r.written(); return len(yes) == 3 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if yes, no := r.written(); !reflect.DeepEqual(yes, []int{0, 1, 4}) || !reflect.DeepEqual(no, []int{2, 3}) {
		t.Errorf("written %v, not written %v", yes, no)
	}
	if n := r.verify(); n != 3 {
		t.Errorf("%d fragments are there", n)
	}
}
