package main

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A round is one part on its way to all viewers.
type round struct {
	question question
	first    time.Time       // when the first of them had it
	after    []time.Duration // that, each of them
}

// A tally gathers what all viewers saw.
type tally struct {
	viewers int
	here    atomic.Int64
	all     chan struct{} // closed once all are here

	mu       sync.Mutex // guards what follows
	counts   bool       // rounds begin
	rounds   []*round   // by question
	failures map[string]int
}

func newTally(viewers int) *tally {
	return &tally{viewers: viewers, all: make(chan struct{}), failures: map[string]int{}}
}

// arrived notes a viewer who has the playlist. One who comes back after a failure
// counts again, and then the run has failed anyway.
func (t *tally) arrived() {
	if t.here.Add(1) == int64(t.viewers) {
		close(t.all)
	}
}

func (t *tally) awaitAll(ctx context.Context) error {
	select {
	case <-t.all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin has rounds count, and end no more begin.
func (t *tally) begin() { t.count(true) }
func (t *tally) end()   { t.count(false) }

func (t *tally) count(counts bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts = counts
}

// answered notes that a viewer who waited for asked has at what time a playlist
// that lists all before listed. Who was late has more than one part at once.
func (t *tally) answered(asked, listed question, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, known := slices.BinarySearchFunc(t.rounds, asked, func(r *round, q question) int { return r.question.compare(q) })
	if !known && t.counts {
		t.rounds = slices.Insert(t.rounds, i, &round{question: asked, first: at, after: make([]time.Duration, 0, t.viewers)})
	}
	for ; i < len(t.rounds) && t.rounds[i].question.before(listed); i++ {
		r := t.rounds[i]
		r.after = append(r.after, max(0, at.Sub(r.first)))
	}
}

func (t *tally) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures[err.Error()]++
}

// finished returns the rounds that had the time to be complete, and how often what
// went wrong. Of the first it is not known when it began.
func (t *tally) finished() (rounds []*round, failures map[string]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const first, last = 1, 2
	if len(t.rounds) > first+last {
		rounds = t.rounds[first : len(t.rounds)-last]
	}
	return rounds, maps.Clone(t.failures)
}
