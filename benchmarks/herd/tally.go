package main

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// kind is what a request was for.
type kind int

const (
	kindMultivariant kind = iota
	kindPlaylist
	kindInit
	kindSegment
	kindObject // whatever the URL of a herd that repeats it names
	kindCount
)

func (k kind) String() string {
	return [...]string{"multivariant", "playlist", "init", "segment", "object"}[k]
}

// A tally gathers what all viewers saw.
type tally struct {
	latencies [kindCount]latencies // of requests that were answered in full
	bytes     [kindCount]atomic.Uint64
	asked     atomic.Uint64 // requests, whatever came of them
	viewers   atomic.Int64  // playing now

	mu       sync.Mutex // guards what follows: failures are rare
	failures map[string]uint64
	example  map[string]string // the first error of each kind
}

func newTally() *tally {
	return &tally{failures: map[string]uint64{}, example: map[string]string{}}
}

func (t *tally) succeeded(k kind, took time.Duration, length int64) {
	t.latencies[k].add(took)
	t.bytes[k].Add(uint64(length))
}

// failed counts a failure under "segment: status 404".
func (t *tally) failed(k kind, err error) {
	name := "other"
	var known *failure
	if errors.As(err, &known) {
		name = known.kind
	}
	name = k.String() + ": " + name
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failures[name]++; t.failures[name] == 1 {
		t.example[name] = err.Error()
	}
}
