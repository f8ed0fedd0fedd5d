package hls

import (
	"math"
	"time"

	"github.com/drover-video/drover/core/media"
)

// A pace is how the frames of the leading track have followed each other of late.
// The part target comes from it.
type pace struct {
	steps [paceSteps]int32 // ticks from one frame to the next, a ring
	count int              // steps seen, all told
}

// paceSteps is how many steps are remembered: ten seconds at 25 pictures per
// second.
const paceSteps = 256

func (p *pace) add(ticks int64) {
	p.steps[p.count%paceSteps] = int32(min(ticks, math.MaxInt32))
	p.count++
}

func (p *pace) len() int { return min(p.count, paceSteps) }

// at returns a step, the oldest first.
func (p *pace) at(i int) int64 {
	if p.count > paceSteps {
		i += p.count
	}
	return int64(p.steps[i%paceSteps])
}

// spread returns the shortest and the longest run of n steps in a row.
func (p *pace) spread(n int) (shortest, longest int64) {
	shortest, run := math.MaxInt64, int64(0)
	for i := range p.len() {
		run += p.at(i)
		if i >= n {
			run -= p.at(i - n)
		}
		if i >= n-1 {
			shortest, longest = min(shortest, run), max(longest, run)
		}
	}
	return shortest, longest
}

// Bounds of a part target.
const (
	partFloor   = 85 // per cent of the target that a part lasts at least: RFC 8216bis 4.4.4.9
	partReserve = 86 // the same when a target is chosen
	partGrain   = 5 * time.Millisecond
	partAmple   = 2 * time.Second // parts longer than this are not tried for the sake of jitter
	paceKnown   = 25              // steps after which jitter counts as known
)

// partTarget chooses a part target near what is wanted, such that parts of whole
// frames last 85 to 100 % of it however the frames have come of late. It is
// never shorter than least.
func (p *pace) partTarget(track *media.Track, wanted, least time.Duration) time.Duration {
	least += least / 100
	if p.len() == 0 {
		return roundPart(max(wanted, least))
	}
	total := int64(0)
	for i := range p.len() {
		total += p.at(i)
	}
	step := max(total/int64(p.len()), 1)
	// A part is as many frames as come closest to what is wanted, and more where
	// jitter makes up too much of so few.
	fewest := int(max(1, (2*track.Ticks(wanted)/step+1)/2))
	for n := fewest; n <= p.len() && (n == fewest || track.Duration(int64(n)*step) <= partAmple); n++ {
		shortest, longest := p.spread(n)
		margin := max(longest/100, (longest-shortest)/8)
		if p.len() < paceKnown {
			margin = max(margin, longest*3/100)
		}
		target := roundPart(max(track.Duration(longest+margin), least))
		if track.Duration(shortest)*100 >= target*partReserve {
			return target
		}
	}
	return roundPart(max(track.Duration(int64(fewest)*step*103/100), least))
}

// roundPart rounds up, so that the target of a camera's sources are alike where
// their frame rates are.
func roundPart(d time.Duration) time.Duration {
	return (d + partGrain - 1) / partGrain * partGrain
}
