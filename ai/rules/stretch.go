package rules

import (
	"slices"
	"time"

	"github.com/drover-video/drover/core/detection"
)

// A stretch is a time with its best detection.
type stretch struct {
	from, to time.Time
	best     best
}

type best struct {
	at    time.Time
	score float64
	box   *detection.Box
	track uint64
}

// better is a total order, so that the best of many is the same in whatever order they
// come.
func (b *best) better(other *best) bool {
	switch {
	case b.score != other.score:
		return b.score > other.score
	case !b.at.Equal(other.at):
		return b.at.Before(other.at)
	case b.track != other.track:
		return b.track < other.track
	case b.box == nil || other.box == nil:
		return b.box == nil && other.box != nil
	default:
		return less(*b.box, *other.box)
	}
}

func less(a, b detection.Box) bool {
	x, y := [4]float64{a.X, a.Y, a.Width, a.Height}, [4]float64{b.X, b.Y, b.Width, b.Height}
	return slices.Compare(x[:], y[:]) < 0
}

// take makes the stretch cover another one too.
func (s *stretch) take(other *stretch) {
	if other.from.Before(s.from) {
		s.from = other.from
	}
	if other.to.After(s.to) {
		s.to = other.to
	}
	if other.best.better(&s.best) {
		s.best = other.best
	}
}

// near reports whether at most distance lies between two stretches.
func (s *stretch) near(other *stretch, distance time.Duration) bool {
	return !s.from.After(other.to.Add(distance)) && !other.from.After(s.to.Add(distance))
}

// join puts a stretch among others, and returns the one that it is part of now.
func join(all []stretch, s stretch, distance time.Duration) ([]stretch, stretch) {
	all = slices.DeleteFunc(all, func(other stretch) bool {
		if !other.near(&s, distance) {
			return false
		}
		s.take(&other)
		return true
	})
	return append(all, s), s
}
