package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// subBuckets is how finely each power of two is split: a quantile read from
// the buckets is at most 1/32 above the truth.
const subBuckets = 32

// latencies counts how long requests took. Its memory does not grow with them,
// and every viewer writes to it at once, without a lock.
type latencies struct {
	buckets [64 * subBuckets]atomic.Uint64 // by microseconds, see bucketOf
	count   atomic.Uint64
	sumUS   atomic.Uint64
	maxUS   atomic.Uint64
}

func (l *latencies) add(took time.Duration) {
	us := uint64(max(took.Microseconds(), 0))
	l.buckets[bucketOf(us)].Add(1)
	l.count.Add(1)
	l.sumUS.Add(us)
	for {
		seen := l.maxUS.Load()
		if us <= seen || l.maxUS.CompareAndSwap(seen, us) {
			return
		}
	}
}

// bucketOf gives values below subBuckets a bucket each, and every power of two
// above them subBuckets of equal width.
func bucketOf(us uint64) int {
	if us < subBuckets {
		return int(us)
	}
	shift := bits.Len64(us) - bits.Len64(subBuckets)
	return shift*subBuckets + int(us>>shift)
}

// topOf is the largest value that falls into a bucket.
func topOf(bucket int) uint64 {
	if bucket < 2*subBuckets {
		return uint64(bucket)
	}
	shift := bucket/subBuckets - 1
	return uint64(bucket%subBuckets+subBuckets+1)<<shift - 1
}

// quantile returns the latency that a share q of all requests did not exceed.
func (l *latencies) quantile(q float64) time.Duration {
	total := l.count.Load()
	if total == 0 {
		return 0
	}
	rank := max(uint64(q*float64(total)+0.5), 1)
	var seen uint64
	for i := range l.buckets {
		seen += l.buckets[i].Load()
		if seen >= rank {
			return time.Duration(min(topOf(i), l.maxUS.Load())) * time.Microsecond
		}
	}
	return l.max()
}

func (l *latencies) max() time.Duration {
	return time.Duration(l.maxUS.Load()) * time.Microsecond
}

func (l *latencies) mean() time.Duration {
	count := l.count.Load()
	if count == 0 {
		return 0
	}
	return time.Duration(l.sumUS.Load()/count) * time.Microsecond
}
