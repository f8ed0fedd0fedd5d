package hls

import (
	"context"
	"sync"
	"time"
)

// periods cut a camera's time into stretches within which the timestamps of all
// its playlists relate. A period's number is the discontinuity sequence of what
// lies in it, in each playlist of the camera: RFC 8216 6.2.4 wants matching
// content to have matching ones, and players find by it where the segments of one
// rendition belong beside those of another.
//
// A playlist that breaks begins a new period, and the others go over to it with
// their next segment, though their own pictures go on: a discontinuity that is
// none costs a player nothing. The sound goes last, when all that are live have
// gone: players let no sound of a period in that they have no pictures of.
type periods struct {
	epochs EpochStore
	camera string
	now    func() time.Time

	opening sync.Mutex // held while the store is asked for the first numbers

	mu       sync.Mutex
	opened   bool
	current  uint64
	begun    bool // some playlist is in the current period
	highest  uint64
	reserved uint64 // the store is known to remember all below
	members  map[string]*member

	zero time.Time // the time of day at which media times are 0

	target, liveTarget sharedTarget
}

// A member is one of a camera's sources.
type member struct {
	period uint64
	at     time.Time // when its newest segment began
}

func newPeriods(camera string, config *Config) *periods {
	return &periods{camera: camera, epochs: config.Epochs, now: config.Now, members: map[string]*member{}}
}

// open asks the store for the camera's first numbers, if nobody has.
func (p *periods) open(ctx context.Context) error {
	p.opening.Lock()
	defer p.opening.Unlock()
	p.mu.Lock()
	opened := p.opened
	p.mu.Unlock()
	if opened {
		return nil
	}
	err := p.reserve(ctx)
	if ctx.Err() == nil {
		p.mu.Lock()
		p.opened = true
		p.mu.Unlock()
	}
	return err
}

// beginWithoutStore lets numbers begin though the store has not answered yet.
func (p *periods) beginWithoutStore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened = true
}

// reserve asks the store for more numbers. Those after the first are only to be
// remembered.
func (p *periods) reserve(ctx context.Context) error {
	first, err := p.epochs.ReserveDiscontinuities(ctx, p.camera, reservedDiscontinuities)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.opened {
		p.current = uint64(first)
	}
	p.reserved = max(p.reserved, uint64(first)+reservedDiscontinuities)
	return nil
}

// short reports whether the store should be asked for more numbers.
func (p *periods) short() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.current, p.highest)+discontinuityMargin >= p.reserved
}

// join puts a source's next segment into a period. breaks says that it does not go
// on from the one before, and first that it is the first of a playlist. tags is
// how many discontinuities lie between the two.
func (p *periods) join(source string, breaks, first bool) (period uint64, tags int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.members[source]
	switch {
	case m == nil:
		if !p.begun {
			p.begun = true
			p.current++
		}
		m = &member{period: p.current}
		p.members[source] = m
	case breaks && m.period == p.current:
		p.current++
	}
	m.at = p.now()
	tags = int(p.current - m.period)
	if first {
		tags = 1
	}
	m.period = p.current
	return p.current, tags
}

// note tells of a number that was used beyond those of periods.
func (p *periods) note(number uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.highest = max(p.highest, number)
}

// due reports whether a source's next segment is to go over to a period that
// another has begun. last waits for all that are live.
func (p *periods) due(source string, last bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.members[source]
	if m == nil || m.period == p.current {
		return false
	}
	if !last {
		return true
	}
	now := p.now()
	patience := time.Duration(patienceTargets*max(p.target.seconds, p.liveTarget.seconds, 2)) * time.Second
	for name, other := range p.members {
		if name != source && other.period < p.current && now.Sub(other.at) < patience {
			return false
		}
	}
	return true
}

// leave forgets that a source is live, and what it needs.
func (p *periods) leave(source string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.members[source]; m != nil {
		m.at = time.Time{}
	}
	delete(p.target.needs, source)
	delete(p.liveTarget.needs, source)
}

// mediaZero is how much earlier than the first picture of a camera media times
// begin: clocks are set back, too, and no media time is below zero.
const mediaZero = time.Hour

// shift returns what to add to a position on a source's own timeline, of which the
// time of day is given, to have a media time. Those of all of a camera's sources
// are alike.
func (p *periods) shift(wall time.Time, position time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.zero.IsZero() || wall.Sub(p.zero) < 0 || wall.Sub(p.zero) > maxMediaTime {
		p.zero = wall.Add(-mediaZero)
	}
	return wall.Sub(p.zero) - position
}

// maxMediaTime is after how much media times begin anew, for want of digits in
// players.
const maxMediaTime = 100 * 365 * 24 * time.Hour

// wall returns the time of day of a media time.
func (p *periods) wall(at time.Duration) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.zero.Add(at)
}

// cover tells what target duration one source needs, and returns the one of all.
func (p *periods) cover(source string, seconds int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target.cover(source, seconds)
}

// coverLive is cover for playlists with parts.
func (p *periods) coverLive(source string, seconds int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.liveTarget.cover(source, seconds)
}
