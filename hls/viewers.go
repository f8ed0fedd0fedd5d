package hls

import (
	"container/list"
	"hash/maphash"
	"sync"
	"time"
)

// A viewerSet counts who has asked for a media playlist lately, by address and
// user agent. It is an estimate: several players behind one address with one
// browser count as one.
//
// A note costs the same however many there are: those who have been quiet longest
// are found at the front of a list.
type viewerSet struct {
	mu    sync.Mutex
	seed  maphash.Seed
	seen  map[uint64]*list.Element // by hash of the viewer
	order list.List                // of *counted, who was noted last at the back
}

type counted struct {
	key   uint64
	until int64 // in ns of Unix time: until when it counts
}

// Bounds of a viewerSet.
const (
	viewerPatience = 3     // target durations without a playlist, and a viewer is gone
	maxViewers     = 20000 // about 100 bytes for each; more are not told apart
)

func (v *viewerSet) note(address, agent string, now time.Time, patience time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen == nil {
		v.seen = map[uint64]*list.Element{}
		v.seed = maphash.MakeSeed()
	}
	key := maphash.String(v.seed, address)*31 + maphash.String(v.seed, agent)
	until := now.Add(patience).UnixNano()
	if e, known := v.seen[key]; known {
		e.Value.(*counted).until = until
		v.order.MoveToBack(e)
		return
	}
	if len(v.seen) >= maxViewers {
		// One place is enough, and the front is who would go first.
		if v.order.Front().Value.(*counted).until >= now.UnixNano() {
			return
		}
		v.forget()
	}
	v.seen[key] = v.order.PushBack(&counted{key, until})
}

// forget forgets who is at the front.
func (v *viewerSet) forget() {
	delete(v.seen, v.order.Remove(v.order.Front()).(*counted).key)
}

// count forgets those who are gone, each once, and counts the others. Where a
// target duration has grown, the patience for some behind the front may be over
// already: they count until the front's is.
func (v *viewerSet) count(now time.Time) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.order.Len() > 0 && v.order.Front().Value.(*counted).until < now.UnixNano() {
		v.forget()
	}
	if len(v.seen) == 0 {
		v.seen = nil // give the room back
	}
	return len(v.seen)
}
