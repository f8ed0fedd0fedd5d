package hls

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/sample"
)

// A segmenter cuts a source's frames into segments. It belongs to its muxer's
// goroutine and owns a reference to each frame of the open segment.
type segmenter struct {
	source string
	config *Config
	log    *slog.Logger
	drops  *dropCounters
	held   *atomic.Int64

	periods *periods
	mixer   *atomic.Pointer[mixer] // where the sound goes, if it has a playlist of its own
	derived bool                   // this is that playlist's

	unplayable *atomic.Bool // set when pictures come that no player shows

	crowded func() bool // there is no number for another segment yet

	emit func(*segment) // takes over the segment's one reference

	// longest says how long a segment may become without ending the playlist's
	// life, by stretching a picture over a hole.
	longest func() time.Duration

	epoch    uint64
	begun    bool
	lead     trackState // cut by: video, or audio where there is no video
	follower trackState // audio beside video
	open     openSegment
	awaiting bool // nothing is taken until the next keyframe
	broken   bool // the next segment begins behind a discontinuity

	// From the source's timeline to media time. See place.
	shift    time.Duration
	placed   bool      // shift is of the current epoch
	turns    bool      // the open segment goes over to another period, though the picture goes on
	turnedAt time.Time // when a picture last did so for its own sake
	spoken   *media.Track
	tsMore   uint64 // discontinuities that there were in MPEG-TS alone

	sound  soundGate
	layout *layout // of the newest segment
	number uint32  // of fragments
	room   scratch

	// live says that parts are cut as they come, and not when their segment ends.
	live       bool
	fresh      bool // a part was cut that is not published yet
	pace       pace
	paceAt     int           // count of pace when the part target was last held against it
	partTarget time.Duration // 0 before the first part
	outgrownAt time.Time     // when a part was last too long for it
}

// trackState is what is known of a track in the current epoch.
type trackState struct {
	stream
	lastDTS int64
	step    int64 // ticks from one frame to the next, as last seen
	flowing bool  // the next frame will follow the last as frames do
}

type openSegment struct {
	active       bool
	lead, follow []*media.Frame
	bytes        int64

	// Once its first part is cut. Frames in parts belong to the segment.
	segment            *segment
	sound              bool // parts have sound
	cutLead, cutFollow int  // frames in parts
	cutEnd             int64
}

// push takes over an item's frame.
func (s *segmenter) push(item ring.Item) {
	f := item.Frame
	if !s.begun || f.Epoch != s.epoch {
		s.startEpoch(f.Epoch)
	}
	if !s.lead.present() && f.Entry && f.Track.Codec != media.CodecJPEG {
		s.lead = trackState{stream: stream{track: f.Track}}
	}
	if s.lead.present() && s.lead.track.Kind == media.KindAudio && f.Track.Kind == media.KindVideo && f.Entry && f.Track.Codec != media.CodecJPEG {
		// A picture after all, where every sound was said to be an entry.
		s.breakOff()
		s.lead, s.follower = trackState{stream: stream{track: f.Track}}, trackState{}
	}
	switch {
	case f.Track.Codec == media.CodecJPEG:
		s.unplayable.Store(true)
		s.drop(f, DropUnplayable)
	case s.tell(f):
		f.Release()
	case !s.lead.present():
		s.drop(f, DropAwaitingKeyframe)
	case f.Track == s.lead.track:
		s.pushLead(f, item.Missed)
	case f.Track.Kind == media.KindAudio && s.lead.track.Kind == media.KindVideo:
		s.pushFollower(f)
	default:
		s.drop(f, DropOtherTrack)
	}
}

func (s *segmenter) drop(f *media.Frame, reason DropReason) {
	s.drops.add(reason, 1)
	f.Release()
}

func (s *segmenter) startEpoch(epoch uint64) {
	s.breakOff()
	s.epoch, s.begun = epoch, true
	s.lead, s.follower = trackState{}, trackState{}
	s.awaiting, s.placed, s.spoken = false, false, nil
}

// breakOff ends the open segment where it stands; what comes does not go on
// from it.
func (s *segmenter) breakOff() {
	if s.open.active {
		s.close(s.lead.lastDTS+s.lead.step, false)
	}
	s.broken = true
	s.lead.flowing = false
}

func (s *segmenter) pushLead(f *media.Frame, missed uint64) {
	t := &s.lead
	if s.open.active && f.DTS <= t.lastDTS {
		s.drop(f, DropTimeBackwards)
		return
	}
	if !f.Entry {
		// A frame that needs others than those we have is of no use, nor is one
		// with parameter sets that the init segment lacks.
		s.awaiting = s.awaiting || f.Lost > 0 || !sample.SameParams(f.Params, t.params)
		if s.awaiting || !s.open.active {
			t.flowing = false
			s.drop(f, DropAwaitingKeyframe)
			return
		}
		s.appendLead(f)
		return
	}
	s.awaiting = false
	t.flowing = t.flowing && f.Lost == 0 && missed == 0
	if s.open.active {
		switch elapsed := f.Track.Duration(f.DTS - s.open.lead[0].DTS); {
		case !sample.SameParams(f.Params, t.params):
			s.close(f.DTS, false)
			s.broken = true
		case (missed > 0 || f.Lost > 0) && s.isHole(f, elapsed, missed):
			s.breakOff()
		case s.isGapInParts(f):
			s.breakOff()
		case elapsed >= s.config.SegmentDuration-cutTolerance(s.config.SegmentDuration):
			s.close(f.DTS, true)
		}
	}
	if !s.open.active {
		s.open.active = true
		t.params = f.Params
		s.place(f)
	}
	s.appendLead(f)
}

// cutTolerance lets a keyframe that comes a little early, by jitter, be the one
// at which a segment ends: else it would be twice as long.
func cutTolerance(d time.Duration) time.Duration { return d / 20 }

// isHole reports whether what is missing before f is more than the picture
// before it can stand for.
func (s *segmenter) isHole(f *media.Frame, elapsed time.Duration, missed uint64) bool {
	gap := f.DTS - s.lead.lastDTS
	if gap*2 <= s.lead.step*3 {
		return false // not even one frame
	}
	return missed > 0 || f.Track.Duration(gap) > s.config.SegmentDuration || elapsed > s.longest()
}

func (s *segmenter) appendLead(f *media.Frame) {
	t := &s.lead
	if len(s.open.lead) > 0 && f.Lost == 0 {
		t.step = f.DTS - t.lastDTS
	}
	if t.flowing {
		s.pace.add(f.DTS - t.lastDTS)
	}
	t.lastDTS, t.flowing = f.DTS, true
	if s.tooLarge(f) {
		s.abandon(DropOversize)
		s.drop(f, DropOversize)
		return
	}
	if s.live {
		s.cutLive(len(s.open.lead), f.DTS)
	}
	if !s.open.active {
		s.drop(f, DropParameters) // they cannot be written, as was seen only now
		return
	}
	s.open.lead = append(s.open.lead, f)
	s.hold(f)
}

func (s *segmenter) hold(f *media.Frame) {
	n := int64(len(f.Payload()))
	s.open.bytes += n
	s.held.Add(n)
}

func (s *segmenter) tooLarge(f *media.Frame) bool {
	if s.open.bytes+int64(len(f.Payload())) > s.config.MaxSegmentBytes {
		return true
	}
	return len(s.open.lead) > 0 && f.Track.Duration(f.DTS-s.open.lead[0].DTS) > s.config.MaxSegmentDuration
}

// abandon drops the open segment, but for the parts that viewers have been told
// of. Nothing is taken until the next keyframe.
func (s *segmenter) abandon(reason DropReason) {
	lead, follow := s.open.lead[s.open.cutLead:], s.open.follow[s.open.cutFollow:]
	s.drops.add(reason, len(lead)+len(follow))
	for _, frames := range [...][]*media.Frame{lead, follow} {
		n := payloadBytes(frames)
		s.open.bytes -= n
		s.held.Add(-n)
		releaseFrames(frames)
	}
	if s.open.segment != nil {
		s.finish()
	} else {
		s.reset()
	}
	s.broken = true
	s.lead.flowing = false
}

func (s *segmenter) reset() {
	clear(s.open.lead)
	clear(s.open.follow)
	s.open = openSegment{lead: s.open.lead[:0], follow: s.open.follow[:0]}
}

func (s *segmenter) pushFollower(f *media.Frame) {
	t := &s.follower
	if !s.open.active {
		s.drop(f, DropAwaitingKeyframe)
		return
	}
	if t.present() && f.Track != t.track {
		s.drop(f, DropOtherTrack)
		return
	}
	if !t.present() || len(s.open.follow) == 0 {
		candidate := stream{track: f.Track, params: f.Params}
		if _, err := sample.NewSound(candidate.track, candidate.params); err != nil {
			s.drop(f, DropParameters)
			return
		}
		if !t.present() {
			t.lastDTS = f.DTS - 1
		}
		t.stream = candidate
	}
	first := s.open.lead[0]
	into := f.Track.Duration(f.PTS) - first.Track.Duration(first.PTS)
	switch {
	case f.DTS <= t.lastDTS:
		s.drop(f, DropTimeBackwards)
	case !sample.SameParams(f.Params, t.params), len(f.Payload()) == 0, len(f.Payload()) > mostSoundBytes(f.Params):
		s.drop(f, DropParameters)
	case into < 0 && (s.broken || s.layout == nil):
		s.drop(f, DropAwaitingKeyframe) // sound before the first picture
	case into > s.config.MaxSegmentDuration, s.open.bytes+int64(len(f.Payload())) > s.config.MaxSegmentBytes:
		s.drop(f, DropOversize) // sound goes on where the picture stands
	default:
		t.lastDTS = f.DTS
		s.open.follow = append(s.open.follow, f)
		s.hold(f)
	}
}

// end releases what is open.
func (s *segmenter) end() {
	if !s.open.active {
		return
	}
	releaseFrames(s.open.lead[s.open.cutLead:])
	releaseFrames(s.open.follow[s.open.cutFollow:])
	if seg := s.open.segment; seg != nil {
		s.open.bytes -= seg.object.size
		seg.release()
	}
	s.held.Add(-s.open.bytes)
	s.reset()
}

// openDuration is how long the open segment is so far.
func (s *segmenter) openDuration() time.Duration {
	if !s.open.active || len(s.open.lead) == 0 {
		return 0
	}
	return s.lead.track.Duration(s.lead.lastDTS - s.open.lead[0].DTS)
}
