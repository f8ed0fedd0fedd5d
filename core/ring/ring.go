// Package ring keeps the newest frames of a source and hands them to any number
// of subscribers, none of whom can slow the writer or another.
package ring

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/media"
)

// Defaults of Limits.
const (
	DefaultMaxBytes    = 32 << 20
	DefaultMaxDuration = 10 * time.Second
	DefaultMaxFrames   = 8192
)

// Limits bound what a ring keeps. Zero fields take their defaults.
type Limits struct {
	// MaxBytes of payload: never exceeded. A GOP larger than that is let go of
	// while it is still being written, and those who subscribe meanwhile start
	// on the next keyframe.
	MaxBytes int

	// MaxDuration of media. The newest complete GOP and the one being written
	// are kept even where they are longer.
	MaxDuration time.Duration

	// MaxFrames: never exceeded, like MaxBytes.
	MaxFrames int

	// Buffer is how many frames a subscriber may be behind that does not say so
	// itself. Default DefaultBuffer.
	Buffer int
}

func (l Limits) withDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	if l.MaxDuration <= 0 {
		l.MaxDuration = DefaultMaxDuration
	}
	if l.MaxFrames <= 0 {
		l.MaxFrames = DefaultMaxFrames
	}
	if l.Buffer <= 0 {
		l.Buffer = DefaultBuffer
	}
	return l
}

// Ring holds whole GOPs of one source, the newest of them still growing.
//
// It has one writer. Write never waits for a subscriber: its lock is held by
// others for the time it takes to copy pointers, and never across a channel
// operation that could block.
type Ring struct {
	limits Limits

	mu     sync.Mutex
	frames queue
	bytes  int
	gops   int // entries in frames; frames begins with one, if it holds any
	subs   []*Subscriber
	closed bool

	written atomic.Uint64
}

// New returns an empty ring.
func New(limits Limits) *Ring {
	return &Ring{limits: limits.withDefaults()}
}

// Write puts a frame into the ring and sends it to every subscriber that has
// room. It takes over the caller's reference.
func (r *Ring) Write(f *media.Frame) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		f.Release()
		return
	}
	for _, s := range r.subs {
		s.offer(f)
	}
	r.keep(f)
	r.mu.Unlock()
	r.written.Add(1)
}

// keep stores a frame, or releases it where there is no keyframe before it.
func (r *Ring) keep(f *media.Frame) {
	if f.Entry {
		r.gops++
	} else if r.gops == 0 {
		f.Release()
		return
	}
	r.frames.push(f)
	r.bytes += len(f.Payload())
	for r.gops > 2 && r.span() > r.limits.MaxDuration {
		r.dropOldestGOP()
	}
	for r.bytes > r.limits.MaxBytes || r.frames.len() > r.limits.MaxFrames {
		r.dropOldestGOP()
	}
}

// span is how much time the ring covers, by decoding times: those grow over
// epochs too.
func (r *Ring) span() time.Duration {
	first := r.frames.at(0)
	for i := r.frames.len() - 1; i > 0; i-- {
		if last := r.frames.at(i); last.Track == first.Track {
			return first.Track.Duration(last.DTS - first.DTS)
		}
	}
	return 0
}

// dropOldestGOP releases frames up to the next entry, or all.
func (r *Ring) dropOldestGOP() {
	for first := true; r.frames.len() > 0 && (first || !r.frames.at(0).Entry); first = false {
		f := r.frames.pop()
		r.bytes -= len(f.Payload())
		f.Release()
	}
	r.gops--
}

// Newest returns the newest frame of a codec that the ring holds, with a reference
// for the caller, or nil.
func (r *Ring) Newest(codec media.Codec) *media.Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := r.frames.len() - 1; i >= 0; i-- {
		if f := r.frames.at(i); f.Track.Codec == codec {
			f.Retain()
			return f
		}
	}
	return nil
}

// Stats is what a ring holds now.
type Stats struct {
	Frames  int
	Bytes   int
	GOPs    int // the one being written included
	Written uint64
}

// Stats returns what the ring holds now.
func (r *Ring) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{Frames: r.frames.len(), Bytes: r.bytes, GOPs: r.gops, Written: r.written.Load()}
}

// Subscribers returns how each subscriber is doing.
func (r *Ring) Subscribers() []SubscriberStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := make([]SubscriberStats, len(r.subs))
	for i, s := range r.subs {
		stats[i] = s.stats()
	}
	return stats
}

// Closed reports whether Close was called.
func (r *Ring) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Clear releases what the ring holds. Subscribers stay, and what they have in
// their channels.
func (r *Ring) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
}

func (r *Ring) clear() {
	for r.frames.len() > 0 {
		r.frames.pop().Release()
	}
	r.bytes, r.gops = 0, 0
}

// Close releases what the ring holds and ends all subscriptions: their channels
// are closed after what they hold. A later Write only releases its frame.
func (r *Ring) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	r.clear()
	for _, s := range r.subs {
		close(s.items)
	}
	r.subs = nil
}
