// Package conform holds live playlists against RFC 8216 and RFC 8216bis, over
// time: most of their rules for live playlists are about what may differ from one
// load to the next. A Checker takes playlists from anywhere; Watch loads them, and
// what they name, from a server. It is for tests, and for the command in watch.
//
// Sections are those of RFC 8216bis where a rule is of low latency, and else of
// RFC 8216.
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
	segments map[uint64]Segment // by media sequence, all ever seen; with the parts they had
	names    map[string]uint64
	found    []string

	parts map[place]Part
	where map[string]place // of parts, by name
	old   map[place]bool   // parts of an earlier life of the playlist

	// Outgrown is told of a target duration that grew though nothing in the playlist
	// needs it: RFC 8216 6.2.4 wants those of all variants to be alike. nil: none
	// may.
	Outgrown func(target int)

	// Restarts counts new lives of the playlist. One of whole segments begins with
	// another target duration and no segment in common with the load before; one
	// with parts where a segment or a part has outgrown its target.
	Restarts int
	// Loads counts playlists that differ from the one before.
	Loads int
	// Short counts segments of less than half a second before a discontinuity.
	// Players stumble over them, but a segment of which parts are known cannot be
	// taken back.
	Short int
}

// A place is where a part stands.
type place struct {
	sequence uint64
	part     int
}

// New returns a checker that has seen nothing.
func New() *Checker {
	return &Checker{segments: map[uint64]Segment{}, names: map[string]uint64{},
		parts: map[place]Part{}, where: map[string]place{}, old: map[place]bool{}}
}

// Violations returns all that was found, each with its section.
func (c *Checker) Violations() []string { return c.found }

// Fail notes a violation that was found elsewhere.
func (c *Checker) Fail(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// Watch takes the next load. It returns the playlist, whole where the load was a
// delta update, and nil where it cannot be read.
func (c *Checker) Watch(data []byte) *Playlist {
	p, err := Parse(data)
	if err != nil {
		c.Fail("%v", err)
		return nil
	}
	if p.Skipped > 0 && !c.unskip(p) {
		return nil
	}
	c.checkAlone(p)
	c.checkLowLatency(p)
	if c.last != nil {
		c.checkAfter(c.last, p)
		c.found = append(c.found, keepsDateRanges(c.last, p)...)
	}
	c.checkParts(p)
	c.checkListed(p)
	c.checkSegments(p)
	if c.last == nil || c.last.end() != p.end() || len(c.last.openParts()) != len(p.openParts()) {
		c.Loads++
	}
	c.last = p
	return p
}

// checkAlone holds one playlist against what needs no other.
func (c *Checker) checkAlone(p *Playlist) {
	if len(p.Segments) == 0 && p.Open == nil {
		c.Fail("a live playlist without segments")
		return
	}
	if p.TargetDuration < 1 {
		c.Fail("4.3.3.1: target duration %d", p.TargetDuration)
	}
	if p.MediaSequence >= 1<<53 {
		c.Fail("media sequence %d is beyond what a browser's numbers hold", p.MediaSequence)
	}
	need := 3
	for _, s := range p.Segments {
		if s.MapURI != "" {
			need = 6
		} else if strings.HasSuffix(s.URI, ".m4s") || strings.HasSuffix(s.URI, ".mp4") {
			c.Fail("4.3.2.5: segment %s has no map", s.URI)
		}
		if round := int(math.Round(s.Duration.Seconds())); round > p.TargetDuration {
			c.Fail("4.3.3.1: segment %s of %v is longer than the target duration %d", s.URI, s.Duration, p.TargetDuration)
		}
		if s.ProgramDateTime.IsZero() {
			c.Fail("segment %s has no program date", s.URI)
		}
		if s.Gap {
			c.Fail("segment %s is a gap", s.URI)
		}
	}
	if !p.Independent {
		c.Fail("4.3.5.1: segments are not said to be independent")
	}
	if p.Version < need {
		c.Fail("7: version %d, needs %d", p.Version, need)
	}
	if p.EndList {
		c.Fail("a live playlist ends")
	}
}

// checkSegments holds each segment against those before it.
func (c *Checker) checkSegments(p *Playlist) {
	for i, s := range p.Segments {
		before, known := c.segments[s.Sequence]
		if known && before.Entry != s.Entry {
			c.Fail("6.2.1: segment %d was %+v and is %+v", s.Sequence, before.Entry, s.Entry)
		}
		if sequence, known := c.names[s.URI]; known && sequence != s.Sequence {
			c.Fail("3: name %s is segment %d and was %d", s.URI, s.Sequence, sequence)
		}
		if len(s.Parts) == 0 {
			s.Parts = before.Parts
		}
		if i > 0 {
			c.checkSeam(p.Segments[i-1], s)
		}
		c.segments[s.Sequence] = s
		c.names[s.URI] = s.Sequence
	}
}

// checkSeam holds two segments in a row against each other.
func (c *Checker) checkSeam(before, s Segment) {
	if s.Discontinuity {
		if _, known := c.segments[s.Sequence]; !known && before.Duration < 500*time.Millisecond {
			c.Short++
		}
		return
	}
	if s.MapURI != before.MapURI {
		c.Fail("4.3.2.3: segment %d has another map without a discontinuity", s.Sequence)
	}
	drift := s.ProgramDateTime.Sub(before.ProgramDateTime) - before.Duration
	if drift.Abs() > max(before.Duration, 2*time.Second)/50+2*time.Millisecond {
		c.Fail("4.3.2.6: segment %d is %v off the program date of the one before and its duration", s.Sequence, drift)
	}
}

// muchLess reports whether a target is so much less that it begins a life of its own:
// what is listed fits into it, or it is a violation by itself.
func muchLess[T int | time.Duration](now, before T) bool { return 2*now <= before }

// checkAfter holds a load against the one before.
func (c *Checker) checkAfter(last, p *Playlist) {
	if p.MediaSequence < last.MediaSequence || p.end() < last.end() {
		c.Fail("6.2.2: media sequence went back from %d..%d to %d..%d", last.MediaSequence, last.end(), p.MediaSequence, p.end())
		return
	}
	disjoint := p.MediaSequence >= last.end()
	if p.PartTarget == 0 && p.TargetDuration != last.TargetDuration {
		if disjoint || muchLess(p.TargetDuration, last.TargetDuration) {
			c.Restarts++
		} else {
			c.Fail("6.2.1: target duration changed from %d to %d in the playlist's life", last.TargetDuration, p.TargetDuration)
		}
	}
	removed := uint64(0)
	for _, s := range last.Segments {
		if s.Sequence < p.MediaSequence {
			removed += uint64(s.Tags)
		}
	}
	if want := last.DiscontinuitySequence + removed; p.DiscontinuitySequence < want || !disjoint && p.DiscontinuitySequence != want {
		c.Fail("6.2.2: discontinuity sequence is %d, want %d: it was %d, and %d tags left", p.DiscontinuitySequence, want, last.DiscontinuitySequence, removed)
	}
	if p.MediaSequence > last.MediaSequence && !disjoint && p.duration() < 3*time.Duration(p.TargetDuration)*time.Second {
		c.Fail("6.2.2: a segment was removed, which left %v of three target durations of %d s", p.duration(), p.TargetDuration)
	}
}
