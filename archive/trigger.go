package archive

import (
	"context"
	"slices"
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
	return r.happens(id, at, until, reason, false)
}

// GoesOn tells what Trigger does, of something that Drover itself follows: it may have
// begun long ago.
func (r *Recorder) GoesOn(id string, at, until time.Time, reason string) error {
	return r.happens(id, at, until, reason, true)
}

func (r *Recorder) happens(id string, at, until time.Time, reason string, followed bool) error {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.record.Mode == camera.RecordOff {
		return footage.ErrNotRecorded
	}
	from, to := at.Add(-p.record.PreRoll), until.Add(p.record.PostRoll)
	h := touched(r.happenings[id], from, to)
	if earliest := now.Add(-oldest); at.Before(earliest) && (followed || h != nil) {
		// What it began with was told when it did, and is kept since.
		at, from = earliest, earliest.Add(-p.record.PreRoll)
	}
	if until.Before(at) || until.Sub(at) > maxEvent || now.Sub(at) > oldest || at.Sub(now) > time.Minute {
		return footage.ErrBadEvent
	}
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	switch {
	case h != nil:
		h.extend(from, to)
	case len(r.happenings[id]) < maxUnkept:
		r.happenings[id] = append(r.happenings[id], &happening{from: from, to: to, reason: reason, changed: true})
	}
	for key, s := range r.sources {
		if key.camera == id {
			s.decide(p, now, r.until(id))
		}
	}
	return nil
}

// touched returns the newest happening that touches a time; nil where none does.
func touched(all []*happening, from, to time.Time) *happening {
	for _, h := range slices.Backward(all) {
		if !from.After(h.to) && !to.Before(h.from) {
			return h
		}
	}
	return nil
}

// extend has a happening span a time as well. It may be told late, and reach further
// back.
func (h *happening) extend(from, to time.Time) {
	if from.Before(h.from) {
		h.from, h.changed = from, true
	}
	if to.After(h.to) {
		h.to, h.changed = to, true
	}
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
			_, err = r.index.ExtendBookmark(ctx, c.bookmark, c.from, c.to)
		}
		if err != nil {
			r.options.Log.Warn("an event could not be written down and is kept in memory", "camera", c.camera, "err", err)
			return
		}
		r.mu.Lock()
		c.of.bookmark = c.bookmark
		c.of.changed = c.of.to.After(c.to) || c.of.from.Before(c.from) // it went on meanwhile
		r.mu.Unlock()
	}
}
