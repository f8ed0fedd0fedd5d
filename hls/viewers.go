package hls

import (
	"hash/maphash"
	"sync"
	"time"
)

// A viewerSet counts who has asked for a media playlist lately, by address and
// user agent. It is an estimate: several players behind one address with one
// browser count as one.
type viewerSet struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]int64 // hash of the viewer: until when it counts, in ns
}

// Bounds of a viewerSet.
const (
	viewerPatience = 3     // target durations without a playlist, and a viewer is gone
	maxViewers     = 20000 // 16 bytes and the map's own; more are not told apart
)

func (v *viewerSet) note(address, agent string, now time.Time, patience time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen == nil {
		v.seen = map[uint64]int64{}
		v.seed = maphash.MakeSeed()
	}
	key := maphash.String(v.seed, address)*31 + maphash.String(v.seed, agent)
	if _, known := v.seen[key]; !known && len(v.seen) >= maxViewers {
		v.sweep(now)
		if len(v.seen) >= maxViewers {
			return
		}
	}
	v.seen[key] = now.Add(patience).UnixNano()
}

func (v *viewerSet) count(now time.Time) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sweep(now)
	return len(v.seen)
}

func (v *viewerSet) sweep(now time.Time) {
	for key, until := range v.seen {
		if until < now.UnixNano() {
			delete(v.seen, key)
		}
	}
	if len(v.seen) == 0 {
		v.seen = nil // give the room back
	}
}
