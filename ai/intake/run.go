package intake

import (
	"context"
	"time"

	"github.com/drover-video/drover/ai/events"
	"github.com/drover-video/drover/core/detection"
)

const (
	// tick is how often what was reported is written.
	tick = 500 * time.Millisecond

	// batchReports bounds one transaction.
	batchReports = 2000

	// pruneEvery is how often what is too old is looked for.
	pruneEvery = time.Minute

	// ahead is how much longer than it has lasted an event that goes on is said to
	// last, so that recording does not end between two reports of it.
	ahead = 3 * time.Second

	// patience is what the last write gets when Drover stops.
	patience = 5 * time.Second
)

// Run writes what was reported, ends events, and tells the archive of them, until ctx
// ends. What was taken before is written then.
func (d *Desk) Run(ctx context.Context) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	w := &writer{desk: d, pruned: d.options.Now()}
	d.forgetUnknown()
	for {
		select {
		case <-ctx.Done():
			w.finish(ctx)
			return nil
		case <-d.wake:
		case <-ticker.C:
		}
		w.round(ctx)
	}
}

// A writer is what Run remembers from round to round.
type writer struct {
	desk    *Desk
	batch   events.Batch // that could not be written
	failing bool
	pruned  time.Time

	unrecorded bool // the archive did not take the last event, which was said
}

func (w *writer) round(ctx context.Context) {
	d := w.desk
	now := d.options.Now()
	d.mu.Lock()
	d.apply(d.engine.Tick(now))
	d.mu.Unlock()
	w.forgetRules(ctx)
	w.forgetRules(ctx)
	w.tellArchive()
	for w.write(ctx, now) {
	}
	if now.Sub(w.pruned) >= pruneEvery || now.Before(w.pruned) {
		w.prune(ctx, now)
	}
}

// forgetRules forgets the rules of cameras that were removed.
func (w *writer) forgetRules(ctx context.Context) {
	w.desk.changes.Lock()
	defer w.desk.changes.Unlock()
	if err := w.desk.forgetLeft(ctx); err != nil && ctx.Err() == nil {
		w.desk.options.Log.Warn("the rules of a removed camera are still kept", "err", err)
	}
}

// tellArchive has events recorded.
func (w *writer) tellArchive() {
	archive := w.desk.options.Archive
	if archive == nil {
		return
	}
	for _, e := range w.desk.due() {
		until := e.End
		if e.Open {
			until = until.Add(ahead) // it is not over before the archive hears of it again
		}
		err := archive.Record(e, until)
		if err != nil && !w.unrecorded {
			w.desk.options.Log.Warn("an event is not recorded", "camera", e.Camera, "rule", e.Rule, "err", err)
		}
		w.unrecorded = err != nil
	}
}

// due returns the events that the archive has to hear of, for they begin, go on, or
// have ended.
func (d *Desk) due() []detection.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	var due []detection.Event
	for _, t := range d.events {
		if t.Record && (t.recorded.IsZero() || t.End.Sub(t.recorded) >= ahead/2) {
			t.recorded = t.End
			due = append(due, t.Event)
		}
	}
	return due
}

// write writes some of what waits, and reports whether there is more of it.
func (w *writer) write(ctx context.Context, now time.Time) (more bool) {
	d := w.desk
	if w.batch.Empty() {
		more = d.gather(&w.batch, now)
	}
	if w.batch.Empty() {
		return false
	}
	if err := d.options.Store.Write(ctx, &w.batch); err != nil {
		if ctx.Err() == nil && !w.failing {
			d.options.Log.Error("detections are not kept: what is reported waits in memory", "err", err)
		}
		w.failing = true
		return false
	}
	if w.failing {
		d.options.Log.Info("detections are kept again")
		w.failing = false
	}
	w.batch = events.Batch{}
	return more
}

// gather takes what waits to be written, and reports whether there is more of it.
func (d *Desk) gather(b *events.Batch, now time.Time) (more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.pending), batchReports)
	b.Reports = append(b.Reports, d.pending[:n]...)
	for i := range b.Reports {
		d.bytes -= sizeOf(&b.Reports[i])
	}
	clear(d.pending[:n])
	if d.pending = d.pending[n:]; len(d.pending) == 0 {
		d.pending, d.bytes = nil, 0
	}
	b.Gone, d.gone = append(b.Gone, d.gone...), nil
	for id, t := range d.events {
		if t.dirty {
			t.dirty = false
			b.Events = append(b.Events, t.Event)
		}
		if !t.Open && (!t.until.IsZero() && now.After(t.until) || len(d.events) > maxTracked) {
			delete(d.events, id)
		}
	}
	return len(d.pending) > 0
}

func (w *writer) prune(ctx context.Context, now time.Time) {
	w.pruned = now
	d := w.desk
	d.mu.Lock()
	d.forget(now)
	d.mu.Unlock()
	// Some at a time, and at most for a while: reports wait meanwhile.
	for range 50 {
		more, err := d.options.Store.Prune(ctx, now)
		if err != nil {
			if ctx.Err() == nil {
				d.options.Log.Warn("old detections could not be deleted", "err", err)
			}
			return
		}
		if !more {
			return
		}
	}
}

// finish ends all events and writes what waits.
func (w *writer) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	d := w.desk
	now := d.options.Now()
	d.mu.Lock()
	d.closed = true
	d.apply(d.engine.End())
	d.mu.Unlock()
	w.forgetRules(ctx)
	w.tellArchive()
	for w.write(ctx, now) {
	}
	if n := len(d.pending) + len(w.batch.Reports); n > 0 {
		d.options.Log.Error("detections are lost: the disk did not take them", "reports", n)
	}
}
