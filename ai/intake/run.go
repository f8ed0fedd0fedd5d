package intake

import (
	"context"
	"sync"
	"time"

	"github.com/drover-video/drover/core/detection"
)

const (
	// tick is how often events are looked at, and what was reported is written.
	tick = 500 * time.Millisecond

	// forgetEvery is how often cameras are looked for of which nothing comes.
	forgetEvery = time.Minute

	// ahead is how much longer than it has lasted an event that goes on is said to
	// last, so that recording does not end between two reports of it.
	ahead = 3 * time.Second

	// patience is what the last writes get when Drover stops.
	patience = 5 * time.Second
)

// Run writes what was reported, ends events, and tells the archive of them, until ctx
// ends. What was taken before is written then. The disk has a goroutine of its own: one
// that hangs keeps no event from being recorded.
func (d *Desk) Run(ctx context.Context) error {
	d.forgetUnknown()
	// Not of ctx: what is being written when that ends is written still.
	disk, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	w := &writer{desk: d, pruned: d.options.Now()}
	turns := make(chan struct{}, 1)
	var work sync.WaitGroup
	work.Go(func() {
		for range turns {
			w.round(disk)
		}
		w.finish(disk)
	})

	r := &recorder{desk: d, forgot: d.options.Now()}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-d.wake:
		case <-ticker.C:
		}
		r.turn()
		select {
		case turns <- struct{}{}:
		default: // it has not come to the turn before
		}
	}
	r.finish()
	close(turns)
	defer time.AfterFunc(patience, giveUp).Stop()
	work.Wait()
	return nil
}

// A recorder is what Run remembers of its turns, none of which waits for the disk.
type recorder struct {
	desk   *Desk
	forgot time.Time

	refused bool // the archive did not take the last event, which was said
}

// turn ends events, and tells the archive.
func (r *recorder) turn() {
	d := r.desk
	now := d.options.Now()
	d.mu.Lock()
	d.apply(d.engine.Tick(now))
	if now.Sub(r.forgot) >= forgetEvery || now.Before(r.forgot) {
		r.forgot = now
		d.forget(now)
	}
	d.mu.Unlock()
	r.tell()
}

// finish ends all events. No report is taken any more.
func (r *recorder) finish() {
	d := r.desk
	d.mu.Lock()
	d.closed = true
	d.apply(d.engine.End())
	d.mu.Unlock()
	r.tell()
}

// tell has events recorded.
func (r *recorder) tell() {
	archive := r.desk.options.Archive
	if archive == nil {
		return
	}
	for _, e := range r.desk.due() {
		until := e.End
		if e.Open {
			until = until.Add(ahead) // it is not over before the archive hears of it again
		}
		err := archive.Record(e, until)
		if err != nil && !r.refused {
			r.desk.options.Log.Warn("an event is not recorded", "camera", e.Camera, "rule", e.Rule, "err", err)
		}
		r.refused = err != nil
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
