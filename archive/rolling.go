package archive

import (
	"context"
	"maps"
	"time"
)

// rollings is since when cameras are recorded always for the sake of their events. Only
// what was recorded since goes because no event was in it: before, it was recorded to
// be kept. It outlives the process, or restarts would leave footage behind that nobody
// asked for.
type rollings struct {
	since   map[string]time.Time // by camera
	changed bool                 // since it was written down
}

// set takes a camera's policy in; nil: it was removed.
func (r *rollings) set(id string, p *policy, now time.Time) {
	_, was := r.since[id]
	switch is := p != nil && p.rolling; {
	case is == was:
		return
	case is:
		r.since[id] = now
	default:
		delete(r.since, id)
	}
	r.changed = true
}

// keepRolling writes down since when cameras are recorded so.
func (r *Recorder) keepRolling(ctx context.Context) {
	r.mu.Lock()
	changed, since := r.rolling.changed, maps.Clone(r.rolling.since)
	r.rolling.changed = false
	r.mu.Unlock()
	if !changed {
		return
	}
	if err := r.index.SetRolling(ctx, since); err != nil {
		r.options.Log.Warn("since when cameras are recorded for their events could not be written down and is kept in memory", "err", err)
		r.mu.Lock()
		r.rolling.changed = true
		r.mu.Unlock()
	}
}
