package hls

import (
	"math"
	"time"
)

// bitRate follows what a variant's BANDWIDTH and AVERAGE-BANDWIDTH say. Both are
// kept steady, for each change is a new multivariant playlist in every cache.
type bitRate struct {
	peak    int64 // bits per second; never shrinks
	average int64 // bits per second

	bits float64
	time time.Duration
}

// averageTime is how much media the average looks back on.
const averageTime = 5 * time.Minute

func (r *bitRate) add(bytes int64, duration time.Duration) {
	bits := float64(bytes) * 8
	r.peak = max(r.peak, roundRate(bits/duration.Seconds()))
	if r.time > averageTime {
		r.bits, r.time = r.bits/2, r.time/2
	}
	r.bits += bits
	r.time += duration
	now := r.bits / r.time.Seconds()
	if math.Abs(now-float64(r.average)) > now/10 {
		r.average = roundRate(now)
	}
	r.average = min(r.average, r.peak)
}

// roundRate rounds up to two digits: RFC 8216 4.3.4.2 wants an upper bound.
func roundRate(bits float64) int64 {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(max(bits, 1)))-1))
	return int64(math.Ceil(bits/unit) * unit)
}

// pictureRate is the frame rate of a segment: what the parameter sets say where
// that is about what came, else what came. 0 for sound.
func pictureRate(s *segment) float64 {
	if len(s.video) == 0 {
		return 0
	}
	came := float64(len(s.video)) / s.duration.Seconds()
	if said := s.layout.pic.FPS; said > 0 && math.Abs(said-came) < said/20 {
		return said
	}
	return math.Round(came*10) / 10
}
