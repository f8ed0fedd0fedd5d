package intake

import (
	"context"
	"time"

	"github.com/drover-video/drover/ai/events"
)

const (
	// batchReports bounds one transaction.
	batchReports = 2000

	// pruneEvery is how often what is too old or too much is looked for, and pruneRows
	// after how many rows at the latest.
	pruneEvery = time.Minute
	pruneRows  = 100_000
)

// A writer puts what waits on disk. It belongs to one goroutine.
type writer struct {
	desk    *Desk
	batch   events.Batch // that could not be written
	failing bool

	pruned   time.Time // when deletion last began
	pruning  bool      // it has not come to its end
	unpruned int64     // rows written since it began
	owed     int64     // rows to be deleted before more are written, if there are so many
}

// round writes what waits and deletes what is not to be kept, by turns, until there is
// neither.
func (w *writer) round(ctx context.Context) {
	for more := true; more; {
		w.forgetRules(ctx)
		more = w.write(ctx)
		more = w.prune(ctx) || more
	}
}

// finish writes what waits at the end.
func (w *writer) finish(ctx context.Context) {
	w.round(ctx)
	d := w.desk
	d.mu.Lock()
	n := len(d.pending) + len(w.batch.Reports)
	d.mu.Unlock()
	if n > 0 {
		d.options.Log.Error("detections are lost: the disk did not take them", "reports", n)
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

// write writes some of what waits, and reports whether there is more of it.
func (w *writer) write(ctx context.Context) (more bool) {
	d := w.desk
	more = true // behind a batch that could not be written before
	if w.batch.Empty() {
		more = d.gather(&w.batch)
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
	rows := rowsOf(&w.batch)
	w.unpruned += rows
	w.owed += 2 * rows
	w.batch = events.Batch{}
	return more
}

// rowsOf is about how many rows a batch becomes.
func rowsOf(b *events.Batch) int64 {
	rows := len(b.Events)
	for i := range b.Reports {
		if n := len(b.Reports[i].Detections); n > 0 {
			rows += 1 + n // its frame, too
		}
	}
	return int64(rows)
}

// gather takes what waits to be written, and reports whether there is more of it.
func (d *Desk) gather(b *events.Batch) (more bool) {
	now := d.options.Now()
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

// prune deletes some of what is too old or too much where it is time to, and reports
// whether there is more of that. Twice what was written goes before more is written: so
// it comes to an end, however much is reported meanwhile. When Drover stops, it waits.
func (w *writer) prune(ctx context.Context) (more bool) {
	d := w.desk
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	now := d.options.Now()
	if !w.pruning && (now.Sub(w.pruned) >= pruneEvery || now.Before(w.pruned) || w.unpruned >= pruneRows) {
		w.pruning, w.pruned, w.unpruned, w.owed = true, now, 0, 0
	}
	for w.pruning && !closed {
		rows, err := d.options.Store.Prune(ctx, w.pruned)
		if err != nil && ctx.Err() == nil {
			d.options.Log.Warn("old detections could not be deleted", "err", err)
		}
		w.owed -= rows
		w.pruning = rows > 0
		if w.owed <= 0 {
			w.owed = 0
			break
		}
	}
	return w.pruning && !closed
}
