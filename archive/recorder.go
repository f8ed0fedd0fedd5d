package archive

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/ring"
)

// Recorder records cameras. It is an output of the camera registry. All methods may
// be called from any goroutine, and none but Open, Run and Close waits for the disk.
type Recorder struct {
	options Options
	index   *index.Index
	writer  *disk.Writer
	run     int64 // Unix ms of the start
	keeper  *keeper
	watch   watch

	lastSign    time.Time // of life of the process before, or of its recordings
	refusedSaid time.Time // when it was last told that files cannot be unlinked; guarded by keeper.deleting

	mu       sync.Mutex
	policies map[string]*policy // by camera
	sources  map[sourceKey]*source
	ledgers  map[sourceKey]*ledger
	// By camera, in the order in which they were told.
	happenings map[string][]*happening
	awake      map[string]time.Time // until when events that others keep are recorded
	rolling    rollings
	closed     bool
	hangs      bool           // the disk hung when Run ended
	running    sync.WaitGroup // of sources
}

type sourceKey struct{ camera, source string }

// Open opens the archive in a directory, makes it where it is missing, and puts in
// order what the process before this left behind.
func Open(ctx context.Context, o Options) (*Recorder, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	x, err := index.Open(ctx, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the archive's index: %w", err)
	}
	r := &Recorder{
		options: o, index: x, run: o.Now().UnixMilli(),
		policies: map[string]*policy{}, sources: map[sourceKey]*source{}, ledgers: map[sourceKey]*ledger{}, happenings: map[string][]*happening{}, awake: map[string]time.Time{},
	}
	r.keeper, r.watch.r = newKeeper(r), r
	space, err := o.FS.Space()
	if err != nil {
		_ = x.Close() // The first error says what is wrong.
		return nil, err
	}
	if r.writer, err = disk.New(disk.Options{
		FS: o.FS, Index: x, Log: o.Log, Now: o.Now, Buffer: o.WriteBuffer, SyncInterval: o.SyncInterval, StopTimeout: o.StopTimeout, LargestFile: largestFile(space),
		Changed: r.diskChanged, Full: r.makeRoom,
	}); err == nil {
		err = r.putInOrder(ctx)
	}
	if err != nil {
		_ = x.Close() // The first error says what is wrong.
		return nil, err
	}
	return r, nil
}

// Index is what lies in the archive, for those who read it.
func (r *Recorder) Index() *index.Index { return r.index }

// Run writes what is recorded until ctx ends and all sources are detached, or until a
// disk that hangs was waited for long enough.
func (r *Recorder) Run(ctx context.Context) error {
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group := errgroup.Group{}
	group.Go(func() error { return r.writer.Run(writing) })
	group.Go(func() error { return r.keepBooks(ctx) })
	group.Go(func() error { return r.keeper.run(ctx) })
	group.Go(func() error { return (&thinner{k: r.keeper, from: map[int64]index.Moment{}}).run(ctx) })
	<-ctx.Done()
	r.stopSources()
	stop()
	err := r.inTime(group.Wait)
	if !errors.Is(err, disk.ErrTimeout) {
		err = errors.Join(err, r.inTime(func() error {
			r.writeDown(context.WithoutCancel(ctx))
			r.keepHappenings(context.WithoutCancel(ctx))
			r.keepRolling(context.WithoutCancel(ctx))
			return nil
		}))
	}
	if errors.Is(err, disk.ErrTimeout) {
		r.options.Log.Error("the archive's disk hangs: what waited for it is lost", "err", err)
		r.mu.Lock()
		r.hangs = true
		r.mu.Unlock()
		return nil
	}
	return err
}

// inTime does what waits for the disk, when Drover stops. What hangs in the kernel is
// left to it, be it the writer, or who deletes, or the index: who stops Drover has
// not the patience of a network disk that is gone.
func (r *Recorder) inTime(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	late := time.NewTimer(r.options.StopTimeout)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return disk.ErrTimeout
	}
}

// stopSources ends all sources and returns when they have ended.
func (r *Recorder) stopSources() {
	r.mu.Lock()
	r.closed = true
	for _, s := range r.sources {
		s.cancel()
	}
	r.mu.Unlock()
	r.running.Wait()
}

// Close closes the index. Run has returned. What hangs in the kernel keeps it open.
func (r *Recorder) Close() error {
	r.mu.Lock()
	hangs := r.hangs
	r.mu.Unlock()
	if hangs {
		return nil
	}
	return r.index.Close()
}

// Coverage returns how much of the time that a source should have been recorded it
// was, since Drover started, from 0 to 1; false where there was no such time.
func (r *Recorder) Coverage(id, name string) (float64, bool) {
	r.mu.Lock()
	l := r.ledgers[sourceKey{id, name}]
	r.mu.Unlock()
	if l == nil {
		return 0, false
	}
	return l.coverage(r.now())
}

// SetSpec tells what a camera's recordings should be like from now on.
func (r *Recorder) SetSpec(spec camera.Spec) {
	p := newPolicy(spec, r.options.RingSpan, r.options.Log)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policies[spec.ID] = p
	r.rolling.set(spec.ID, p, r.options.Now())
	for key, s := range r.sources {
		if key.camera == spec.ID {
			s.decide(p, r.options.Now(), r.until(spec.ID))
		}
	}
	for key := range r.ledgers {
		if key.camera == spec.ID {
			r.explainUnattached(key)
		}
	}
}

// explainUnattached tells the ledger of a source that is not attached why nothing
// comes. The caller holds mu.
func (r *Recorder) explainUnattached(key sourceKey) {
	if r.sources[key] != nil {
		return
	}
	l, p, now := r.ledgers[key], r.policies[key.camera], r.options.Now()
	switch {
	case p != nil && p.enabled && p.wants(key.source, now, r.until(key.camera)):
	case p != nil && !p.enabled:
		l.absent(index.CauseCameraOff, "the camera is switched off", now)
	default:
		l.absent(index.CauseRequest, p.whyNot(key.source), now)
	}
}

// Removed tells that a camera is gone. Its recordings stay until the disk needs the room: nothing
// says any more how long they should be kept.
func (r *Recorder) Removed(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.policies, id)
	delete(r.happenings, id)
	delete(r.awake, id)
	r.rolling.set(id, nil, r.options.Now())
	for key, l := range r.ledgers {
		if key.camera == id {
			l.absent(index.CauseRequest, "the camera was removed", r.options.Now())
		}
	}
}

// Attach implements camera.Output.
func (r *Recorder) Attach(id, name string, frames *ring.Ring) error {
	key := sourceKey{id, name}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.New("the archive is closed")
	}
	if r.sources[key] != nil {
		return fmt.Errorf("archive of camera %s, source %s: attached already", id, name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := newSource(r, key, frames, r.ledger(key), cancel)
	r.sources[key] = s
	s.decide(r.policies[id], r.options.Now(), r.until(id))
	r.running.Go(func() {
		defer close(s.done)
		s.run(ctx)
	})
	return nil
}

// ledger returns that of a stream. The caller holds mu.
func (r *Recorder) ledger(key sourceKey) *ledger {
	l := r.ledgers[key]
	if l == nil {
		l = &ledger{}
		r.ledgers[key] = l
	}
	return l
}

// Detach implements camera.Output.
func (r *Recorder) Detach(id, name string) {
	key := sourceKey{id, name}
	r.mu.Lock()
	s := r.sources[key]
	r.mu.Unlock()
	if s == nil {
		return
	}
	s.cancel()
	<-s.done
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources[key] != s {
		return // another Detach has been here
	}
	delete(r.sources, key)
	if r.closed {
		return // it is Drover that stops, and no camera that is switched off
	}
	if l := r.ledgers[key]; r.policies[id].wants(name, r.options.Now(), r.until(id)) {
		l.absent(index.CauseCameraOff, "the camera is switched off", r.options.Now())
	}
}

// StateChanged tells how a source is doing.
func (r *Recorder) StateChanged(c camera.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sources[sourceKey{c.Camera, c.Source}]; s != nil {
		s.stateChanged(c)
	}
}

// Run numbers tell recording runs of a stream apart, within the process too.
func (r *Recorder) nextRun() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.run = max(r.run+1, r.options.Now().UnixMilli())
	return r.run
}

// diskChanged tells people about the disk.
func (r *Recorder) diskChanged(h disk.Health) {
	r.options.Event(diskEvent(h))
}

func (r *Recorder) now() time.Time { return r.options.Now() }
