package ring

import (
	"sort"
	"time"
)

// Wall returns the wall-clock time of a frame, and false where the ring does not hold
// it any more, or not yet.
func (r *Ring) Wall(epoch, sequence uint64) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := sort.Search(r.frames.len(), func(i int) bool {
		f := r.frames.at(i)
		return f.Epoch > epoch || f.Epoch == epoch && f.Seq >= sequence
	})
	if i == r.frames.len() {
		return time.Time{}, false
	}
	f := r.frames.at(i)
	return f.Wall, f.Epoch == epoch && f.Seq == sequence
}
