package archive

import (
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
)

// cut makes a fragment of the open frames, of which the leading track's last lasts
// until endDTS. ends says that nothing goes on from it, so that sound beyond its end
// belongs to it as well.
func (c *cutter) cut(endDTS int64, ends bool) {
	if len(c.pending) == 0 {
		return
	}
	lead, first := c.pending, c.pending[0]
	sounds := c.soundUntil(endDTS, ends)
	if !c.describe(first, sounds) {
		c.discard(DropParameters)
		return
	}
	sounds, late := c.fitting(sounds)
	f := &disk.Fragment{Spec: c.spec, Fresh: c.fresh, Breaks: c.breaks, Lost: c.lost, Busy: c.busy}
	runs := c.runs(lead, sounds, endDTS)
	f.Frames = append(append(make([]*media.Frame, 0, len(lead)+len(sounds)), lead...), sounds...)
	c.finish(f, runs, first, endDTS)
	// What was taken is the fragment's.
	clear(c.pending)
	c.pending = c.pending[:0]
	n := copy(c.sounds, late)
	n += copy(c.sounds[n:], c.sounds[len(sounds)+len(late):])
	clear(c.sounds[n:])
	c.sounds = c.sounds[:n]
	c.bytes = 0
	for _, s := range c.sounds {
		c.bytes += int64(len(s.Payload()))
	}
	c.fresh, c.breaks, c.hole, c.lost, c.hasGap, c.clockSet = false, false, false, false, false, false
	c.joined, c.busy = true, false
	c.emit(f)
}

// soundUntil returns the waiting sound that belongs to a fragment that ends there.
func (c *cutter) soundUntil(endDTS int64, ends bool) []*media.Frame {
	if ends {
		return c.sounds
	}
	end := c.lead.info.Duration(endDTS)
	n := 0
	for n < len(c.sounds) && c.sounds[n].Track.Duration(c.sounds[n].DTS) < end {
		n++
	}
	return c.sounds[:n]
}

// fitting splits sound into what the file's moov tells of, and what waits for a file
// that does: sound that begins in mid-file, or changes.
func (c *cutter) fitting(sounds []*media.Frame) (now, late []*media.Frame) {
	for i, f := range sounds {
		if c.layout.audio == nil || !sample.SameParams(f.Params, c.layout.sound) {
			return sounds[:i], sounds[i:]
		}
	}
	return sounds, nil
}

// describe sees to it that there is a moov for the fragment. A fragment that begins
// with a keyframe begins a new file if the tracks are others than before.
func (c *cutter) describe(first *media.Frame, sounds []*media.Frame) bool {
	want := tracks{}
	if first.Track.Kind == media.KindVideo {
		want.video, want.picture = first.Track, first.Params
		if len(sounds) > 0 {
			want.audio, want.sound = sounds[0].Track, sounds[0].Params
		} else if !c.fresh {
			want.audio, want.sound = c.layout.audio, c.layout.sound // a pause
		}
	} else {
		want.audio, want.sound = first.Track, first.Params
	}
	switch {
	case c.spec != nil && c.spec.Epoch == int64(c.epoch) && c.layout.same(want):
		return true
	case c.spec != nil && !first.Entry:
		return true // in mid-GOP: the next file will tell
	}
	c.fresh, c.breaks = true, true
	return c.write(want)
}

func (t *tracks) same(o tracks) bool {
	if (t.video == nil) != (o.video == nil) || (t.audio == nil) != (o.audio == nil) {
		return false
	}
	if t.video != nil && (t.video.ClockRate != o.video.ClockRate || !sample.SameParams(t.picture, o.picture)) {
		return false
	}
	return t.audio == nil || t.audio.ClockRate == o.audio.ClockRate && sample.SameParams(t.sound, o.sound)
}

// write makes the moov of the tracks.
func (c *cutter) write(want tracks) bool {
	var list []fmp4.Track
	format := index.Format{}
	if want.video != nil {
		codec, err := sample.NewPicture(want.picture)
		if err != nil {
			return false
		}
		picture := codec.Picture()
		format = index.Format{Codecs: codec.CodecString(), Width: picture.DisplayWidth(), Height: picture.Height, FPS: picture.FPS}
		list = append(list, fmp4.Track{ID: sample.VideoTrackID, Timescale: uint32(want.video.ClockRate), Codec: codec})
	}
	if want.audio != nil {
		codec, err := sample.NewSound(want.audio, want.sound)
		if err != nil {
			return false
		}
		want.soundCodec = codec
		if format.Codecs != "" {
			format.Codecs += ","
		}
		format.Codecs += codec.CodecString()
		list = append(list, fmp4.Track{ID: sample.AudioTrackID, Timescale: uint32(want.audio.ClockRate), Codec: codec})
	}
	c.spec = &disk.FileSpec{Run: c.run, Epoch: int64(c.epoch), Init: fmp4.AppendInit(nil, list), Format: format}
	c.layout = want
	return true
}

// runs are what the moof says of the frames.
func (c *cutter) runs(lead, sounds []*media.Frame, endDTS int64) []fmp4.Run {
	id := uint32(sample.VideoTrackID)
	if c.lead.info.Kind == media.KindAudio {
		id = sample.AudioTrackID
	}
	runs := []fmp4.Run{run(id, lead, endDTS)}
	if len(sounds) > 0 {
		last := sounds[len(sounds)-1]
		end := last.DTS + max(c.layout.soundCodec.Ticks(last.Payload()), 1)
		if len(c.sounds) > len(sounds) { // the next is there, and may be a little early
			end = min(end, c.sounds[len(sounds)].DTS)
		}
		runs = append(runs, run(sample.AudioTrackID, sounds, end))
	}
	return runs
}

func run(id uint32, frames []*media.Frame, endDTS int64) fmp4.Run {
	base := frames[0].DTS + frames[0].Track.Ticks(timeOffset)
	r := fmp4.Run{TrackID: id, BaseTime: uint64(max(0, base)), Samples: make([]fmp4.Sample, 0, len(frames))}
	for i, f := range frames {
		next := endDTS
		if i+1 < len(frames) {
			next = frames[i+1].DTS
		}
		r.Samples = append(r.Samples, fmp4.Sample{
			Duration: uint32(max(0, next-f.DTS)),
			Size:     uint32(len(f.Payload())),
			CTS:      int32(f.PTS - f.DTS),
			Sync:     f.Keyframe || f.Track.Kind == media.KindAudio,
		})
	}
	return r
}

// finish writes a fragment's head, and strings the frames' buffers up behind it.
func (c *cutter) finish(f *disk.Fragment, runs []fmp4.Run, first *media.Frame, endDTS int64) {
	rate := int64(first.Track.ClockRate)
	// Of positions, not of their difference, so that rounding does not add up.
	ticks := scale(endDTS, rate) - scale(first.DTS, rate)
	f.Start = c.times.begin(first, c.joined, first.Track.Duration(max(0, c.gap-c.lead.step)), c.hasGap)
	switch {
	case c.clockSet:
		f.Leap = f.Start.Sub(c.times.end)
	case !c.joined && !c.hasGap:
		f.Leap = c.times.leap(f.Start, first.Track.Duration(first.DTS))
	}
	step := first.Track.Duration(c.lead.step)
	f.Slack = max(step*3/2, 60*time.Millisecond)
	if c.joined {
		f.Slack = max(f.Slack, c.times.lastFor/slewShare*2)
	}
	f.End = c.times.fragment(f.Start, ticks, c.fresh)
	c.times.place = first.Track.Duration(endDTS)

	c.number++
	head := make([]byte, layout.MarkBytes, layout.MarkBytes+fmp4.FragmentSize(runs))
	head = fmp4.AppendFragment(head, c.number, runs)
	sum := layout.CRC(0, head[layout.MarkBytes:])
	size := int64(len(head))
	for _, frame := range f.Frames {
		payload := frame.Payload()
		sum = layout.CRC(sum, payload)
		size += int64(len(payload))
		f.Body = media.AppendPayload(f.Body, payload)
	}
	key := first.Keyframe || first.Track.Kind == media.KindAudio
	mark := layout.Mark{
		Keyframe: key, Hole: c.hole, Start: f.Start, Duration: ticks,
		Bytes: uint32(size - layout.MarkBytes), CRC: sum, Frames: [2]uint32{uint32(len(runs[0].Samples))},
	}
	if key {
		mark.Head = uint32(len(head)) + runs[0].Samples[0].Size
	}
	if len(runs) > 1 {
		mark.Frames[1] = uint32(len(runs[1].Samples))
	}
	layout.AppendMark(head[:0], mark)
	f.Head, f.Bytes = head, size
	f.Counts = [2]int64{int64(mark.Frames[0]), int64(mark.Frames[1])}
	f.Entry = layout.Fragment{Bytes: size, Head: int64(mark.Head), Duration: ticks, Keyframe: key, Hole: c.hole}
}

// scale converts ticks of a clock rate to 1/90000 s.
func scale(ticks, rate int64) int64 {
	return ticks/rate*layout.TicksPerSecond + ticks%rate*layout.TicksPerSecond/rate
}

// discard drops the open fragment.
func (c *cutter) discard(reason DropReason) {
	for _, f := range c.pending {
		c.drop(f, reason)
	}
	clear(c.pending)
	c.pending = c.pending[:0]
	c.awaiting, c.hole, c.fresh, c.breaks, c.joined = true, true, true, true, false
}
