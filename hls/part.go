package hls

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
)

// A part is a fragment of a segment, and a sub-range of its bytes. It is
// immutable, and its bytes are there while its segment has a reference.
type part struct {
	segment     *segment
	body        body
	duration    time.Duration
	independent bool // it begins with a keyframe

	sent atomic.Pointer[object]
}

// object returns the part with its headers, which are made when it is first
// asked for. The caller holds a reference to the segment.
func (p *part) object(name string) *object {
	if o := p.sent.Load(); o != nil {
		return o
	}
	o := newObject(p.body, name)
	o.promotion = newPromotion(p.segment.files, p.segment.held, o.size)
	p.sent.CompareAndSwap(nil, &o)
	return p.sent.Load()
}

// A cut is which frames of the open segment become a part.
type cut struct {
	lead, follow [2]int // from, to
	endDTS       int64  // of the leading track
}

// appendParts writes the headers of new parts and strings the frames' buffers up
// behind them. The frames are the segment's from here on.
func (s *segment) appendParts(cuts []cut, lead, follow []*media.Frame, number uint32, room *scratch) {
	video := s.layout.video.present()
	room.heads, room.ends, room.slices = room.heads[:0], room.ends[:0], room.slices[:0]
	for _, c := range cuts {
		room.runs = room.runs[:0]
		frames := lead[c.lead[0]:c.lead[1]]
		room.lead = appendSamples(room.lead[:0], frames, c.endDTS)
		room.runs = append(room.runs, run(trackID(video), frames[0], s.shift, room.lead))
		if frames := follow[c.follow[0]:c.follow[1]]; len(frames) > 0 && s.layout.muxed {
			last := frames[len(frames)-1]
			end := last.DTS + s.layout.sound.Ticks(last.Payload())
			if c.follow[1] < len(follow) {
				end = follow[c.follow[1]].DTS
			}
			room.follow = appendSamples(room.follow[:0], frames, end)
			room.runs = append(room.runs, run(sample.AudioTrackID, frames[0], s.shift, room.follow))
		}
		s.bridgeSound(room)
		room.heads = fmp4.AppendFragment(room.heads, number, room.runs)
		room.ends = append(room.ends, len(room.heads))
		number++
	}
	heads := append(make([]byte, 0, len(room.heads)), room.heads...)
	parts := make([]part, len(cuts))
	for i, c := range cuts {
		from := 0
		if i > 0 {
			from = room.ends[i-1]
		}
		// The body of one part is not joined with that of another.
		b := body{slices: room.slices[len(room.slices):]}
		b.append(heads[from:room.ends[i]:room.ends[i]])
		for _, f := range lead[c.lead[0]:c.lead[1]] {
			b.append(f.Payload())
		}
		if s.layout.muxed {
			for _, f := range follow[c.follow[0]:c.follow[1]] {
				b.append(f.Payload())
			}
		}
		first := lead[c.lead[0]]
		parts[i] = part{segment: s, body: b, duration: first.Track.Duration(c.endDTS - first.DTS), independent: first.Keyframe}
		room.slices = append(room.slices, b.slices...)
		room.counts = append(room.counts[:i], len(b.slices))
	}
	pieces := append(make([][]byte, 0, len(room.slices)), room.slices...)
	clear(room.slices)
	if s.object.slices == nil {
		s.object.slices = pieces
	} else {
		s.object.slices = append(s.object.slices, pieces...)
	}
	s.parts = slices.Grow(s.parts, len(parts))
	for i := range parts {
		n := room.counts[i]
		parts[i].body.slices = pieces[:n:n]
		pieces = pieces[n:]
		s.object.size += parts[i].body.size
		s.parts = append(s.parts, &parts[i])
	}
	newest := cuts[len(cuts)-1]
	frames := lead[cuts[0].lead[0]:newest.lead[1]]
	if video {
		s.video = append(s.video, frames...)
		s.audio = append(s.audio, follow[cuts[0].follow[0]:newest.follow[1]]...)
	} else {
		s.audio = append(s.audio, frames...)
	}
}

// bridgeSound lets the sound of a part begin where that of the part before it
// ended, if the camera has lost some in between: RFC 8216 3 has no holes, and a
// player that finds one stands still before it. Of a frame within a part, its
// duration does so.
func (s *segment) bridgeSound(room *scratch) {
	if s.tags > 0 && s.parts == nil && len(room.ends) == 0 {
		room.soundEnds = 0
	}
	if len(room.runs) < 2 {
		return
	}
	sound := &room.runs[1]
	if hole := sound.BaseTime - room.soundEnds; room.soundEnds != 0 && sound.BaseTime > room.soundEnds {
		sound.BaseTime -= hole
		sound.Samples[0].Duration += uint32(hole)
	}
	room.soundEnds = sound.BaseTime
	for _, sample := range sound.Samples {
		room.soundEnds += uint64(sample.Duration)
	}
}
