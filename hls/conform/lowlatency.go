package conform

import (
	"fmt"
	"math"
	"time"
)

// grain is what a duration may be off by being written with few digits.
const grain = 10 * time.Microsecond

// openParts are the parts behind the last segment.
func (p *Playlist) openParts() []Part {
	if p.Open == nil {
		return nil
	}
	return p.Open.Parts
}

// withOpen are all segments, and the one being made if it has parts.
func (p *Playlist) withOpen() []Segment {
	if p.Open == nil {
		return p.Segments
	}
	return append(p.Segments[:len(p.Segments):len(p.Segments)], *p.Open)
}

// target is the target duration.
func (p *Playlist) target() time.Duration { return time.Duration(p.TargetDuration) * time.Second }

// unskip puts into a delta update what it leaves out, as a player does.
func (c *Checker) unskip(p *Playlist) bool {
	if p.Version < 9 {
		c.Fail("8: version %d, EXT-X-SKIP needs 9", p.Version)
	}
	if p.Control == nil || p.Control.CanSkipUntil == 0 {
		c.Fail("6.2.5.1: a delta update where CAN-SKIP-UNTIL promises none")
		return false
	}
	left := p.duration() + partsTime(p.openParts())
	if left < p.Control.CanSkipUntil {
		c.Fail("6.2.5.1: a delta update leaves %v, which is less than the skip boundary of %v", left, p.Control.CanSkipUntil)
	}
	if p.Skipped > len(c.segments) {
		c.Fail("6.2.5.1: a delta update leaves %d segments out, of %d that are known", p.Skipped, len(c.segments))
		return false
	}
	skipped := make([]Segment, p.Skipped)
	for i := range skipped {
		s, known := c.segments[p.MediaSequence+uint64(i)]
		if !known {
			c.Fail("6.2.5.1: a delta update leaves segment %d out, which was in no playlist before", p.MediaSequence+uint64(i))
			return false
		}
		s.Parts = nil
		skipped[i] = s
	}
	// What is in force behind the skipped ones.
	timeline, mapURI := p.DiscontinuitySequence, skipped[len(skipped)-1].MapURI
	for _, s := range skipped {
		timeline += uint64(s.Tags)
	}
	inherit := func(s *Segment) {
		s.Timeline += timeline - p.DiscontinuitySequence
		if s.MapURI == "" {
			s.MapURI = mapURI
		}
	}
	for i := range p.Segments {
		inherit(&p.Segments[i])
	}
	if p.Open != nil {
		inherit(p.Open)
	}
	p.Segments = append(skipped, p.Segments...)
	p.Skipped = 0
	return true
}

// checkLowLatency holds one playlist with parts against what needs no other.
func (c *Checker) checkLowLatency(p *Playlist) {
	parts := 0
	for _, s := range p.withOpen() {
		parts += len(s.Parts)
	}
	if p.PartTarget == 0 {
		if parts > 0 || p.hints > 0 {
			c.Fail("4.4.3.7: parts or a hint without EXT-X-PART-INF")
		}
		return
	}
	c.checkControl(p)
	for _, line := range p.lateTags {
		c.Fail("4.4.4.9: %s stands behind the first part of its segment", line)
	}
	if p.hints != 1 {
		c.Fail("4.4.5.3: %d hints", p.hints)
	}
	for _, s := range p.Segments {
		if len(s.Parts) > 0 && (partsTime(s.Parts)-s.Duration).Abs() > grain*time.Duration(len(s.Parts)+1) {
			c.Fail("3: the parts of segment %d last %v, the segment %v", s.Sequence, partsTime(s.Parts), s.Duration)
		}
	}
	if open := partsTime(p.openParts()); int(math.Round(open.Seconds())) > p.TargetDuration {
		c.Fail("4.3.3.1: the parts of segment %d last %v already, longer than the target duration %d", p.end(), open, p.TargetDuration)
	}
	if p.Open != nil && p.Open.MapURI == "" {
		c.Fail("4.3.2.5: part %s has no map", p.Open.Parts[0].URI)
	}
}

func (c *Checker) checkControl(p *Playlist) {
	if p.Control == nil {
		c.Fail("4.4.3.8: parts without EXT-X-SERVER-CONTROL")
		return
	}
	if !p.Control.CanBlockReload {
		c.Fail("6.2.5.2: CAN-BLOCK-RELOAD is not said")
	}
	if p.Control.PartHoldBack < 3*p.PartTarget-grain {
		c.Fail("4.4.3.8: PART-HOLD-BACK %v is less than three parts of %v", p.Control.PartHoldBack, p.PartTarget)
	}
	if p.Control.HoldBack != 0 && p.Control.HoldBack < 3*p.target() {
		c.Fail("4.4.3.8: HOLD-BACK %v is less than three target durations of %v", p.Control.HoldBack, p.target())
	}
	if skip := p.Control.CanSkipUntil; skip != 0 && skip < 6*p.target() {
		c.Fail("4.4.3.8: CAN-SKIP-UNTIL %v is less than six target durations of %v", skip, p.target())
	}
}

// checkListed sees whether parts are listed as long as they should be, and not
// much longer.
func (c *Checker) checkListed(p *Playlist) {
	if p.PartTarget == 0 {
		return
	}
	rest := partsTime(p.openParts())
	for i := len(p.Segments) - 1; i >= 0; i-- {
		s := p.Segments[i]
		known := c.segments[s.Sequence]
		seen := len(known.Parts) > 0 || c.last != nil && s.Sequence >= c.last.end()
		if len(s.Parts) == 0 && seen && rest <= 3*p.target() && !c.old[place{s.Sequence, 0}] {
			c.Fail("6.2.2: segment %d ends %v before the playlist, and its parts are not listed", s.Sequence, rest)
		}
		if len(s.Parts) > 0 && rest > 3*p.target()+grain*100 {
			c.Fail("6.2.2: parts of segment %d are listed, which ends %v before the playlist", s.Sequence, rest)
		}
		rest += s.Duration
	}
}

// checkParts holds each part against what it was, and the playlist against the
// one before as far as parts go.
func (c *Checker) checkParts(p *Playlist) {
	if p.PartTarget == 0 {
		return
	}
	fresh := c.freshParts(p)
	c.checkLife(p, fresh)
	for _, at := range fresh {
		part := c.parts[at]
		if part.Duration > p.PartTarget+grain {
			c.Fail("4.4.4.9: part %s of %v is longer than the part target %v", part.URI, part.Duration, p.PartTarget)
		}
	}
	for _, s := range p.withOpen() {
		for i, part := range s.Parts {
			final := s.URI != "" && i == len(s.Parts)-1
			newest := s.URI == "" && i == len(s.Parts)-1 // it may turn out to be the last
			if !final && !newest && !c.old[place{s.Sequence, i}] && part.Duration+grain < p.PartTarget*85/100 {
				c.Fail("4.4.4.9: part %s of %v is shorter than 85 %% of the part target %v", part.URI, part.Duration, p.PartTarget)
			}
			if i == 0 && !part.Independent {
				c.Fail("4.3.5.1: part %s begins a segment and is not independent", part.URI)
			}
		}
	}
	c.checkHint(p, fresh)
	c.checkReports(p)
}

// freshParts notes the parts that were not in a playlist before.
func (c *Checker) freshParts(p *Playlist) (fresh []place) {
	for _, s := range p.withOpen() {
		known := c.segments[s.Sequence].Parts
		if s.URI != "" && len(s.Parts) > 0 && len(known) > len(s.Parts) {
			c.Fail("6.2.1: segment %d had %d parts and has %d", s.Sequence, len(known), len(s.Parts))
		}
		for i, part := range s.Parts {
			at := place{s.Sequence, i}
			before, known := c.parts[at]
			if known && before != part {
				c.Fail("6.2.1: part %d of segment %d was %+v and is %+v", i, s.Sequence, before, part)
			}
			if other, known := c.where[part.URI]; known && other != at {
				c.Fail("3: name %s is part %d of segment %d and was part %d of %d", part.URI, i, s.Sequence, other.part, other.sequence)
			}
			if !known {
				fresh = append(fresh, at)
			}
			c.parts[at], c.where[part.URI] = part, at
		}
		if last := c.last; last != nil && last.Open != nil && last.Open.Sequence == s.Sequence && len(s.Parts) < len(last.Open.Parts) && !muchLess(p.PartTarget, last.PartTarget) {
			c.Fail("6.2.1: segment %d had %d parts and has %d", s.Sequence, len(last.Open.Parts), len(s.Parts))
		}
	}
	return fresh
}

// checkLife sees whether targets change without need. A life of a playlist with
// parts ends where a segment or part has outgrown its target, in mid-segment, or where
// much less is enough.
func (c *Checker) checkLife(p *Playlist, fresh []place) {
	last := c.last
	if last == nil || p.TargetDuration == last.TargetDuration && p.PartTarget == last.PartTarget {
		if last != nil && *p.Control != *last.Control {
			c.Fail("6.2.1: EXT-X-SERVER-CONTROL was %+v and is %+v", *last.Control, *p.Control)
		}
		return
	}
	longest, longestPart := time.Duration(0), time.Duration(0)
	for _, s := range p.Segments {
		longest = max(longest, s.Duration)
	}
	longest = max(longest, partsTime(p.openParts()))
	for _, at := range fresh {
		longestPart = max(longestPart, c.parts[at].Duration)
	}
	outgrown := int(math.Round(longest.Seconds())) > last.TargetDuration
	if !outgrown && c.Outgrown != nil && p.TargetDuration > last.TargetDuration {
		c.Outgrown(p.TargetDuration)
		outgrown = true
	}
	if p.TargetDuration != last.TargetDuration && !muchLess(p.TargetDuration, last.TargetDuration) && (p.TargetDuration < last.TargetDuration || !outgrown) {
		c.Fail("6.2.1: target duration changed from %d to %d in the playlist's life", last.TargetDuration, p.TargetDuration)
		return
	}
	if p.PartTarget != last.PartTarget && !muchLess(p.PartTarget, last.PartTarget) && (p.PartTarget < last.PartTarget || longestPart <= last.PartTarget) {
		c.Fail("4.4.3.7: the part target changed from %v to %v in the playlist's life", last.PartTarget, p.PartTarget)
		return
	}
	c.Restarts++
	if p.PartTarget != last.PartTarget {
		for at := range c.parts { // those at the seam too
			c.old[at] = true
		}
	}
}

// checkHint sees whether the part that came is the one that was hinted at.
func (c *Checker) checkHint(p *Playlist, fresh []place) {
	if at, known := c.where[p.Hint]; known {
		c.Fail("4.4.5.3: the hint %s is part %d of segment %d, which is there", p.Hint, at.part, at.sequence)
	}
	if c.last == nil || len(fresh) == 0 || c.last.Hint == "" || c.last.PartTarget == 0 {
		return
	}
	if came := c.parts[fresh[0]]; came.URI != c.last.Hint && fresh[0].sequence >= c.last.end() {
		c.Fail("4.4.5.3: the hint was %s, and %s came", c.last.Hint, came.URI)
	}
}

func (c *Checker) checkReports(p *Playlist) {
	for i, r := range p.Reports {
		for _, other := range p.Reports[:i] {
			if other.URI == r.URI {
				c.Fail("4.4.5.4: two reports of %s", r.URI)
			}
		}
		if r.LastPart < 0 {
			c.Fail("4.4.5.4: the report of %s names no part", r.URI)
		}
		if c.last == nil {
			continue
		}
		for _, before := range c.last.Reports {
			if before.URI == r.URI && (r.LastMSN < before.LastMSN || r.LastMSN == before.LastMSN && r.LastPart < before.LastPart) {
				c.Fail("4.4.5.4: the report of %s went back from %s to %s", r.URI, before.at(), r.at())
			}
		}
	}
}

func (r RenditionReport) at() string { return fmt.Sprintf("%d.%d", r.LastMSN, r.LastPart) }
