// Package viewer counts who watches, without sessions: a viewer is an address
// and a user agent that has asked for something lately.
package viewer

import (
	"hash/maphash"
	"sync"
	"time"
)

// maxKnown bounds a set: 16 bytes and the map's own for each. More are not told
// apart, so they are neither counted nor, by a limit above it, refused.
const maxKnown = 20000

// MaxLimit is the highest limit that a set can keep.
const MaxLimit = maxKnown

// A Set is the viewers of one thing. Several players behind one address with one
// user agent count as one. The zero value is empty and ready; all may call it.
type Set struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]int64 // hash of the viewer: until when it counts, in ns

	swept time.Time // the last search for room
}

// sweepEvery bounds what a storm of viewers that are refused costs.
const sweepEvery = 200 * time.Millisecond

// Verdict is what became of a viewer.
type Verdict int

// The verdicts. Known and Admitted viewers are in.
const (
	Known    Verdict = iota // in already, and in for longer now
	Admitted                // new, and in
	Full                    // refused: there are as many as may
)

// In reports whether the viewer may watch.
func (v Verdict) In() bool { return v <= Admitted }

// Renew counts a viewer until a time if it is in already.
func (s *Set) Renew(address, agent string, now, until time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		return false
	}
	key := s.key(address, agent)
	if ends, known := s.seen[key]; !known || ends < now.UnixNano() {
		return false
	}
	s.seen[key] = until.UnixNano()
	return true
}

// Note counts a viewer until a time, unless most others do already; 0 for no
// limit. One that is in is never refused.
func (s *Set) Note(address, agent string, now, until time.Time, most int) Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seed = maphash.MakeSeed()
	}
	key := s.key(address, agent)
	ends, known := s.seen[key]
	if known && ends >= now.UnixNano() {
		s.seen[key] = until.UnixNano()
		return Known
	}
	limit := maxKnown
	if most > 0 {
		limit = min(most, maxKnown)
	}
	if known || len(s.seen) >= limit && now.Sub(s.swept) >= sweepEvery {
		s.swept = now
		s.sweep(now)
	}
	if len(s.seen) >= limit {
		if most > 0 && most <= maxKnown {
			return Full
		}
		return Admitted
	}
	if s.seen == nil {
		s.seen = map[uint64]int64{}
	}
	s.seen[key] = until.UnixNano()
	return Admitted
}

// Count returns how many viewers there are.
func (s *Set) Count(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	return len(s.seen)
}

func (s *Set) key(address, agent string) uint64 {
	return maphash.String(s.seed, address)*31 + maphash.String(s.seed, agent)
}

func (s *Set) sweep(now time.Time) {
	for key, until := range s.seen {
		if until < now.UnixNano() {
			delete(s.seen, key)
		}
	}
	if len(s.seen) == 0 {
		s.seen = nil // give the room back
	}
}
