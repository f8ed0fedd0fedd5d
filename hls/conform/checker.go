// Package conform holds live playlists against RFC 8216, over time: most of its
// rules for live playlists are about what may differ from one load to the next.
// It is for tests.
package conform

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A Checker watches successive loads of one media playlist.
type Checker struct {
	last     *Playlist
	segments map[uint64]Segment // by media sequence, all ever seen
	names    map[string]uint64
	found    []string

	// Restarts counts new lives of the playlist: another target duration, and
	// no segment in common with the load before.
	Restarts int
	// Loads counts playlists that differ from the one before.
	Loads int
}

// New returns a checker that has seen nothing.
func New() *Checker {
	return &Checker{segments: map[uint64]Segment{}, names: map[string]uint64{}}
}

// Violations returns all that was found, each with its section.
func (c *Checker) Violations() []string { return c.found }

func (c *Checker) fail(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// Watch takes the next load.
func (c *Checker) Watch(data []byte) {
	p, err := Parse(data)
	if err != nil {
		c.fail("%v", err)
		return
	}
	c.checkAlone(p)
	if c.last != nil {
		c.checkAfter(c.last, p)
	}
	c.checkSegments(p)
	if c.last == nil || c.last.end() != p.end() {
		c.Loads++
	}
	c.last = p
}

func (p *Playlist) end() uint64 { return p.MediaSequence + uint64(len(p.Segments)) }

func (p *Playlist) duration() time.Duration {
	total := time.Duration(0)
	for _, s := range p.Segments {
		total += s.Duration
	}
	return total
}

// checkAlone holds one playlist against what needs no other.
func (c *Checker) checkAlone(p *Playlist) {
	if len(p.Segments) == 0 {
		c.fail("a live playlist without segments")
		return
	}
	if p.TargetDuration < 1 {
		c.fail("4.3.3.1: target duration %d", p.TargetDuration)
	}
	if p.MediaSequence >= 1<<53 {
		c.fail("media sequence %d is beyond what a browser's numbers hold", p.MediaSequence)
	}
	need := 3
	for _, s := range p.Segments {
		if s.MapURI != "" {
			need = 6
		} else if strings.HasSuffix(s.URI, ".m4s") || strings.HasSuffix(s.URI, ".mp4") {
			c.fail("4.3.2.5: segment %s has no map", s.URI)
		}
		if round := int(math.Round(s.Duration.Seconds())); round > p.TargetDuration {
			c.fail("4.3.3.1: segment %s of %v is longer than the target duration %d", s.URI, s.Duration, p.TargetDuration)
		}
		if s.ProgramDateTime.IsZero() {
			c.fail("segment %s has no program date", s.URI)
		}
	}
	if p.Version < need {
		c.fail("7: version %d, needs %d", p.Version, need)
	}
	if p.EndList {
		c.fail("a live playlist ends")
	}
}

// checkSegments holds each segment against those before it.
func (c *Checker) checkSegments(p *Playlist) {
	for i, s := range p.Segments {
		if before, known := c.segments[s.Sequence]; known && before != s {
			c.fail("6.2.1: segment %d was %+v and is %+v", s.Sequence, before, s)
		}
		if sequence, known := c.names[s.URI]; known && sequence != s.Sequence {
			c.fail("3: name %s is segment %d and was %d", s.URI, s.Sequence, sequence)
		}
		c.segments[s.Sequence] = s
		c.names[s.URI] = s.Sequence
		if i == 0 {
			continue
		}
		before := p.Segments[i-1]
		if s.Discontinuity {
			if before.Duration < 500*time.Millisecond {
				c.fail("segment %d of %v before a discontinuity is shorter than half a second", before.Sequence, before.Duration)
			}
			continue
		}
		if s.MapURI != before.MapURI {
			c.fail("4.3.2.3: segment %d has another map without a discontinuity", s.Sequence)
		}
		drift := s.ProgramDateTime.Sub(before.ProgramDateTime) - before.Duration
		if drift.Abs() > before.Duration/50+2*time.Millisecond {
			c.fail("4.3.2.6: segment %d is %v off the program date of the one before and its duration", s.Sequence, drift)
		}
	}
}

// checkAfter holds a load against the one before.
func (c *Checker) checkAfter(last, p *Playlist) {
	if p.MediaSequence < last.MediaSequence || p.end() < last.end() {
		c.fail("6.2.2: media sequence went back from %d..%d to %d..%d", last.MediaSequence, last.end(), p.MediaSequence, p.end())
		return
	}
	disjoint := p.MediaSequence >= last.end()
	if p.TargetDuration != last.TargetDuration {
		if disjoint && p.Segments[0].Discontinuity {
			c.Restarts++
		} else {
			c.fail("6.2.1: target duration changed from %d to %d in the playlist's life", last.TargetDuration, p.TargetDuration)
		}
	}
	removed := uint64(0)
	for _, s := range last.Segments {
		if s.Sequence < p.MediaSequence && s.Discontinuity {
			removed++
		}
	}
	if want := last.DiscontinuitySequence + removed; p.DiscontinuitySequence < want || !disjoint && p.DiscontinuitySequence != want {
		c.fail("6.2.2: discontinuity sequence is %d, want %d: it was %d, and %d tags left", p.DiscontinuitySequence, want, last.DiscontinuitySequence, removed)
	}
	if p.MediaSequence > last.MediaSequence && !disjoint && p.duration() < 3*time.Duration(p.TargetDuration)*time.Second {
		c.fail("6.2.2: a segment was removed, which left %v of three target durations of %d s", p.duration(), p.TargetDuration)
	}
}
