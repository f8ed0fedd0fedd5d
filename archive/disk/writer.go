package disk

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// Index is what is told of files. Its methods may be called by several at once.
type Index interface {
	Stream(ctx context.Context, camera, source string) (index.Stream, error)
	Begin(ctx context.Context, files ...*index.File) error
	Append(key index.Key, fragment layout.Fragment, frames [2]int64) error
	Finish(ctx context.Context, keys ...index.Key) error
	GiveUp(key index.Key)
}

// Defaults of Options.
const (
	DefaultBuffer       = 64 << 20
	DefaultSyncInterval = 2 * time.Second
	DefaultKeep         = 30 * time.Second
	DefaultRound        = 250 * time.Millisecond
	DefaultStopTimeout  = 3 * time.Second
)

// Options of a writer. FS and Index are needed.
type Options struct {
	FS    FS
	Index Index
	Log   *slog.Logger
	Now   func() time.Time

	Buffer       int64         // most bytes that wait to be written
	SyncInterval time.Duration // how long what was written may not be on disk
	Keep         time.Duration // how long it is kept in memory, for those who watch a little behind
	Round        time.Duration // how long fragments are gathered
	StopTimeout  time.Duration // how long Run waits for the disk in the end
	LargestFile  int64         // bytes after which a file ends at the next keyframe; 0: no limit

	// Changed is told when the disk gets into trouble and out of it. Full is told
	// that something has to be deleted. They must not wait.
	Changed func(Health)
	Full    func()
}

func (o *Options) fill() error {
	if o.FS == nil || o.Index == nil {
		return errors.New("disk: FS and Index are needed")
	}
	o.Buffer = cmp.Or(o.Buffer, DefaultBuffer)
	o.SyncInterval = cmp.Or(o.SyncInterval, DefaultSyncInterval)
	o.Keep = cmp.Or(o.Keep, DefaultKeep)
	o.Round = cmp.Or(o.Round, DefaultRound)
	o.StopTimeout = cmp.Or(o.StopTimeout, DefaultStopTimeout)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Changed == nil {
		o.Changed = func(Health) {}
	}
	if o.Full == nil {
		o.Full = func() {}
	}
	return nil
}

// Writer writes to one disk.
type Writer struct {
	options Options
	health  health
	counts  counters
	work    chan struct{} // there are jobs
	hurry   chan struct{} // there are many
	syncs   syncer

	mu      sync.Mutex
	jobs    []job
	queued  int64
	stopped bool

	// Owned by the writing goroutine.
	lanes map[*Lane]struct{} // that have a file
}

// A job is a fragment to be written, or, without one, a lane's end of its file.
type job struct {
	lane     *Lane
	fragment *Fragment
}

// New returns a writer.
func New(o Options) (*Writer, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	w := &Writer{options: o, work: make(chan struct{}, 1), hurry: make(chan struct{}, 1), lanes: map[*Lane]struct{}{}}
	w.health.writer, w.health.lanes = w, map[laneKey]*trouble{}
	w.syncs.writer = w
	return w, nil
}

// Run writes until ctx ends, then what is left, and completes all files. It returns
// when that is done, or when the disk did not do it in time.
func (w *Writer) Run(ctx context.Context) error {
	keep := context.WithoutCancel(ctx)
	written, synced := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		w.write(ctx, keep)
	}()
	go func() {
		defer close(synced)
		w.syncs.run(keep, written)
	}()
	<-ctx.Done()
	late := time.NewTimer(w.options.StopTimeout)
	defer late.Stop()
	select {
	case <-synced:
		return nil
	case <-late.C:
		// Those who hang in the kernel are left to it: what they have not done is
		// done at the next start.
		w.abandon()
		return ErrTimeout
	}
}

// abandon drops what waits, as nobody will write it.
func (w *Writer) abandon() {
	w.mu.Lock()
	jobs := w.jobs
	w.jobs, w.stopped = nil, true
	w.mu.Unlock()
	for _, j := range jobs {
		if j.fragment != nil {
			w.give(j.fragment.Bytes)
			w.drop(j.lane, j.fragment, index.CauseDiskSlow, "the disk did not answer when Drover stopped")
		}
	}
}

func (w *Writer) nudge(urgent bool) {
	channel := w.work
	if urgent {
		channel = w.hurry
	}
	select {
	case channel <- struct{}{}:
	default:
	}
}

// write is the goroutine that writes.
func (w *Writer) write(ctx, keep context.Context) {
	timer := time.NewTimer(w.options.Round)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-w.hurry:
		case <-w.work:
			// Others will follow, and share a transaction.
			timer.Reset(w.options.Round)
			select {
			case <-ctx.Done():
			case <-w.hurry:
			case <-timer.C:
			}
		}
		w.round(keep)
	}
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.round(keep)
	for lane := range w.lanes {
		w.endFile(lane)
	}
}

// take returns what waits.
func (w *Writer) take() []job {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs := w.jobs
	w.jobs = nil
	return jobs
}

// give gives room in the queue back.
func (w *Writer) give(bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued -= bytes
}

// drop lets go of a fragment that is not written.
func (w *Writer) drop(l *Lane, f *Fragment, cause index.Cause, detail string) {
	w.counts.drop(cause)
	outcome := f.outcome()
	outcome.Cause, outcome.Detail = cause, detail
	f.release()
	l.done(outcome)
}

// LetGo closes finished files that were kept for those who read them from memory: what
// is deleted of them takes up room until then.
func (w *Writer) LetGo() {
	w.syncs.letGo.Store(true)
}

// Stats is how a writer is doing.
type Stats struct {
	Bytes     uint64 // written
	Fragments uint64
	Queued    int64 // bytes that wait
	Drops     map[index.Cause]uint64
	Writes    Latency
	Syncs     Latency
	Health    Health
	OpenFiles int64
}

// Latency is how long something took, in all and at most.
type Latency struct {
	Count uint64
	Total time.Duration
	Most  time.Duration // of the last minute or so
}

// Health returns whether the disk takes what it is given, of all lanes.
func (w *Writer) Health() Health { return w.health.get() }

// Stats returns how the writer is doing.
func (w *Writer) Stats() Stats {
	w.mu.Lock()
	queued := w.queued
	w.mu.Unlock()
	s := w.counts.stats()
	s.Queued, s.Health = queued, w.health.get()
	return s
}

type counters struct {
	bytes, fragments atomic.Uint64
	open             atomic.Int64

	mu            sync.Mutex
	drops         map[index.Cause]uint64
	writes, syncs Latency
}

func (c *counters) drop(cause index.Cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drops == nil {
		c.drops = map[index.Cause]uint64{}
	}
	c.drops[cause]++
}

// add counts one that took so long. Most fades, so that a bad minute of last month
// is not shown for ever.
func (c *counters) add(l *Latency, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.Count++
	l.Total += took
	l.Most = max(took, l.Most-l.Most/256)
}

func (c *counters) stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{Bytes: c.bytes.Load(), Fragments: c.fragments.Load(), OpenFiles: c.open.Load(), Writes: c.writes, Syncs: c.syncs, Drops: map[index.Cause]uint64{}}
	for cause, n := range c.drops {
		s.Drops[cause] = n
	}
	return s
}
