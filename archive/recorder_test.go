package archive

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/footage"
)

func TestEveryFrameThatTheRingHandedOverIsInTheArchive(t *testing.T) {
	r := newRig(t, t.TempDir(), continuous, nil)
	r.sound = aacParams()
	for range 4 {
		r.gops(10)
		r.taken()
	}
	r.pictures(20)
	r.lose(1200 * time.Millisecond)
	r.gops(3)
	r.taken()
	r.state(camera.StateBackoff, camera.FaultNetwork, "the cable is out")
	await(t, "the camera's file is complete", func() bool {
		for _, f := range r.files() {
			if f.Open {
				return false
			}
		}
		return len(r.files()) > 0
	})
	r.reconnect(30 * time.Second)
	r.state(camera.StateLive, camera.FaultNone, "")
	r.gops(5)
	r.params, r.count = otherH264Params(), 0
	r.gops(5)
	r.taken()
	report := r.verified()
	// The first sound came before the first picture, where a ring begins.
	if report.Frames != [2]int64{int64(r.made[0]), int64(r.made[1] - 1)} {
		t.Errorf("%v frames are in the archive, of %v", report.Frames, r.made)
	}
	if left := r.pool.Stats().Frames; left > int64(r.ring.Stats().Frames) {
		t.Errorf("%d frames are held, %d of them by the ring", left, r.ring.Stats().Frames)
	}
}

// cause returns the gaps of a cause.
func cause(gaps []index.Gap, c index.Cause) []index.Gap {
	var of []index.Gap
	for _, g := range gaps {
		if g.Cause == c {
			of = append(of, g)
		}
	}
	return of
}

func TestGapsAreToldWithTheirCause(t *testing.T) {
	r := newRig(t, t.TempDir(), continuous, nil)
	r.gops(3)
	r.lose(3 * time.Second)
	r.gops(3)
	r.taken()
	for _, c := range []struct {
		fault camera.Fault
		away  time.Duration
	}{{camera.FaultNetwork, 20 * time.Second}, {camera.FaultLogin, 40 * time.Second}} {
		r.state(camera.StateBackoff, c.fault, "as it is")
		r.setClock(r.clock().Add(c.away))
		await(t, "the gap is told while it goes on", func() bool {
			gaps := r.gaps()
			return len(gaps) > 0 && gaps[len(gaps)-1].To.IsZero()
		})
		r.reconnect(c.away)
		r.state(camera.StateLive, camera.FaultNone, "")
		r.gops(3)
		r.taken()
	}
	await(t, "gaps end", func() bool { gaps := r.gaps(); return len(gaps) == 3 && !gaps[2].To.IsZero() })
	gaps := r.gaps()
	for c, want := range map[index.Cause]time.Duration{index.CauseLoss: 3 * time.Second, index.CauseNetwork: 20 * time.Second, index.CauseLoginRefused: 40 * time.Second} {
		of := cause(gaps, c)
		if len(of) != 1 || of[0].To.Sub(of[0].From) != want {
			t.Errorf("%s: got %+v, want one of %v", c, of, want)
		}
	}
	if c, ok := r.recorder.Coverage("door", "main"); !ok || c < 0.25 || c > 0.28 {
		t.Errorf("%v of the time is covered", c) // 22 to 24 s, beside 63
	}
	r.verified()
}

func TestRecordingIsSwitchedWithoutTouchingTheCamera(t *testing.T) {
	r := newRig(t, t.TempDir(), camera.RecordSpec{Mode: camera.RecordOff}, nil)
	r.gops(3)
	if _, files := r.frames(); files != 0 {
		t.Fatal("it records though nobody asked")
	}
	r.spec(continuous)
	r.listens()
	r.gops(3)
	r.taken()
	r.spec(camera.RecordSpec{Mode: camera.RecordOff})
	await(t, "the file is complete", func() bool { f := r.files(); return len(f) == 1 && !f[0].Open })
	r.setClock(r.clock().Add(time.Minute))
	await(t, "the gap is told", func() bool { return len(cause(r.gaps(), index.CauseRequest)) == 1 })
	r.skip(time.Minute)
	r.count = 0
	r.spec(continuous)
	r.listens()
	r.gops(3)
	r.taken()
	r.verified()
}

func TestADiskInTroubleLeavesAGapAndAnEvent(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		cause index.Cause
	}{
		"an error":  {syscall.EIO, index.CauseDiskError},
		"read-only": {syscall.EROFS, index.CauseDiskError},
		"no room":   {syscall.ENOSPC, index.CauseDiskFull},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fs := &faultyFS{FS: disk.NewDir(dir)}
			r := newRig(t, dir, continuous, func(o *Options) { o.FS = fs })
			r.gops(3)
			await(t, "it is recorded", func() bool { n, _ := r.frames(); return n[0] >= 100 })
			fs.set(c.err)
			r.gops(10)
			r.taken()
			await(t, "an event", func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				for _, e := range r.events {
					if e.Kind == event.KindArchiveDisk {
						return true
					}
				}
				return false
			})
			await(t, "the gap is told", func() bool { return len(cause(r.gaps(), c.cause)) == 1 })
			if got := r.recorder.Recording("door"); got.State != footage.RecordingFailed || got.Reason == "" {
				t.Errorf("meanwhile: %+v", got)
			}
			fs.set(nil)
			r.setClock(r.clock().Add(2 * time.Second))
			await(t, "it is recorded again", func() bool {
				r.gops(1)
				r.taken()
				f := r.files()
				return f[len(f)-1].Number > 1 && len(f[len(f)-1].Fragments) > 1
			})
			await(t, "the gap ends", func() bool { g := cause(r.gaps(), c.cause); return len(g) == 1 && !g[0].To.IsZero() })
			if got := r.recorder.Recording("door"); got.State != footage.RecordingOn {
				t.Errorf("behind it: %+v", got)
			}
			r.verified()
		})
	}
}

func TestAfterACleanStopTheGapIsTheProcess(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, continuous, nil)
	r.gops(5)
	r.taken()
	r.stop()
	r.setClock(r.clock().Add(time.Hour))
	r.skip(time.Hour)
	r.epoch++
	r.count = 0
	r.open(continuous, nil)
	r.gops(3)
	r.taken()
	await(t, "the gap is told", func() bool { return len(r.gaps()) == 1 && !r.gaps()[0].To.IsZero() })
	if g := r.gaps()[0]; g.Cause != index.CauseProcessDown || g.To.Sub(g.From) != time.Hour {
		t.Errorf("got %+v", g)
	}
	r.verified()
}

func TestADiskThatHangsDoesNotHoldUpTheEnd(t *testing.T) {
	dir := t.TempDir()
	hang, hanging := make(chan struct{}), make(chan struct{}, 1)
	fs := &hangingFS{FS: disk.NewDir(dir), hang: hang, hanging: hanging}
	r := newRig(t, dir, continuous, func(o *Options) { o.FS, o.StopTimeout = fs, 20*time.Millisecond })
	r.gops(3)
	<-hanging
	r.gops(3) // does not return if it waits
	r.taken()
	r.stop() // likewise
	close(hang)
	await(t, "what hung is over", func() bool {
		return r.recorder.writer.Stats().OpenFiles == 0 && r.recorder.writer.Stats().Syncs.Count > 0
	})
	if err := r.recorder.index.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhoDeletesFromADiskThatHangsDoesNotHoldUpTheEnd(t *testing.T) {
	dir := t.TempDir()
	fs := &spaceHangsFS{FS: disk.NewDir(dir), hang: make(chan struct{}), hanging: make(chan struct{}, 1)}
	r := newRig(t, dir, continuous, func(o *Options) { o.FS, o.StopTimeout = fs, 20*time.Millisecond })
	<-fs.hanging
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.stop()
	}()
	select {
	case <-stopped:
	case <-time.After(20 * time.Second):
		t.Error("it waits for a disk that does not answer")
	}
	close(fs.hang)
	<-stopped
	if err := r.recorder.index.Close(); err != nil {
		t.Error(err)
	}
}

// spaceHangsFS does not tell its space but once, when the archive is opened.
type spaceHangsFS struct {
	disk.FS
	told    atomic.Bool
	hang    chan struct{}
	hanging chan struct{}
}

func (f *spaceHangsFS) Space() (disk.Space, error) {
	if f.told.Swap(true) {
		select {
		case f.hanging <- struct{}{}:
		default:
		}
		<-f.hang
	}
	return f.FS.Space()
}

type hangingFS struct {
	disk.FS
	hang    chan struct{}
	hanging chan struct{}
}

func (f *hangingFS) Create(path string) (disk.File, error) {
	select {
	case f.hanging <- struct{}{}:
	default:
	}
	<-f.hang
	return f.FS.Create(path)
}
