package hls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// A run's first media sequence number is a count of quarter seconds up to its
// epoch. Segments are at least half a second long, mostly, so that numbers used
// fall behind the clock, and the next run begins above them; where a stream breaks
// more often than the clock ticks, segments are left out: see crowded. What is left
// is a clock that is set back, and a run that ends as soon as it began: see ledger.
//
// The count begins in 2024, so that numbers stay below 2^31, which some players
// need, until 2041.
const (
	sequenceZero = 1704067200000 // 2024-01-01 in ms
	sequenceTick = 250           // ms

	mostAhead = 24 // numbers that a run may be ahead of the clock
)

// sequenceOf returns the first number of a run with that epoch.
func sequenceOf(epoch int64) uint64 {
	return uint64(max(0, epoch-sequenceZero) / sequenceTick)
}

// numbers are where a run begins.
type numbers struct {
	epoch    int64
	sequence uint64 // of its first segment
}

// Discontinuity sequences are counted, not made of the clock: hls.js keeps an
// array with an entry for each up to the present one, and copies it as a whole,
// so that a page with numbers of the clock's size did nothing else. A camera
// reserves a few of them, and more when it has used these up. See periods.
const reservedDiscontinuities = 32

// clockEpochs gives epochs by the clock, higher than all it gave before.
type clockEpochs struct {
	now func() time.Time

	mu              sync.Mutex
	highest         int64 // over all cameras: numbers need to grow, not to be dense
	discontinuities int64 // likewise
}

// NextEpoch implements EpochStore.
func (c *clockEpochs) NextEpoch(context.Context, string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.highest = max(c.highest+1, c.now().UnixMilli())
	return c.highest, nil
}

// ReserveDiscontinuities implements EpochStore.
func (c *clockEpochs) ReserveDiscontinuities(_ context.Context, _ string, count int64) (first int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first = c.discontinuities
	c.discontinuities += count
	return first, nil
}

// A ledger sees to it that the numbers of a run stay below those at which the
// next one will begin. Before the run's numbers reach the last it asks the store
// for more, only to have them remembered. By the clock a media sequence has grown
// eight times as fast as the numbers used, so that it asks a few times in all.
type ledger struct {
	epochs  EpochStore
	camera  string
	periods *periods

	mu      sync.Mutex
	highest int64 // epoch that the store is known to remember
	asking  bool
	asked   sync.WaitGroup
}

// How far ahead of the numbers used the store must be.
const (
	ledgerMargin        = 8
	discontinuityMargin = reservedDiscontinuities / 4
)

// storePatience is how long a run waits for the store before it begins.
const storePatience = 2 * time.Second

// begin asks the store where a run begins. The live picture does not depend on the
// disk: without an answer, or where none comes in time, it goes by the clock.
func (l *ledger) begin(ctx context.Context, log *slog.Logger, now func() time.Time) numbers {
	type answer struct {
		epoch int64
		err   error
	}
	answers := make(chan answer, 1)
	l.asked.Go(func() {
		epoch, err := l.epochs.NextEpoch(ctx, l.camera)
		if err != nil {
			epoch = now().UnixMilli()
		}
		answers <- answer{epoch, errors.Join(err, l.periods.open(ctx))}
	})
	timer := time.NewTimer(storePatience)
	defer timer.Stop()
	var a answer
	select {
	case a = <-answers:
	case <-timer.C:
		l.periods.beginWithoutStore()
		a = answer{now().UnixMilli(), fmt.Errorf("it has not answered for %v", storePatience)}
	case <-ctx.Done():
		return numbers{}
	}
	if a.err != nil && ctx.Err() == nil {
		log.Warn("no numbers from the store, going by the clock", "err", a.err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.highest = a.epoch
	return numbers{epoch: a.epoch, sequence: sequenceOf(a.epoch)}
}

// used notes the newest number used. It never waits for the store.
func (l *ledger) used(ctx context.Context, sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	epoch := sequence+ledgerMargin >= sequenceOf(l.highest)
	reserve := l.periods.short()
	if l.asking || !epoch && !reserve {
		return
	}
	l.asking = true
	l.asked.Go(func() {
		// What fails is asked for again with the next segment.
		if epoch {
			l.askEpoch(ctx)
		}
		if reserve {
			_ = l.periods.reserve(ctx)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asking = false
	})
}

func (l *ledger) askEpoch(ctx context.Context) {
	epoch, err := l.epochs.NextEpoch(ctx, l.camera)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.highest = max(l.highest, epoch)
}

// wait returns when no question is under way.
func (l *ledger) wait() { l.asked.Wait() }
