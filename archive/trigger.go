package archive

import (
	"context"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/footage"
)

const (
	maxEvent  = 24 * time.Hour
	oldest    = time.Hour
	maxReason = 200
	maxUnkept = 1000 // events that wait to be written down, while the index hangs
)

// A happening is one or several events of a camera whose times touch.
type happening struct {
	from, to time.Time // pre-roll and post-roll included
	reason   string
	bookmark int64 // of the index; 0: not written down yet
	changed  bool  // since it was written down
}

// Trigger tells that something happens at a camera, from a time to another, which may
// be told again while it goes on. What is recorded of it, before and after it as the
// camera's spec says, is kept; in mode event it is recorded because of it.
func (r *Recorder) Trigger(id string, at, until time.Time, reason string) error {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	switch {
	case p == nil, p.record.Mode == camera.RecordOff:
		return footage.ErrNotRecorded
	case until.Before(at), until.Sub(at) > maxEvent, now.Sub(at) > oldest, at.Sub(now) > time.Minute:
		return footage.ErrBadEvent
	}
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	from, to := at.Add(-p.record.PreRoll), until.Add(p.record.PostRoll)
	h := r.happenings[id]
	if n := len(h); n > 0 && !from.After(h[n-1].to) && !to.Before(h[n-1].from) {
		last := h[n-1]
		if to.After(last.to) {
			last.to, last.changed = to, true
		}
	} else if n < maxUnkept {
		r.happenings[id] = append(h, &happening{from: from, to: to, reason: reason, changed: true})
	}
	for key, s := range r.sources {
		if key.camera == id {
			s.decide(p, now, r.until(id))
		}
	}
	return nil
}

// until returns when the newest event of a camera is over. The caller holds mu.
func (r *Recorder) until(id string) time.Time {
	until := r.awake[id]
	for _, h := range r.happenings[id] {
		if h.to.After(until) {
			until = h.to
		}
	}
	return until
}

// keepHappenings writes events down as bookmarks that keep what they span, and forgets
// those that are over.
func (r *Recorder) keepHappenings(ctx context.Context) {
	now := r.now()
	type change struct {
		camera string
		happening
		of *happening
	}
	var changes []change
	r.mu.Lock()
	for id, all := range r.happenings {
		kept := all[:0]
		for _, h := range all {
			if h.changed {
				changes = append(changes, change{id, *h, h})
			}
			if h.changed || now.Before(h.to) {
				kept = append(kept, h)
			}
		}
		if clear(all[len(kept):]); len(kept) == 0 {
			delete(r.happenings, id)
		} else {
			r.happenings[id] = kept
		}
	}
	r.mu.Unlock()
	for _, c := range changes {
		var err error
		if c.bookmark == 0 {
			c.bookmark, err = r.index.AddBookmark(ctx, index.Bookmark{Camera: c.camera, From: c.from, To: c.to, Kind: "event", Name: c.reason, Keep: true, Created: now})
		} else {
			_, err = r.index.ExtendBookmark(ctx, c.bookmark, c.to)
		}
		if err != nil {
			r.options.Log.Warn("an event could not be written down and is kept in memory", "camera", c.camera, "err", err)
			return
		}
		r.mu.Lock()
		c.of.bookmark = c.bookmark
		c.of.changed = c.of.to.After(c.to) // it went on meanwhile
		r.mu.Unlock()
	}
}
