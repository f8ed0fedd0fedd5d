package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/drover-video/drover/ai/events"
	"github.com/drover-video/drover/ai/rules"
	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/ring"
)

const (
	// What may wait for the disk.
	maxPendingReports = 20_000
	maxPendingBytes   = 32 << 20

	// forgetFeed is when a camera of which nothing comes is let go of.
	forgetFeed = 10 * time.Minute
)

type sourceKey struct{ camera, source string }

// Desk is where reports come in. Its methods may be called by all.
type Desk struct {
	options Options
	wake    chan struct{} // an event began: Run does not wait for its tick

	changes sync.Mutex // held while rules change in the store and in memory; before mu

	mu      sync.Mutex
	closed  bool
	rings   map[sourceKey]*ring.Ring
	feeds   map[string]*feed
	meters  meters
	engine  *rules.Engine
	rules   map[string][]detection.Rule // by camera; the slices are never written to
	events  map[int64]*tracked
	pending []detection.Report
	bytes   int      // of pending
	gone    []int64  // events that were absorbed, and are in the store still
	left    []string // cameras that were removed, whose rules are in the store still
	taken   uint64
	boxes   uint64
	refused map[detection.Reason]uint64
}

// New returns a desk with the rules that the store has. Events that were open when
// Drover ended are ended.
func New(ctx context.Context, o Options) (*Desk, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	all, err := o.Store.Rules(ctx)
	if err != nil {
		return nil, err
	}
	last, err := o.Store.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	d := &Desk{
		options: o, wake: make(chan struct{}, 1),
		rings: map[sourceKey]*ring.Ring{}, feeds: map[string]*feed{}, events: map[int64]*tracked{},
		meters: meters{limits: o.Limits, each: map[meterKey]*meter{}},
		engine: rules.New(last + 1), rules: map[string][]detection.Rule{}, refused: map[detection.Reason]uint64{},
	}
	for _, r := range all {
		d.rules[r.Camera] = append(d.rules[r.Camera], r)
	}
	for camera, rules := range d.rules {
		d.engine.SetRules(camera, rules)
	}
	return d, d.endUnfinished(ctx)
}

func (d *Desk) endUnfinished(ctx context.Context) error {
	open, err := d.options.Store.Unfinished(ctx)
	if err != nil || len(open) == 0 {
		return err
	}
	for i := range open {
		open[i].Open = false
	}
	return d.options.Store.Write(ctx, &events.Batch{Events: open})
}

// Attach implements camera.Output: the time of frames is looked up in their ring.
func (d *Desk) Attach(camera, source string, frames *ring.Ring) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := sourceKey{camera, source}
	if d.rings[key] != nil {
		return fmt.Errorf("detections of camera %s, source %s: attached already", camera, source)
	}
	d.rings[key] = frames
	return nil
}

// Detach implements camera.Output.
func (d *Desk) Detach(camera, source string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.rings, sourceKey{camera, source})
}

// Report takes what a worker saw. The error is a *detection.Error.
func (d *Desk) Report(r detection.Report) error {
	err := d.report(r)
	var refused *detection.Error
	if errors.As(err, &refused) {
		d.mu.Lock()
		d.refused[refused.Reason]++
		d.mu.Unlock()
	}
	return err
}

func (d *Desk) report(r detection.Report) error {
	sources, ok := d.options.Sources(r.Camera)
	if !ok {
		return &detection.Error{Reason: detection.ReasonCamera, Field: "camera", Text: "there is no such camera"}
	}
	if err := r.Normalize(); err != nil {
		return err
	}
	now := d.options.Now()
	bytes := sizeOf(&r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if wait := d.meters.take(meterKey{r.Camera, r.Worker}, bytes, now); wait > 0 {
		return &detection.Error{Reason: detection.ReasonRate, Text: "this is more than a worker may report: slow down", Retry: wait}
	}
	if err := d.find(&r, sources, now); err != nil {
		return err
	}
	if d.closed || len(d.pending) >= maxPendingReports || d.bytes+bytes > maxPendingBytes {
		return &detection.Error{Reason: detection.ReasonStorage, Text: "the disk does not take what was reported before: try again in a moment", Retry: 5 * time.Second}
	}
	d.pending = append(d.pending, r)
	d.bytes += bytes
	d.taken++
	d.boxes += uint64(len(r.Detections))
	d.feed(r.Camera, now).add(r, bytes, now)
	d.apply(d.engine.Add(&r))
	return nil
}

// find says when a report's frame was, and of which source. The caller holds mu.
func (d *Desk) find(r *detection.Report, sources []string, now time.Time) error {
	if r.Source == "" && len(sources) > 0 {
		r.Source = sources[0]
	}
	if !slices.Contains(sources, r.Source) {
		return &detection.Error{Reason: detection.ReasonFrame, Field: "source", Text: "the camera has no source of this name"}
	}
	if r.HasFrame {
		if frames := d.rings[sourceKey{r.Camera, r.Source}]; frames != nil {
			if at, ok := frames.Wall(r.Epoch, r.Sequence); ok {
				r.Time = at
			}
		}
	}
	switch {
	case r.Time.IsZero() && r.HasFrame:
		return &detection.Error{Reason: detection.ReasonFrame, Field: "sequence", Text: "the frame is not known any more: give its time, too"}
	case r.Time.IsZero():
		return &detection.Error{Reason: detection.ReasonFrame, Field: "time", Text: "of which frame this is, is not said: give its epoch and sequence, or its time, or both"}
	case r.Time.After(now.Add(detection.MaxAhead)):
		return &detection.Error{Reason: detection.ReasonFuture, Field: "time", Text: fmt.Sprintf("is more than %s ahead of the server's clock", detection.MaxAhead)}
	case r.Time.Before(now.Add(-detection.MaxAge)):
		return &detection.Error{Reason: detection.ReasonOld, Field: "time", Text: fmt.Sprintf("is more than %s ago", detection.MaxAge)}
	}
	r.Time = r.Time.Round(0).UTC().Truncate(time.Microsecond) // as the store has it
	return nil
}

// sizeOf is about how much memory a report takes.
func sizeOf(r *detection.Report) int {
	n := 200 + len(r.JSON)
	for i := range r.Detections {
		one := &r.Detections[i]
		n += 160 + len(one.Label) + len(one.JSON)
		for name, value := range one.Attributes {
			n += 64 + len(name) + len(value)
		}
	}
	return n
}

// feed returns a camera's feed. The caller holds mu.
func (d *Desk) feed(camera string, now time.Time) *feed {
	f := d.feeds[camera]
	if f == nil {
		f = newFeed(now)
		d.feeds[camera] = f
	}
	return f
}

// After returns up to limit of a camera's reports that came after the one of a number.
func (d *Desk) After(camera string, number uint64, limit int) detection.Batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.feed(camera, d.options.Now()).after(number, limit)
}

// Newest returns the number of a camera's newest report.
func (d *Desk) Newest(camera string) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.feed(camera, d.options.Now()).last
}

// Recent returns what is remembered of the reports of a time of a camera, by time.
func (d *Desk) Recent(camera string, from, to time.Time) []detection.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.feeds[camera]; f != nil {
		return f.between(from, to)
	}
	return nil
}

// SeesSince reports whether something was seen by a camera of late.
func (d *Desk) SeesSince(camera string, since time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.feeds[camera]
	return f != nil && f.seen.After(since)
}

// Detections answers a query of what is kept.
func (d *Desk) Detections(ctx context.Context, q detection.Query) ([]detection.Seen, detection.Cursor, error) {
	return d.options.Store.Detections(ctx, q)
}

// Events answers a query of what is kept.
func (d *Desk) Events(ctx context.Context, q detection.EventQuery) ([]detection.Event, detection.Cursor, error) {
	return d.options.Store.Events(ctx, q)
}

// Removed forgets a camera and its rules, and wakes who listens. What it saw is kept as
// long as its recordings may be.
func (d *Desk) Removed(camera string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.feeds[camera]; f != nil {
		close(f.changed)
		delete(d.feeds, camera)
	}
	if len(d.rules[camera]) > 0 {
		d.setRules(camera, nil)
		d.left = append(d.left, camera)
	}
}

// forget lets go of cameras of which nothing has come for long. Who listens is woken,
// and finds a new feed. The caller holds mu.
func (d *Desk) forget(now time.Time) {
	for camera, f := range d.feeds {
		f.trim(now)
		if now.Sub(f.latest) > forgetFeed {
			close(f.changed)
			delete(d.feeds, camera)
		}
	}
	d.meters.sweep(now)
}

// Stats is what was reported since the start.
type Stats struct {
	Reports    uint64
	Detections uint64
	Refused    map[detection.Reason]uint64
	Dropped    uint64 // matches of rules that were too many to be followed
	Pending    int    // reports that wait for the disk
	Open       int    // events
	Kept       int64  // detections in the store, about
	KeptEvents int64
}

// Stats returns what was reported since the start.
func (d *Desk) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Stats{Reports: d.taken, Detections: d.boxes, Refused: map[detection.Reason]uint64{}, Dropped: d.engine.Dropped(), Pending: len(d.pending)}
	for _, reason := range detection.Reasons() {
		s.Refused[reason] = d.refused[reason]
	}
	for _, t := range d.events {
		if t.Open {
			s.Open++
		}
	}
	s.Kept, s.KeptEvents = d.options.Store.Rows()
	return s
}
