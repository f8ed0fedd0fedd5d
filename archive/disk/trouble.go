package disk

import (
	"time"

	"github.com/drover-video/drover/archive/index"
)

// quietAfter is how long a lane in trouble has nothing to write until it no longer
// counts: it may never write again, as when its camera was removed.
const quietAfter = time.Minute

type laneKey struct{ camera, source string }

func (l *Lane) key() laneKey { return laneKey{l.camera, l.source} }

// A trouble is that of one lane alone, as where its directory belongs to somebody
// else. The others are written meanwhile.
type trouble struct {
	Health
	retryAt time.Time
	seen    time.Time // when it last had something to write
}

// laneFailed notes what a lane had. The caller holds mu.
func (h *health) laneFailed(key laneKey, ill Health) {
	t := h.lanes[key]
	if t == nil {
		t = &trouble{Health: ill}
		h.lanes[key] = t
	}
	t.retryAt, t.seen = ill.Since.Add(retryAfter), ill.Since
	h.forgetQuiet(ill.Since)
}

// forgetQuiet forgets lanes that have nothing to write any more. The caller holds mu.
func (h *health) forgetQuiet(now time.Time) {
	for key, t := range h.lanes {
		if now.Sub(t.seen) > quietAfter {
			delete(h.lanes, key)
		}
	}
}

// laneRests reports whether a lane that has something to write failed a moment ago,
// by itself or with the whole disk, and how.
func (h *health) laneRests(l *Lane) (Health, bool) {
	if ill, resting := h.resting(); resting {
		return ill, true
	}
	now := h.writer.options.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.lanes[l.key()]
	if t == nil {
		return Health{}, false
	}
	t.seen = now
	return t.Health, now.Before(t.retryAt)
}

// Health returns whether what the lane is given is written: the trouble of the disk,
// or the lane's own.
func (l *Lane) Health() Health {
	h := &l.writer.health
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.lanes[l.key()]
	if t != nil && (h.disk.Cause == "" || h.disk.Cause == index.CauseDiskSlow) {
		return t.Health
	}
	return h.disk
}
