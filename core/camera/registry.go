package camera

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// Store keeps the cameras made by the API. Nothing is acknowledged before it is
// on disk.
type Store interface {
	Cameras(ctx context.Context) ([]Spec, error)
	AddCamera(ctx context.Context, spec Spec) error
	UpdateCamera(ctx context.Context, spec Spec) error
	RemoveCamera(ctx context.Context, id string) error
}

// An Output makes something of every source's frames, and lives as long as the
// source, over all its connections.
type Output interface {
	Attach(camera, source string, frames *ring.Ring) error
	// Detach returns when nothing of the source is used any more.
	Detach(camera, source string)
}

// Options of a registry. Open, Store and Pool are needed.
type Options struct {
	Open    OpenSource
	Store   Store
	Pool    *media.Pool
	Outputs []Output
	Ring    ring.Limits
	Dials   *DialLimit
	Logger  *slog.Logger

	BackoffMin, BackoffMax time.Duration
	StallTimeout           time.Duration
	ConnectTimeout         time.Duration // for the whole conversation up to PLAY
	IdleAfter              time.Duration // how long an on-demand camera is pulled after the last request

	// StateChanged is told of each source's changes. It must not block.
	StateChanged func(Change)

	// SpecChanged is told of each camera there is, from the beginning or from now on,
	// and of each change of one, before its sources are attached to outputs by it.
	// Removed is told of those that are gone. They must not block.
	SpecChanged func(Spec)
	Removed     func(id string)

	Now    func() time.Time
	Random func() float64 // in [0, 1)
}

// DefaultConnectTimeout bounds the conversation up to PLAY, all transports tried.
const DefaultConnectTimeout = 45 * time.Second

func (o *Options) fill() {
	if o.Dials == nil {
		o.Dials = NewDialLimit(0)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.BackoffMin = cmp.Or(o.BackoffMin, DefaultBackoffMin)
	o.BackoffMax = cmp.Or(o.BackoffMax, DefaultBackoffMax)
	o.StallTimeout = cmp.Or(o.StallTimeout, DefaultStallTimeout)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, DefaultConnectTimeout)
	o.IdleAfter = cmp.Or(o.IdleAfter, DefaultIdleAfter)
	if o.StateChanged == nil {
		o.StateChanged = func(Change) {}
	}
	if o.SpecChanged == nil {
		o.SpecChanged = func(Spec) {}
	}
	if o.Removed == nil {
		o.Removed = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
}

// Registry holds all cameras and keeps the enabled ones pulled.
type Registry struct {
	options Options

	// changes makes one change of the set of cameras at a time, store included.
	changes sync.Mutex
	ctx     context.Context // of Run; nil before. Owned by the holder of changes.

	// Cameras that were removed and are still saying goodbye, which a sick one
	// takes its time for. Owned by the holder of changes.
	leaving map[string]chan struct{}

	mu      sync.RWMutex // of the map, never held for long
	cameras map[string]*entry
}

// entry is a camera and those who pull it.
type entry struct {
	spec    Spec
	since   time.Time // of the spec's being switched on or off
	pullers []*running
}

// running is a puller at work.
type running struct {
	*puller
	stop context.CancelFunc
	done chan struct{}
}

// NewRegistry returns a registry of the cameras of the file and of the store. A
// camera of the file hides one of the store with the same id.
func NewRegistry(ctx context.Context, options Options, file []Spec) (*Registry, error) {
	if options.Open == nil || options.Store == nil || options.Pool == nil {
		return nil, errors.New("registry: Open, Store and Pool are needed")
	}
	options.fill()
	r := &Registry{options: options, cameras: map[string]*entry{}, leaving: map[string]chan struct{}{}}
	stored, err := options.Store.Cameras(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the cameras: %w", err)
	}
	for _, spec := range stored {
		spec.Origin = OriginAPI
		r.cameras[spec.ID] = &entry{spec: spec, since: options.Now()}
	}
	for _, spec := range file {
		if _, hidden := r.cameras[spec.ID]; hidden {
			options.Logger.Warn("camera of the file hides one made by the API", "camera", spec.ID)
		}
		spec.Origin = OriginFile
		r.cameras[spec.ID] = &entry{spec: spec, since: options.Now()}
	}
	return r, nil
}

// Run pulls all enabled cameras until ctx ends, and returns when all have
// stopped.
func (r *Registry) Run(ctx context.Context) error {
	r.changes.Lock()
	if r.ctx != nil {
		r.changes.Unlock()
		return errors.New("registry: run twice")
	}
	r.ctx = ctx
	for _, e := range r.entries() {
		r.options.SpecChanged(e.spec.clone())
		r.start(e)
	}
	r.changes.Unlock()
	<-ctx.Done()
	r.changes.Lock()
	defer r.changes.Unlock()
	entries := r.entries()
	for _, e := range entries { // all at once: each says goodbye to its camera
		for _, p := range e.pullers {
			p.stop()
		}
	}
	for _, e := range entries {
		r.stop(e, Spec{})
	}
	for len(r.leaving) > 0 {
		for _, gone := range r.leaving {
			r.await(gone)
			break
		}
	}
	return nil
}

// entries returns all cameras, in the order of their ids. The caller holds
// changes, so that specs stay as they are.
func (r *Registry) entries() []*entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	entries := make([]*entry, 0, len(r.cameras))
	for _, e := range r.cameras {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.spec.ID, b.spec.ID) })
	return entries
}

// start pulls those sources of an enabled camera that are not pulled yet. The
// caller holds changes.
func (r *Registry) start(e *entry) {
	if !e.spec.Enabled || r.ctx == nil || r.ctx.Err() != nil {
		return
	}
	var pullers []*running
	for _, source := range e.spec.Sources {
		if i := slices.IndexFunc(e.pullers, func(p *running) bool { return p.is(e.spec, source) }); i >= 0 {
			pullers = append(pullers, e.pullers[i])
			continue
		}
		ctx, stop := context.WithCancel(r.ctx)
		p := &running{puller: newPuller(e.spec.ID, source, e.spec.OnDemand, &r.options), stop: stop, done: make(chan struct{})}
		go func() {
			defer close(p.done)
			p.Run(ctx)
		}()
		pullers = append(pullers, p)
	}
	r.mu.Lock()
	e.pullers = pullers
	r.mu.Unlock()
}

// is reports whether this is how a source of the spec is to be pulled.
func (p *running) is(spec Spec, source SourceSpec) bool {
	return spec.Enabled && p.onDemand == spec.OnDemand && p.spec == source
}

// stop ends the pulling of those sources that spec does not have, and returns
// when they have ended. The caller holds changes.
func (r *Registry) stop(e *entry, spec Spec) {
	var left, gone []*running
	for _, p := range e.pullers {
		if slices.ContainsFunc(spec.Sources, func(s SourceSpec) bool { return p.is(spec, s) }) {
			left = append(left, p)
		} else {
			p.stop()
			gone = append(gone, p)
		}
	}
	for _, p := range gone {
		<-p.done
		p.ring.Close()
	}
	r.mu.Lock()
	e.pullers = left
	r.mu.Unlock()
}

// find returns a camera that the API may change. The caller holds changes.
func (r *Registry) find(id string) (*entry, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.cameras[id]
	switch {
	case !ok:
		return nil, ErrNotFound
	case e.spec.Origin == OriginFile:
		return nil, ErrReadOnly
	}
	return e, nil
}

// Add adds a camera and begins to pull it. The error is a *FieldError, ErrExists,
// or the store's.
func (r *Registry) Add(ctx context.Context, spec Spec) error {
	spec.Origin = OriginAPI
	if err := spec.Normalize(); err != nil {
		return err
	}
	r.changes.Lock()
	defer r.changes.Unlock()
	for r.leaving[spec.ID] != nil {
		r.await(r.leaving[spec.ID])
	}
	if _, exists := r.Get(spec.ID); exists {
		return ErrExists
	}
	if err := r.options.Store.AddCamera(ctx, spec); err != nil {
		return err
	}
	e := &entry{spec: spec, since: r.options.Now()}
	r.mu.Lock()
	r.cameras[spec.ID] = e
	r.mu.Unlock()
	r.options.SpecChanged(spec.clone())
	r.start(e)
	return nil
}

// Update changes a camera. Sources that stay as they are are not disturbed. The
// error is change's, a *FieldError, ErrNotFound, ErrReadOnly, or the store's.
func (r *Registry) Update(ctx context.Context, id string, change func(*Spec) error) (View, error) {
	r.changes.Lock()
	defer r.changes.Unlock()
	e, err := r.find(id)
	if err != nil {
		return View{}, err
	}
	spec := e.spec.clone()
	if err := change(&spec); err != nil {
		return View{}, err
	}
	spec.ID, spec.Origin = id, OriginAPI
	if err := spec.Normalize(); err != nil {
		return View{}, err
	}
	if err := r.options.Store.UpdateCamera(ctx, spec); err != nil {
		return View{}, err
	}
	r.options.SpecChanged(spec.clone())
	r.stop(e, spec)
	r.mu.Lock()
	if spec.Enabled != e.spec.Enabled {
		e.since = r.options.Now()
	}
	e.spec = spec
	r.mu.Unlock()
	r.start(e)
	view, _ := r.Get(id)
	return view, nil
}

// Remove forgets a camera, and returns when nothing of it is left running. The
// error is ErrNotFound, ErrReadOnly, or the store's.
func (r *Registry) Remove(ctx context.Context, id string) error {
	r.changes.Lock()
	defer r.changes.Unlock()
	e, err := r.find(id)
	if err != nil {
		return err
	}
	if err := r.options.Store.RemoveCamera(ctx, id); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.cameras, id)
	r.mu.Unlock()
	// Nobody else has the entry now. Other cameras' changes do not wait for it.
	gone := make(chan struct{})
	r.leaving[id] = gone
	r.changes.Unlock()
	r.stop(e, Spec{})
	r.options.Removed(id)
	r.changes.Lock()
	delete(r.leaving, id)
	close(gone)
	return nil
}

// await waits for a camera that leaves. The caller holds changes, but not while
// it waits.
func (r *Registry) await(gone <-chan struct{}) {
	r.changes.Unlock()
	<-gone
	r.changes.Lock()
}

// Restart ends a camera's connections, or the wait for the next, and connects
// anew.
func (r *Registry) Restart(_ context.Context, id string) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.cameras[id]
	if !ok {
		return ErrNotFound
	}
	for _, p := range e.pullers {
		p.Restart()
	}
	return nil
}

// Get returns a camera as it is now.
func (r *Registry) Get(id string) (View, bool) {
	r.mu.RLock()
	e, ok := r.cameras[id]
	if !ok {
		r.mu.RUnlock()
		return View{}, false
	}
	spec, since, pullers := e.spec.clone(), e.since, e.pullers
	r.mu.RUnlock()
	return view(spec, since, pullers), true
}

// Known reports whether there is a camera of this id.
func (r *Registry) Known(id string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.cameras[id]
	return ok
}

// List returns all cameras as they are now, by id.
func (r *Registry) List() []View {
	r.mu.RLock()
	ids := slices.Sorted(maps.Keys(r.cameras))
	r.mu.RUnlock()
	views := make([]View, 0, len(ids))
	for _, id := range ids {
		if v, ok := r.Get(id); ok { // else it was removed meanwhile
			views = append(views, v)
		}
	}
	return views
}

// SourceCounters is what was counted of a source since it was made.
type SourceCounters struct {
	Name        string
	Frames      uint64 // written into the ring
	BytesIn     uint64
	LostPackets uint64
	// As in SourceStatus.
	ReorderedPackets, KernelDroppedPackets uint64

	Reconnects  uint64
	Discards    map[string]uint64 // by reason
	Ring        ring.Stats
	Subscribers []ring.SubscriberStats
}

// Counters returns what was counted of a camera's sources.
func (r *Registry) Counters(id string) []SourceCounters {
	r.mu.RLock()
	e, ok := r.cameras[id]
	var pullers []*running
	if ok {
		pullers = e.pullers
	}
	r.mu.RUnlock()
	var counters []SourceCounters
	for _, p := range pullers {
		counters = append(counters, p.counters())
	}
	return counters
}

// rank orders states by how much of a picture there is.
var rank = map[State]int{StateLive: 5, StateStalled: 4, StateConnecting: 3, StateBackoff: 2, StateIdle: 1}

// view puts a camera and its sources together: its state is that of its best
// source.
func view(spec Spec, since time.Time, pullers []*running) View {
	v := View{Spec: spec, Status: Status{State: StateConnecting, Since: since}}
	if !spec.Enabled {
		v.Status.State = StateDisabled
	}
	for i, p := range pullers {
		s := p.status()
		v.Status.Sources = append(v.Status.Sources, s)
		if i == 0 || rank[s.State] > rank[v.Status.State] {
			v.Status.State, v.Status.Since, v.Status.Error = s.State, s.Since, s.Error
		}
	}
	return v
}

func (s Spec) clone() Spec {
	s.Sources = slices.Clone(s.Sources)
	s.Labels = maps.Clone(s.Labels)
	s.Record.Sources = slices.Clone(s.Record.Sources)
	s.Record.Schedule.Spans = slices.Clone(s.Record.Schedule.Spans)
	return s
}
