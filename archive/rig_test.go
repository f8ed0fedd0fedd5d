package archive

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// A rig is a recorder with a camera "door", whose clock goes by the camera's.
type rig struct {
	*fakeCamera
	t        *testing.T
	dir      string
	pool     *media.Pool
	ring     *ring.Ring
	recorder *Recorder
	stop     func()

	mu     sync.Mutex
	now    time.Time
	events []event.Event
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) setClock(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = at
}

func newRig(t *testing.T, dir string, record camera.RecordSpec, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, pool: media.NewPool(), now: zero}
	r.ring = ring.New(ring.Limits{Buffer: 4096})
	r.fakeCamera = newFakeCamera(t, r.pool, func(f *media.Frame) {
		if f.Wall.After(r.clock()) {
			r.setClock(f.Wall)
		}
		r.ring.Write(f)
	})
	r.open(record, change)
	return r
}

// open starts a recorder, and attaches the camera.
func (r *rig) open(record camera.RecordSpec, change func(*Options)) {
	r.t.Helper()
	o := Options{Dir: r.dir, Now: r.clock, SyncInterval: 5 * time.Millisecond, Event: func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}}
	if change != nil {
		change(&o)
	}
	recorder, err := Open(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.recorder = recorder
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := recorder.Run(ctx); err != nil {
			r.t.Errorf("the recorder ended: %v", err)
		}
	}()
	var once sync.Once
	r.stop = func() {
		once.Do(func() {
			cancel()
			<-done
			recorder.Detach("door", "main")
			if err := recorder.Close(); err != nil {
				r.t.Error(err)
			}
		})
	}
	r.t.Cleanup(r.stop)
	r.spec(record)
	if err := recorder.Attach("door", "main", r.ring); err != nil {
		r.t.Fatal(err)
	}
	r.state(camera.StateLive, camera.FaultNone, "")
	if record.Mode == camera.RecordContinuous {
		r.listens()
	}
}

// listens waits until the recorder listens.
func (r *rig) listens() {
	r.t.Helper()
	await(r.t, "it listens", func() bool { return len(r.ring.Subscribers()) == 1 })
}

func (r *rig) spec(record camera.RecordSpec) {
	r.recorder.SetSpec(camera.Spec{ID: "door", Enabled: true, Sources: []camera.SourceSpec{{Name: "main"}}, Record: record})
}

func (r *rig) state(state camera.State, fault camera.Fault, reason string) {
	r.recorder.StateChanged(camera.Change{Camera: "door", Source: "main", State: state, Fault: fault, Reason: reason, At: r.clock()})
}

// await waits until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	late := time.Now().Add(30 * time.Second)
	for !is() {
		if time.Now().After(late) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// taken waits until the recorder has taken all that was made.
func (r *rig) taken() {
	r.t.Helper()
	await(r.t, "the recorder has taken all frames", func() bool {
		for _, s := range r.ring.Subscribers() {
			if s.Name == "archive" && s.Behind == 0 {
				return true
			}
		}
		return false
	})
}

func (r *rig) frames() (total [2]int64, files int) {
	r.t.Helper()
	for _, f := range r.files() {
		total[0] += f.Frames[0]
		total[1] += f.Frames[1]
		files++
	}
	return total, files
}

func (r *rig) files() []index.File {
	r.t.Helper()
	x := r.recorder.Index()
	s, ok := x.Find("door", "main")
	if !ok {
		return nil
	}
	files, err := x.Files(r.t.Context(), s.ID, zero.Add(-1000*time.Hour), zero.Add(100000*time.Hour))
	if err != nil {
		r.t.Fatal(err)
	}
	return files
}

func (r *rig) gaps() []index.Gap {
	r.t.Helper()
	x := r.recorder.Index()
	s, ok := x.Find("door", "main")
	if !ok {
		return nil
	}
	gaps, err := x.Gaps(r.t.Context(), s.ID, time.Time{}, time.Time{}, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	return gaps
}

// verified ends the recorder and holds the archive against what always holds.
func (r *rig) verified() *Report {
	r.t.Helper()
	r.stop()
	report, err := Verify(r.t.Context(), r.dir, true)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range report.Problems {
		r.t.Errorf("%s: %s", p.Where, p.What)
	}
	if report.Unfinished > 0 || report.Doomed > 0 {
		r.t.Errorf("%d files are unfinished, %d doomed", report.Unfinished, report.Doomed)
	}
	return report
}

var continuous = camera.RecordSpec{Mode: camera.RecordContinuous}

// faultyFS makes writing fail.
type faultyFS struct {
	disk.FS
	mu  sync.Mutex
	err error
}

func (f *faultyFS) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *faultyFS) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *faultyFS) Create(path string) (disk.File, error) {
	if err := f.get(); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(path)
	if err != nil {
		return nil, err
	}
	return faultyFile{file, f}, nil
}

type faultyFile struct {
	disk.File
	fs *faultyFS
}

func (f faultyFile) WriteBuffers(buffers [][]byte, offset int64) (int64, error) {
	if err := f.fs.get(); err != nil {
		return 0, err
	}
	return f.File.WriteBuffers(buffers, offset)
}
