package hls

import (
	"time"

	"github.com/drover-video/drover/core/media"
)

// How far a source's media times may be from the time of day, as it is known now,
// before they are put right by a new period. A source alone is in no hurry, but for
// the first time: a camera's first report may move the time of day by seconds, and
// what workers saw is shown by it.
const (
	mostAstray    = 300 * time.Millisecond
	turnRest      = 20 * time.Second // from one such to the next, where there are others to agree with
	turnRestAlone = 10 * time.Minute
)

// place says where on the camera's timeline the segment lies that begins with f:
// by the time of day where it does not go on from the one before, for that is
// what sources have in common. What goes on from another stays where it is, so
// that no two pictures are put one over the other.
func (s *segmenter) place(f *media.Frame) {
	if s.placed && s.periods.due(s.source, s.derived) {
		s.turns = true
	}
	if s.placed && !s.derived && s.astray(f) {
		s.turns = true
		s.turnedAt = s.config.Now()
	}
	if s.placed && !s.broken && !s.turns && s.layout != nil {
		return
	}
	s.shift = s.periods.shift(f.Wall, f.Track.Duration(f.PTS))
	s.placed = true
}

// astray reports whether the time of day has moved away under the source, as it
// does where a camera's reports come to be known.
func (s *segmenter) astray(f *media.Frame) bool {
	rest := turnRestAlone
	if s.apart() {
		rest = turnRest
	}
	at := s.periods.wall(s.mediaTime(f))
	return f.Wall.Sub(at).Abs() > mostAstray && s.config.Now().Sub(s.turnedAt) > rest
}

// mediaTime is when a frame is shown or heard, on the camera's timeline.
func (s *segmenter) mediaTime(f *media.Frame) time.Duration {
	return f.Track.Duration(f.PTS) + s.shift
}

// apart reports whether the camera's sound has a playlist of its own.
func (s *segmenter) apart() bool { return !s.derived && s.mixer.Load() != nil }

// tell tells the mixer of a frame. It reports whether that is all the frame is good
// for: sound, where no segment of this source has it.
func (s *segmenter) tell(f *media.Frame) (done bool) {
	if s.derived || !s.lead.present() {
		return false
	}
	mixer := s.mixer.Load()
	if mixer == nil {
		return false
	}
	if f.Track.Kind == media.KindVideo {
		if s.placed && f.Track == s.lead.track {
			mixer.see(s.source, s.mediaTime(f))
		}
		return false
	}
	if s.spoken == nil {
		s.spoken = f.Track
	}
	if s.placed && f.Track == s.spoken {
		mixer.hear(s.source, f, s.mediaTime(f))
	}
	if s.lead.track.Kind == media.KindAudio {
		return false
	}
	return s.lead.track.Codec != media.CodecH264 || f.Track.Codec != media.CodecAAC
}
