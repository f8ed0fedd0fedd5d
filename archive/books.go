package archive

import (
	"context"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/event"
)

const (
	// booksInterval is how often the books are kept.
	booksInterval = time.Second

	// aliveInterval is how often it is written down that the recorder is at work.
	aliveInterval = 10 * time.Second
)

// keepBooks writes the ledgers down and decides what is recorded, until ctx ends.
func (r *Recorder) keepBooks(ctx context.Context) error {
	ticker := time.NewTicker(booksInterval)
	defer ticker.Stop()
	var alive time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		r.decideAll()
		r.writeDown(ctx)
		r.keepHappenings(ctx)
		r.keepRolling(ctx)
		if now := r.now(); now.Sub(alive) >= aliveInterval || now.Before(alive) {
			if err := r.index.Alive(ctx, now); err == nil {
				alive = now
			}
			r.wantAll(now)
		}
	}
}

// decideAll lets schedules and the ends of events have their effect.
func (r *Recorder) decideAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for key, s := range r.sources {
		p := r.policies[key.camera]
		until := r.until(key.camera)
		if s.isWanted() != p.wants(key.source, now, until) {
			s.decide(p, now, until)
		}
	}
	for key := range r.ledgers {
		if r.policies[key.camera] == nil {
			r.explainUnattached(key) // it was removed, maybe while Drover did not run
		}
	}
}

// wantAll keeps those cameras pulled that are pulled on demand and to be recorded.
func (r *Recorder) wantAll(now time.Time) {
	r.mu.Lock()
	var wanted []string
	for id, p := range r.policies {
		for _, name := range p.sources {
			if p.wants(name, now, r.until(id)) || p.record.Mode == camera.RecordEvent {
				wanted = append(wanted, id)
				break
			}
		}
	}
	r.mu.Unlock()
	for _, id := range wanted {
		r.options.Want(id)
	}
}

// writeDown writes what the ledgers have to tell into the index.
func (r *Recorder) writeDown(ctx context.Context) {
	now := r.now()
	r.mu.Lock()
	ledgers := make(map[sourceKey]*ledger, len(r.ledgers))
	for key, l := range r.ledgers {
		ledgers[key] = l
	}
	r.mu.Unlock()
	taken := map[*ledger][]entry{}
	var changes []index.GapChange
	var told []event.Event
	for key, l := range ledgers {
		entries := l.take(now)
		if len(entries) == 0 {
			continue
		}
		stream, err := r.index.Stream(ctx, key.camera, key.source)
		if err != nil {
			r.options.Log.Warn("gaps could not be written down and are kept in memory", "camera", key.camera, "source", key.source, "err", err)
			l.again(entries)
			continue
		}
		taken[l] = entries
		for _, e := range entries {
			e.gap.Stream = stream.ID
			changes = append(changes, index.GapChange{Gap: e.gap, End: e.close, Back: e.back})
			if c := e.gap.Cause; e.isGap() && e.gap.To.IsZero() && c != index.CauseRequest && c != index.CauseCameraOff {
				told = append(told, event.Event{Kind: event.KindArchiveGap, Camera: key.camera, Source: key.source, Reason: "not recorded: " + string(c) + ": " + e.gap.Detail})
			}
		}
	}
	if len(changes) == 0 {
		return
	}
	if err := r.index.ChangeGaps(ctx, changes...); err != nil {
		r.options.Log.Warn("gaps could not be written down and are kept in memory", "err", err)
		for l, entries := range taken {
			l.again(entries)
		}
		return
	}
	for _, e := range told {
		r.options.Event(e)
	}
}

// diskEvent is what people are told of the disk.
func diskEvent(h disk.Health) event.Event {
	e := event.Event{Time: h.Since, Kind: event.KindArchiveDisk, Reason: string(h.Cause) + ": " + h.Detail}
	if h.Cause == "" {
		e.Kind, e.Reason = event.KindArchiveDiskWell, "the disk takes recordings again"
	}
	return e
}
