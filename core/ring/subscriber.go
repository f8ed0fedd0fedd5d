package ring

import (
	"errors"

	"github.com/drover-video/drover/core/media"
)

// DefaultBuffer is how many frames a subscriber may be behind.
const DefaultBuffer = 256

// ErrClosed is returned by Subscribe on a ring that was closed.
var ErrClosed = errors.New("ring closed")

// Start says where a subscription begins.
type Start uint8

// The starts of a subscription.
const (
	StartNext   Start = iota // on the next keyframe
	StartLatest              // on the newest keyframe in the ring
	StartOldest              // with all that the ring holds
)

// Options of a subscription.
type Options struct {
	Name   string // for statistics: "hls", "archive", …
	Buffer int    // frames the subscriber may be behind; default Limits.Buffer
	Start  Start
}

// Item is a frame as one subscriber gets it.
type Item struct {
	Frame *media.Frame // the reader owns one reference and releases it

	// Missed is how many frames this subscriber did not get just before this
	// one, because it was behind. It is 0 for a first frame.
	Missed uint64
}

// Subscriber is one reader of a ring. When its channel is full it loses frames,
// and comes back on the next keyframe.
type Subscriber struct {
	// C brings the frames. It is closed when the ring or the subscription ends.
	C <-chan Item

	name  string
	ring  *Ring
	items chan Item

	// Owned by the holder of ring.mu.
	started       bool // has been sent a frame
	needsKeyframe bool
	missed        uint64 // since the last frame sent

	sent, droppedFull, droppedAwaiting uint64
}

// SubscriberStats is how a subscriber is doing.
type SubscriberStats struct {
	Name            string
	Behind          int    // frames in its channel
	Sent            uint64 // frames put into its channel
	DroppedFull     uint64 // frames it had no room for
	DroppedAwaiting uint64 // frames left out until the next keyframe
}

// Subscribe adds a reader. It starts at once where the ring holds a keyframe and
// opts.Start asks for it. The caller must Close it.
func (r *Ring) Subscribe(opts Options) (*Subscriber, error) {
	if opts.Buffer <= 0 {
		opts.Buffer = r.limits.Buffer
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	from := r.startIndex(opts.Start)
	s := &Subscriber{name: opts.Name, ring: r, needsKeyframe: true}
	// What the ring holds is given in addition to the room for what comes.
	s.items = make(chan Item, opts.Buffer+r.frames.len()-from)
	s.C = s.items
	for i := from; i < r.frames.len(); i++ {
		s.offer(r.frames.at(i))
	}
	// Replaced, not appended to in place: no one holds the old slice, but its
	// spare room must not keep a closed subscriber alive.
	r.subs = append(r.subs[:len(r.subs):len(r.subs)], s)
	return s, nil
}

func (r *Ring) startIndex(start Start) int {
	switch start {
	case StartOldest:
		return 0
	case StartLatest:
		for i := r.frames.len() - 1; i >= 0; i-- {
			if r.frames.at(i).Entry {
				return i
			}
		}
	}
	return r.frames.len()
}

// offer sends a frame if there is room. The caller holds ring.mu.
func (s *Subscriber) offer(f *media.Frame) {
	if s.needsKeyframe && !f.Entry {
		if s.started {
			s.missed++
			s.droppedAwaiting++
		}
		return
	}
	f.Retain()
	select {
	case s.items <- Item{Frame: f, Missed: s.missed}:
		s.started, s.needsKeyframe, s.missed = true, false, 0
		s.sent++
	default:
		f.Release()
		s.needsKeyframe = true
		if s.started {
			s.missed++
		}
		s.droppedFull++
	}
}

// stats is called by the holder of ring.mu.
func (s *Subscriber) stats() SubscriberStats {
	return SubscriberStats{
		Name:            s.name,
		Behind:          len(s.items),
		Sent:            s.sent,
		DroppedFull:     s.droppedFull,
		DroppedAwaiting: s.droppedAwaiting,
	}
}

// Close ends the subscription and releases what is left in its channel. It may
// be called more than once, and beside a reader of C.
func (s *Subscriber) Close() {
	s.ring.remove(s)
	for item := range s.items {
		item.Frame.Release()
	}
}

func (r *Ring) remove(s *Subscriber) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.subs {
		if other == s {
			subs := make([]*Subscriber, 0, len(r.subs)-1)
			r.subs = append(append(subs, r.subs[:i]...), r.subs[i+1:]...)
			close(s.items)
			return
		}
	}
}
