package hls

import (
	"time"

	"github.com/drover-video/drover/core/media"
)

// Where a picture is not followed for so long, what comes is not a part that is
// longer but a new beginning, if a keyframe is there for it.
const (
	gapSteps = 4
	gapTime  = time.Second
)

// How long the first part behind a break waits for sound.
const (
	soundPatience = 600 * time.Millisecond
	soundReturns  = 1500 * time.Millisecond // where there was sound before the break
	soundFresh    = time.Second             // sound heard so long ago will go on
)

// isGapInParts reports whether the keyframe f comes so late that the picture
// before it cannot last until then, while parts are cut as they come.
func (s *segmenter) isGapInParts(f *media.Frame) bool {
	if !s.live && s.open.segment == nil {
		return false
	}
	gap := f.DTS - s.lead.lastDTS
	if !s.lead.flowing && gap*2 > s.lead.step*3 {
		s.leastPart()
		first := s.open.lead[min(s.open.cutLead, len(s.open.lead)-1)]
		return f.Track.Duration(f.DTS-first.DTS) > s.partTarget
	}
	return gap > gapSteps*s.lead.step && f.Track.Duration(gap) > gapTime
}

// cutLive cuts what is complete of the first n frames of the open segment, of
// which the last lasts until endDTS.
func (s *segmenter) cutLive(n int, endDTS int64) {
	if n <= s.open.cutLead {
		return
	}
	if s.open.segment == nil {
		first := s.open.lead[0]
		elapsed := first.Track.Duration(endDTS - first.DTS)
		if elapsed < s.leastPart() || !s.soundIsClear(elapsed) {
			return
		}
		audio, _ := s.sound.foresee(s.heard(endDTS), s.broken || s.layout == nil)
		if !s.begin(audio) {
			return
		}
	}
	s.cut(n, endDTS, false)
}

// soundIsClear reports whether a segment's first part can be cut: behind a break
// sound may be a little late, and could not join in later without another break.
func (s *segmenter) soundIsClear(elapsed time.Duration) bool {
	if !s.broken && s.layout != nil || s.apart() || s.lead.track.Kind == media.KindAudio || len(s.open.follow) > 0 {
		return true
	}
	switch {
	case s.layout == nil:
		return elapsed >= soundPatience
	case s.layout.audio.present():
		return elapsed >= soundReturns
	default:
		return true
	}
}

// heard reports whether there is sound beside the picture.
func (s *segmenter) heard(endDTS int64) bool {
	if s.lead.track.Kind == media.KindAudio {
		return false
	}
	if len(s.open.follow) > 0 {
		return true
	}
	t := &s.follower
	return t.present() && s.lead.track.Duration(endDTS)-t.track.Duration(t.lastDTS) < soundFresh
}

// leastPart is how long a part lasts at least. A part target is chosen if there is
// none.
func (s *segmenter) leastPart() time.Duration {
	if s.partTarget == 0 {
		s.partTarget = s.pace.partTarget(s.lead.track, s.config.PartDuration, 0)
	}
	return s.partTarget * partFloor / 100
}

// cut makes parts of those of the first n frames that are in none, the last of
// them lasting until endDTS. What is left and too short for a part stays open,
// unless the segment ends.
func (s *segmenter) cut(n int, endDTS int64, ends bool) {
	target := s.plan(n, endDTS, ends)
	cuts := s.room.cuts
	if len(cuts) == 0 {
		return
	}
	seg := s.open.segment
	before := seg.object.size
	seg.appendParts(cuts, s.open.lead, s.open.follow, s.number+1, &s.room)
	seg.partTarget = target
	s.number += uint32(len(cuts))
	newest := cuts[len(cuts)-1]
	s.open.cutLead, s.open.cutFollow, s.open.cutEnd = newest.lead[1], newest.follow[1], newest.endDTS
	heads := seg.object.size - before
	for _, p := range seg.parts[len(seg.parts)-len(cuts):] {
		heads -= p.body.size - int64(len(p.body.slices[0]))
	}
	s.open.bytes += heads
	s.held.Add(heads)
	s.fresh = true
}

// plan finds where to cut, and returns the part target that it goes by. Where a
// part would last longer than the target, the target has had its day.
func (s *segmenter) plan(n int, endDTS int64, ends bool) (target time.Duration) {
	s.leastPart()
	target = s.partTarget
	if s.open.segment.parts == nil && s.pace.count-s.paceAt >= paceSteps/2 {
		s.paceAt = s.pace.count
		fits := s.pace.partTarget(s.lead.track, s.config.PartDuration, 0)
		if s.live && 2*fits <= target && s.config.Now().Sub(s.outgrownAt) >= partCalm || !s.live && (fits > target || fits < target*3/4) {
			s.partTarget, target = fits, fits // else it follows the frames: nobody has been told one
		}
	}
	for seam := false; ; seam = true {
		longest := s.planWith(n, endDTS, ends, target, seam)
		if longest <= target {
			return target
		}
		target = s.pace.partTarget(s.lead.track, s.config.PartDuration, longest)
		s.outgrownAt = s.config.Now()
		if s.live {
			s.partTarget = target // else it is a picture stretched over a hole, and the affair of this segment
		}
	}
}

// planWith finds where to cut with that part target, and returns how long the
// longest part would be. At a seam of two targets a picture that is longer than
// the old one has a part for itself, so that the new one need not be longer than
// such pictures are.
func (s *segmenter) planWith(n int, endDTS int64, ends bool, target time.Duration, seam bool) (longest time.Duration) {
	least := target * partFloor / 100
	sounds := s.open.cutFollow
	s.room.cuts = s.room.cuts[:0]
	for from := s.open.cutLead; from < n; {
		to, duration := from+1, s.lasts(from, from+1, n, endDTS)
		for to < n && duration < least {
			to++
			duration = s.lasts(from, to, n, endDTS)
		}
		if duration < least && !ends {
			return longest
		}
		if last := s.lasts(to-1, to, n, endDTS); duration > target && to-from > 1 && (seam || last > target) {
			to--
			duration = s.lasts(from, to, n, endDTS)
		}
		longest = max(longest, duration)
		c := cut{lead: [2]int{from, to}, follow: [2]int{sounds, sounds}, endDTS: endDTS}
		if to < n {
			c.endDTS = s.open.lead[to].DTS
		}
		if s.open.sound {
			c.follow[1] = s.soundUntil(sounds, c.endDTS, ends && to == n)
		}
		s.room.cuts = append(s.room.cuts, c)
		from, sounds = to, c.follow[1]
	}
	return longest
}

// lasts is how long frames of the open segment last, of which there are n until
// endDTS.
func (s *segmenter) lasts(from, to, n int, endDTS int64) time.Duration {
	if to < n {
		endDTS = s.open.lead[to].DTS
	}
	return s.lead.track.Duration(endDTS - s.open.lead[from].DTS)
}

// soundUntil returns how much of the sound belongs to a part that ends there, or
// all where the segment ends with it.
func (s *segmenter) soundUntil(from int, endDTS int64, all bool) int {
	follow := s.open.follow
	if all {
		return len(follow)
	}
	end := s.lead.track.Duration(endDTS)
	for from < len(follow) && follow[from].Track.Duration(follow[from].DTS) < end {
		from++
	}
	return from
}
