package hls

import (
	"context"
	"sync"
	"time"
)

// A run's first media sequence number is a count of quarter seconds up to its
// epoch. Segments are at least half a second long, mostly, so that numbers used
// fall behind the clock, and the next run begins above them. What is left is a
// clock that is set back, and a run that ends as soon as it began: see ledger.
//
// The count begins in 2024, so that numbers stay below 2^31, which some players
// need, until 2041.
const (
	sequenceZero = 1704067200000 // 2024-01-01 in ms
	sequenceTick = 250           // ms
)

// sequenceOf returns the first number of a run with that epoch.
func sequenceOf(epoch int64) uint64 {
	return uint64(max(0, epoch-sequenceZero) / sequenceTick)
}

// clockEpochs gives epochs by the clock, higher than all it gave before.
type clockEpochs struct {
	now func() time.Time

	mu      sync.Mutex
	highest int64 // over all cameras: numbers need to grow, not to be dense
}

// NextEpoch implements EpochStore.
func (c *clockEpochs) NextEpoch(context.Context, string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.highest = max(c.highest+1, c.now().UnixMilli())
	return c.highest, nil
}

// A ledger sees to it that the numbers of a run stay below those at which the
// next one will begin. It asks the store for another epoch, only to have it
// remembered, before the run's numbers reach the last. By the clock that number
// has grown eight times as fast as those used, so that it asks a few times in
// all.
type ledger struct {
	epochs EpochStore
	camera string

	mu      sync.Mutex
	highest int64 // epoch that the store is known to remember
	asking  bool
	asked   sync.WaitGroup
}

// ledgerMargin is how far ahead of the numbers used the store must be.
const ledgerMargin = 8

// used notes the newest number used. It never waits for the store.
func (l *ledger) used(ctx context.Context, sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asking || sequence+ledgerMargin < sequenceOf(l.highest) {
		return
	}
	l.asking = true
	l.asked.Go(func() {
		epoch, err := l.epochs.NextEpoch(ctx, l.camera)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asking = false
		if err == nil { // if not, the next segment asks again
			l.highest = max(l.highest, epoch)
		}
	})
}

// wait returns when no question is under way.
func (l *ledger) wait() { l.asked.Wait() }
