package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestEveryLatencyFallsIntoABucketThatHoldsIt(t *testing.T) {
	previous := -1
	for _, us := range []uint64{0, 1, 31, 32, 33, 63, 64, 65, 66, 127, 128, 1000, 123456, 1 << 40, 1<<63 - 1} {
		bucket := bucketOf(us)
		if top := topOf(bucket); us > top {
			t.Errorf("%d is in bucket %d, whose top is %d", us, bucket, top)
		}
		if bucket > 0 && topOf(bucket-1) >= us {
			t.Errorf("%d would fit the bucket below %d", us, bucket)
		}
		if bucket < previous {
			t.Errorf("%d is in bucket %d, below a smaller value's", us, bucket)
		}
		previous = bucket
	}
}

func TestQuantilesAreAtMostAThirtySecondAboveTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var l latencies
	var all []time.Duration
	for range 10_000 {
		took := time.Duration(random.ExpFloat64()*20_000) * time.Microsecond
		l.add(took)
		all = append(all, took)
	}
	slices.Sort(all)
	for _, q := range []float64{0.5, 0.95, 0.99, 1} {
		want := all[int(q*float64(len(all))+0.5)-1]
		got := l.quantile(q)
		if got < want || float64(got) > float64(want)*(1+1.0/subBuckets) {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if l.max() != all[len(all)-1] {
		t.Errorf("max is %v, want %v", l.max(), all[len(all)-1])
	}
}

func TestNoRequestHasNoLatency(t *testing.T) {
	var l latencies
	if l.quantile(0.99) != 0 || l.mean() != 0 || l.max() != 0 {
		t.Errorf("got p99 %v, mean %v, max %v of nothing", l.quantile(0.99), l.mean(), l.max())
	}
}
