package timeline

import (
	"errors"
	"slices"
)

// MaxReorder is the deepest reordering of pictures that H.264 and H.265 allow.
const MaxReorder = 16

// ErrReorder is returned for a picture shown before ones that were given a
// decoding time already: the stream reorders more deeply than was known.
var ErrReorder = errors.New("pictures are reordered more deeply than the stream says")

// Reorder gives pictures their decoding times. With pictures that overtake at
// most N others between decoding and display, the i-th decoding time is the i-th
// smallest presentation time, N pictures late: which needs no look into the
// pictures, waits for nothing, and heals by itself after a loss.
type Reorder struct {
	depth  int
	window []int64 // the newest depth+1 presentation times, ascending
	buffer [MaxReorder + 2]int64
	last   int64
	begun  bool

	newest [MaxReorder]int64 // presentation times, in decoding order, round and round
	seen   int               // since Reset
}

// Depth returns how many pictures one may overtake.
func (r *Reorder) Depth() int { return r.depth }

// Reset begins anew, on a keyframe, with a depth as the stream promises it; -1
// keeps what was learnt.
func (r *Reorder) Reset(depth int) {
	if depth >= 0 {
		r.depth = min(depth, MaxReorder)
	}
	r.begun = false
	r.seen = 0
}

// Learn notes the presentation time of a picture that is dropped after
// ErrReorder, so that all there is to learn is learnt from one GOP.
func (r *Reorder) Learn(pts int64) {
	overtaken := 0
	for _, before := range r.newest[:min(r.seen, MaxReorder)] {
		if before > pts {
			overtaken++
		}
	}
	r.depth = max(r.depth, overtaken)
	r.newest[r.seen%MaxReorder] = pts
	r.seen++
}

// DTS returns the decoding time of the next picture in decoding order. Nominal
// is the time from picture to picture, by which the time before the first one is
// filled. On ErrReorder the depth has grown, and the caller drops pictures up to
// the next keyframe and calls Reset(-1).
func (r *Reorder) DTS(pts, nominal int64) (int64, error) {
	if !r.begun {
		r.begun = true
		r.window = r.buffer[:0]
		for i := r.depth; i > 0; i-- {
			r.window = append(r.window, pts-int64(i)*nominal)
		}
		r.last = pts - int64(r.depth+1)*nominal
	}
	if pts <= r.last && r.depth < MaxReorder && r.overtakes(pts) {
		r.depth++
		r.Learn(pts)
		return 0, ErrReorder
	}
	r.newest[r.seen%MaxReorder] = pts
	r.seen++
	at, _ := slices.BinarySearch(r.window, pts)
	r.window = slices.Insert(r.window, at, pts)
	if len(r.window) > r.depth+1 {
		copy(r.window, r.window[1:])
		r.window = r.window[:r.depth+1]
	}
	// At the greatest depth there is nothing left to learn.
	r.last = min(r.window[0], pts)
	return r.last, nil
}

// overtakes reports whether a picture is shown before one that came earlier, as
// opposed to a clock that stands still.
func (r *Reorder) overtakes(pts int64) bool {
	return len(r.window) > 0 && pts < r.window[len(r.window)-1]
}
