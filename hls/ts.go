package hls

import (
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/mpegts"
)

// tsClock is the rate of all times in MPEG-TS.
const tsClock = 90000

func tsTime(track *media.Track, ticks int64, shift time.Duration) int64 {
	rate := int64(track.ClockRate)
	ticks += track.Ticks(shift)
	return ticks/rate*tsClock + ticks%rate*tsClock/rate
}

// walkTS goes through what a transport stream of the segment holds, in the order
// in which it is written: pictures, and groups of audio frames by the time of
// their first. The order depends on the frames alone.
func (s *segment) walkTS(picture func(f *media.Frame), sound func(frames []*media.Frame)) {
	audio := s.audio
	if !s.layout.program.Audio {
		audio = nil
	}
	for _, f := range s.video {
		at := tsTime(f.Track, f.DTS, s.shift)
		for len(audio) > 0 && tsTime(audio[0].Track, audio[0].PTS, s.shift) <= at {
			n := s.soundGroup(audio)
			sound(audio[:n])
			audio = audio[n:]
		}
		picture(f)
	}
	for len(audio) > 0 {
		n := s.soundGroup(audio)
		sound(audio[:n])
		audio = audio[n:]
	}
}

// soundGroup returns how many frames share a PES packet: it names the time of
// its first only, so that the others must follow without a gap.
func (s *segment) soundGroup(audio []*media.Frame) int {
	n := 1
	for n < len(audio) && n < mpegts.MaxAudioFrames {
		due := s.layout.sound.Ticks(audio[n-1].Payload())
		if step := audio[n].PTS - audio[n-1].PTS; step < due/2 || step > due*3/2 {
			break
		}
		n++
	}
	return n
}

func (s *segment) tsPicture(f *media.Frame) mpegts.Picture {
	return mpegts.Picture{
		PTS:           tsTime(f.Track, f.PTS, s.shift),
		DTS:           tsTime(f.Track, f.DTS, s.shift),
		Keyframe:      f.Keyframe,
		Discontinuity: s.tsTags() > 0 && f == s.video[0],
		SPS:           s.layout.video.params.SPS,
		PPS:           s.layout.video.params.PPS,
		Data:          f.Payload(),
	}
}

// skipTS returns how long the transport stream is, and moves the continuity
// counters to where the next segment starts, without writing a byte.
func (s *segment) skipTS(cc *mpegts.Counters) int64 {
	packets := 2
	cc.Tables = (cc.Tables + 1) & 15
	s.walkTS(func(f *media.Frame) {
		p := s.tsPicture(f)
		packets += p.Skip(cc)
	}, func(frames []*media.Frame) {
		packets += mpegts.SkipSound(&s.layout.program, len(frames), int(payloadBytes(frames)), cc)
	})
	return int64(packets) * mpegts.PacketSize
}

// renderTS writes the segment as a transport stream, once. The caller holds a
// reference.
func (s *segment) renderTS(name string) *object {
	s.ts.once.Do(func() {
		cc := s.counters
		data := make([]byte, 0, s.skipTS(&cc))
		cc = s.counters
		data = mpegts.AppendTables(data, &s.layout.program, &cc)
		var room [mpegts.MaxAudioFrames][]byte
		s.walkTS(func(f *media.Frame) {
			p := s.tsPicture(f)
			data = mpegts.AppendPicture(data, &p, &cc)
		}, func(frames []*media.Frame) {
			payloads := room[:0]
			for _, f := range frames {
				payloads = append(payloads, f.Payload())
			}
			sound := mpegts.Sound{PTS: tsTime(frames[0].Track, frames[0].PTS, s.shift), Frames: payloads,
				Discontinuity: s.tsTags() > 0 && frames[0] == s.audio[0]}
			data = mpegts.AppendSound(data, &s.layout.program, &sound, &cc)
		})
		s.ts.object = newObject(body{slices: [][]byte{data}, size: int64(len(data))}, name)
		s.ts.promotion = newPromotion(s.files, s.held, s.ts.size)
		s.held.Add(s.ts.size)
	})
	return &s.ts.object
}
