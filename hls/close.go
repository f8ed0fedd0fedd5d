package hls

import (
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
)

// close ends the open segment. The leading track's last frame lasts until endDTS;
// goesOn says that its next frame is there.
func (s *segmenter) close(endDTS int64, goesOn bool) {
	first := s.open.lead[0]
	duration := first.Track.Duration(endDTS - first.DTS)
	if !goesOn && duration < minSegment && s.open.segment == nil {
		s.abandon(DropShort)
		return
	}
	if !goesOn {
		s.trimFollower(first, duration)
	}
	if s.open.segment == nil {
		audio, _ := s.sound.decide(s.coverage(duration), s.broken || s.layout == nil)
		if !s.begin(audio) {
			return
		}
	} else {
		s.sound.note(s.coverage(duration))
	}
	if !s.open.sound {
		s.dropFollower()
	}
	s.cut(len(s.open.lead), endDTS, true)
	s.finish()
}

// begin makes the segment that the open frames become part of.
func (s *segmenter) begin(audio bool) bool {
	if s.crowded() {
		s.abandon(DropCrowded)
		return false
	}
	l, err := s.layoutOf(audio)
	if err != nil {
		s.log.Warn("codec parameters cannot be written", "source", s.source, "err", err)
		s.abandon(DropParameters)
		return false
	}
	seg := &segment{held: s.held, files: s.config.Files, layout: l, wall: s.open.lead[0].Wall, shift: s.shift}
	// Where sound has a playlist of its own, that it comes or goes is no matter of
	// the pictures'.
	first := s.layout == nil
	breaks := first || s.broken || s.turns || l.init.hash != s.layout.init.hash
	seg.period, seg.tags = s.periods.join(s.source, breaks, first)
	if seg.tsOnly = seg.tags == 0 && l != s.layout; seg.tsOnly {
		s.tsMore++
		s.periods.note(seg.period + s.tsMore)
	}
	seg.tsMore = s.tsMore
	seg.refs.Store(1)
	s.open.segment, s.open.sound = seg, audio
	s.layout = l
	return true
}

// finish gives away the open segment as far as it is cut into parts. What is not
// is let go of.
func (s *segmenter) finish() {
	seg, first := s.open.segment, s.open.lead[0]
	seg.duration = first.Track.Duration(s.open.cutEnd - first.DTS)
	s.held.Add(seg.object.size - s.open.bytes)
	s.broken, s.turns = false, false
	s.reset()
	s.emit(seg)
}

// layoutOf returns the layout of the open segment, the last one if nothing has
// changed.
func (s *segmenter) layoutOf(audio bool) (*layout, error) {
	video, sound := s.lead.stream, stream{}
	if video.track.Kind == media.KindAudio {
		video, sound = stream{}, video
	} else if audio {
		sound = s.follower.stream
	}
	apart := s.apart()
	if l := s.layout; l != nil && l.video.same(video) && l.audio.same(sound) && (l.muxed == !apart || !sound.present() || !video.present()) {
		return l, nil
	}
	return newLayout(s.source, video, sound, apart)
}

// trimFollower drops sound that is beyond the end, where what follows does not
// go on from it: players would lay the two over each other.
func (s *segmenter) trimFollower(first *media.Frame, duration time.Duration) {
	end := first.Track.Duration(first.PTS) + duration
	for n := len(s.open.follow); n > s.open.cutFollow; n-- {
		f := s.open.follow[n-1]
		if f.Track.Duration(f.PTS) < end {
			return
		}
		s.letGo(f)
		s.open.follow = s.open.follow[:n-1]
	}
}

func (s *segmenter) dropFollower() {
	rest := s.open.follow[s.open.cutFollow:]
	for _, f := range rest {
		s.letGo(f)
	}
	clear(rest)
	s.open.follow = s.open.follow[:s.open.cutFollow]
}

func (s *segmenter) letGo(f *media.Frame) {
	n := int64(len(f.Payload()))
	s.open.bytes -= n
	s.held.Add(-n)
	s.drop(f, DropAudioUncertain)
}

// coverage is how much of the open segment has sound, from 0 to about 1.
func (s *segmenter) coverage(duration time.Duration) float64 {
	if len(s.open.follow) == 0 || duration <= 0 {
		return 0
	}
	codec, err := sample.NewSound(s.follower.track, s.follower.params)
	if err != nil {
		return 0
	}
	ticks := int64(0)
	for _, f := range s.open.follow {
		ticks += codec.Ticks(f.Payload())
	}
	return float64(s.follower.track.Duration(ticks)) / float64(duration)
}

// A soundGate decides whether a segment has sound. A player cannot play a
// segment whose init segment promises sound that is not there, and takes every
// change of tracks hard; so sound that comes late or goes must cost one change.
type soundGate struct {
	on   bool
	full int // segments in a row with sound all through, while off
}

// Shares of a segment that have sound.
const (
	coverageAtStart = 0.25 // of the first segment behind a break: sound begins a little late
	coverageFull    = 0.9
	fullSegments    = 2 // before sound joins in mid-stream
)

// decide takes how much of a segment has sound and whether it begins behind a
// break, and returns whether to write sound, and whether that is a change.
func (g *soundGate) decide(coverage float64, broken bool) (on, change bool) {
	was := g.on
	switch {
	case coverage == 0:
		g.on = false
	case g.on:
	case broken && coverage >= coverageAtStart:
		g.on = true
	}
	g.count(coverage)
	g.on = g.on || g.full >= fullSegments
	return g.on, g.on != was && !broken
}

// count counts segments that have sound which is not written.
func (g *soundGate) count(coverage float64) {
	if g.on || coverage < coverageFull {
		g.full = 0
	} else {
		g.full++
	}
}

// foresee decides ahead of a segment's first part. heard says that there is
// sound, or was a moment ago.
func (g *soundGate) foresee(heard, broken bool) (on, change bool) {
	was := g.on
	g.on = heard && (g.on || broken || g.full >= fullSegments)
	return g.on, g.on != was && !broken
}

// note takes how much sound came in a segment that was decided ahead.
func (g *soundGate) note(coverage float64) {
	if coverage == 0 {
		g.on = false
	}
	g.count(coverage)
}
