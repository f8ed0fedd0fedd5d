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

	// remark is how often the bookmark and the recording of an event that goes on
	// are moved on.
	remark = 5 * time.Second

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
	marking bool // the archive did not take a bookmark, which was said
}

func (w *writer) round(ctx context.Context) {
	d := w.desk
	now := d.options.Now()
	d.mu.Lock()
	d.apply(d.engine.Tick(now))
	d.mu.Unlock()
	w.forgetRules(ctx)
	w.forgetRules(ctx)
	w.tellArchive(ctx, now)
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

// tellArchive has events recorded and bookmarked.
func (w *writer) tellArchive(ctx context.Context, now time.Time) {
	d := w.desk
	archive := d.options.Archive
	if archive == nil {
		return
	}
	for _, e := range d.due(now) {
		if e.Record && e.Open {
			archive.Record(e)
		}
		id, err := archive.Bookmark(ctx, e)
		w.marked(err, e)
		d.mu.Lock()
		if t := d.events[e.ID]; t != nil && err == nil {
			t.dirty = t.dirty || t.Bookmark != id
			t.Bookmark = id
		} else if t == nil && err == nil { // it was absorbed meanwhile
			for i := range d.gone {
				if d.gone[i].ID == e.ID {
					d.gone[i].Bookmark = id
				}
			}
		}
		d.mu.Unlock()
	}
}

// marked logs when bookmarks begin to fail, and when they go well again.
func (w *writer) marked(err error, e detection.Event) {
	switch {
	case err != nil && !w.marking:
		w.desk.options.Log.Error("an event has no bookmark", "camera", e.Camera, "rule", e.Rule, "err", err)
	case err == nil && w.marking:
		w.desk.options.Log.Info("events have bookmarks again")
	}
	w.marking = err != nil
}

// due returns the events that the archive has to hear of.
func (d *Desk) due(now time.Time) []detection.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	var due []detection.Event
	for _, t := range d.events {
		if t.until.IsZero() && (t.marked.IsZero() || now.Sub(t.marked) >= remark || !t.Open) {
			t.marked = now
			due = append(due, t.Event)
			if !t.Open {
				t.until = now.Add(keepEnded)
			}
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
	gone := w.batch.Gone
	w.batch = events.Batch{}
	d.mu.Lock()
	var unmark []detection.Event
	for i := len(d.gone) - 1; i >= 0; i-- {
		for _, id := range gone {
			if d.gone[i].ID == id {
				unmark = append(unmark, d.gone[i])
				d.gone = append(d.gone[:i], d.gone[i+1:]...)
				break
			}
		}
	}
	d.mu.Unlock()
	for _, e := range unmark {
		if e.Bookmark != 0 && d.options.Archive != nil {
			w.marked(d.options.Archive.Unmark(ctx, e), e)
		}
	}
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
	for _, e := range d.gone {
		b.Gone = append(b.Gone, e.ID)
	}
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
	w.tellArchive(ctx, now)
	for w.write(ctx, now) {
	}
	if n := len(d.pending) + len(w.batch.Reports); n > 0 {
		d.options.Log.Error("detections are lost: the disk did not take them", "reports", n)
	}
}
