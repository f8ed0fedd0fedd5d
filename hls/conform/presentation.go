package conform

import (
	"path"
	"sync"
	"time"
)

// A presentation is what the playlists of one multivariant playlist have to have
// in common (RFC 8216 6.2.4). All viewers of them share it.
type presentation struct {
	mu      sync.Mutex
	members map[string]*membership // by the last element of the playlist's URL
	grown   time.Time              // when a target duration last did
}

// A membership is how far one playlist is known.
type membership struct {
	checker *Checker
	at      time.Time // when it last had something new
	target  int
	msn     uint64 // of the first segment that is not whole
	shared  []int  // target durations that were taken over from another

	clocks map[uint64]clocked // by discontinuity sequence
}

// clocked is the time of day at which media times were 0.
type clocked struct {
	first, last time.Time
}

// What the clocks of two playlists may be apart, in one period.
const clockSlack = 450 * time.Millisecond

func newPresentation() *presentation { return &presentation{members: map[string]*membership{}} }

func (p *presentation) join(uri string, c *Checker) {
	p.members[path.Base(uri)] = &membership{checker: c, clocks: map[uint64]clocked{}}
}

// loaded takes note of a playlist, and holds its reports against what is known of
// the others. before is the load before, nil if there was none.
func (p *presentation) loaded(uri string, list, before *Playlist, known map[string]uint64) map[string]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.members[path.Base(uri)]
	if before == nil || list.end() != before.end() || len(list.openParts()) != len(before.openParts()) {
		own.at = time.Now()
	}
	if own.target != list.TargetDuration {
		p.grown = time.Now()
	}
	own.target, own.msn = list.TargetDuration, list.end()
	if list.PartTarget > 0 && before != nil && len(p.members) > 1 {
		p.checkReports(uri, list, known)
	}
	now := map[string]uint64{}
	for name, m := range p.members {
		now[name] = m.msn
	}
	return now
}

// checkReports sees whether a playlist with parts tells of all others, and nothing
// old. known is how far the others were when this one was last loaded.
func (p *presentation) checkReports(uri string, list *Playlist, known map[string]uint64) {
	own := p.members[path.Base(uri)]
	told := map[string]bool{}
	for _, r := range list.Reports {
		name := path.Base(r.URI)
		told[name] = true
		other, there := p.members[name]
		switch {
		case name == path.Base(uri):
			own.checker.Fail("4.4.5.4: %s reports of itself", name)
		case !there:
			own.checker.Fail("4.4.5.4: a report of %s, which is not in the multivariant playlist", name)
		case r.LastMSN+1 < known[name]:
			own.checker.Fail("4.4.5.4: the report of %s says %s, and segment %d was whole already", name, r.at(), known[name]-1)
		case other.msn > 0 && r.LastMSN > other.msn+8:
			own.checker.Fail("4.4.5.4: the report of %s says %s, and its first segment that is not whole is %d", name, r.at(), other.msn)
		}
	}
	for name, other := range p.members {
		if name != path.Base(uri) && !told[name] && other.msn > 0 {
			own.checker.Fail("6.2.5.3: there is no report of %s", name)
		}
	}
}

// media takes note of the time of day and the media time of a segment's beginning.
func (p *presentation) media(uri string, s Segment, at time.Duration) {
	if s.ProgramDateTime.IsZero() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.members[path.Base(uri)]
	zero := s.ProgramDateTime.Add(-at)
	c, known := own.clocks[s.Timeline]
	if !known {
		c.first = zero
	}
	c.last = zero
	own.clocks[s.Timeline] = c
	for name, other := range p.members {
		if o, known := other.clocks[s.Timeline]; known && zero.Sub(o.first).Abs() > clockSlack && zero.Sub(o.last).Abs() > clockSlack {
			own.checker.Fail("6.2.4: segment %s of discontinuity sequence %d has its zero at %v, %s has it at %v",
				s.URI, s.Timeline, zero.UTC().Format(time.TimeOnly+".000"), name, o.last.UTC().Format(time.TimeOnly+".000"))
			return
		}
	}
}

// outgrown tells of a target duration that grew, though nothing in the playlist had
// outgrown the one before.
func (p *presentation) outgrown(uri string, target int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.members[path.Base(uri)]
	m.shared = append(m.shared, target)
}

// end holds the playlists that are alive against each other.
func (p *presentation) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	newest, most := time.Time{}, 0
	for _, m := range p.members {
		if m.at.After(newest) {
			newest = m.at
		}
		most = max(most, m.target)
	}
	for name, m := range p.members {
		for _, target := range m.shared {
			if target > most || !p.hasGrown(name, target) {
				m.checker.Fail("6.2.1: target duration of %s changed to %d, and no other needs it", name, target)
			}
		}
		// What another has outgrown is taken over with the next segment.
		patience := 2 * time.Duration(most) * time.Second
		if m.target > 0 && m.target < most && newest.Sub(m.at) < patience && newest.Sub(p.grown) > patience {
			m.checker.Fail("6.2.4: target duration of %s is %d, another's is %d", name, m.target, most)
		}
	}
}

// hasGrown reports whether a playlist other than that needs so long a target.
func (p *presentation) hasGrown(but string, target int) bool {
	for name, m := range p.members {
		if name != but && m.target >= target {
			return true
		}
	}
	return false
}
