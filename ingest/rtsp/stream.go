package rtsp

import (
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/timeline"
	"github.com/drover-video/drover/ingest/rtsp/depacket"
)

// stream turns the packets of one connection into frames. It implements
// session.Handler, whose calls come one after the other.
type stream struct {
	feed     *camera.Feed
	tracks   []*track
	byMedia  map[int]*track
	received bool
	reports  []senderReport // room for those of one packet
}

// track is one track of a stream. It implements depacket.Sink.
type track struct {
	feed        *camera.Feed
	index       int // in the plan, as Feed knows it
	info        *media.Track
	payloadType int  // -1: any
	alone       bool // no video beside it that plays in HLS
	clock       *timeline.Track
	sequence    depacket.Sequence
	packets     depacket.Depacketizer
	arrival     time.Time // of the packet at hand

	// Of video.
	reorder *timeline.Reorder
	noted   bool // that the clock is irregular
	params  *media.Params
	nominal int64  // ticks from picture to picture
	skipped uint32 // pictures since the reordering was seen to be deeper than was known
}

func newStream(feed *camera.Feed, plan plan, reorder *timeline.Reorder) *stream {
	s := &stream{feed: feed, byMedia: map[int]*track{}}
	var rates []int
	for i, c := range plan {
		if c.install == nil {
			continue
		}
		t := &track{
			feed: feed, index: i, info: c.track, payloadType: int(c.format.PayloadType),
			alone: !plan.plays(media.KindVideo),
		}
		if c.alone {
			t.payloadType = -1
		}
		if c.track.Kind == media.KindVideo {
			t.reorder = reorder
		}
		t.packets = c.install(feed.Pool, t)
		s.tracks = append(s.tracks, t)
		s.byMedia[c.media] = t
		rates = append(rates, c.track.ClockRate)
	}
	for i, clock := range feed.Timeline.Connect(rates...) {
		s.tracks[i].clock = clock
		if s.tracks[i].info.Kind == media.KindVideo {
			feed.Timeline.Lead(i)
		}
	}
	return s
}

func (s *stream) close() {
	for _, t := range s.tracks {
		t.packets.Close()
	}
}

// RTP implements session.Handler.
func (s *stream) RTP(media int, packet []byte, arrival time.Time) {
	s.feed.Received(len(packet))
	t, ok := s.byMedia[media]
	if !ok {
		return
	}
	p, err := depacket.Parse(packet)
	if err != nil {
		s.feed.Discard(depacket.ReasonMalformed.String())
		return
	}
	if t.payloadType >= 0 && int(p.PayloadType) != t.payloadType {
		s.feed.Discard("other_format")
		return
	}
	missing, fresh := t.sequence.Next(p.Sequence, p.SSRC)
	if !fresh {
		s.feed.Discard("late_packet")
		return
	}
	if missing > 0 {
		s.feed.Lost(missing)
	}
	s.received = true
	t.arrival = arrival
	t.packets.Packet(p, missing)
}

// RTCP implements session.Handler. The session itself answers for it; here it
// tells about time.
func (s *stream) RTCP(media int, packet []byte, arrival time.Time) {
	t, ok := s.byMedia[media]
	if !ok {
		return
	}
	s.reports = parseReports(s.reports[:0], packet)
	for _, r := range s.reports {
		t.clock.Report(r.ntp, r.rtp, arrival)
	}
}

// BatchEnd implements session.Handler.
func (s *stream) BatchEnd() {}

// Discard implements depacket.Sink. What is discarded came all the same.
func (t *track) Discard(reason depacket.Reason) {
	t.feed.Discard(reason.String())
	if reason == depacket.ReasonNoParams {
		t.feed.Waiting("the camera sends keyframes but no parameter sets (SPS, PPS): without them they cannot be decoded, so restart the camera or try newer firmware")
	}
	t.feed.Alive(t.index, t.arrival)
}

// Unit implements depacket.Sink.
func (t *track) Unit(u depacket.Unit) {
	t.feed.Alive(t.index, t.arrival)
	f := u.Frame
	f.Track = t.info
	pts := t.clock.PTS(u.Timestamp+uint32(u.Offset), t.arrival.Add(-t.info.Duration(u.Age)))
	if why := t.clock.Irregular(); why != "" && !t.noted {
		t.noted = true
		t.feed.Note(t.index, why)
	}
	dts := pts
	switch {
	case t.info.Codec == media.CodecJPEG:
		t.feed.Timeline.Entry()
		f.Entry = true
	case t.info.Kind == media.KindVideo:
		var err error
		if dts, err = t.decodingTime(f, pts); err != nil {
			f.Release()
			t.feed.Discard("reordering")
			return
		}
		f.Entry = f.Keyframe
	case t.alone:
		t.feed.Timeline.Entry()
		f.Entry = true
	}
	f.PTS, f.DTS = t.clock.DTS(pts, dts)
	wall, reported := t.feed.Timeline.Wall(t.clock.Position(f.PTS))
	f.Wall, f.WallSource = wall, media.WallArrival
	if reported {
		f.WallSource = media.WallSender
	}
	t.feed.Write(t.index, f, t.arrival)
}

// decodingTime finds a picture's place in decoding order. After an error, all
// pictures up to the next keyframe fail, and their reordering is learnt.
func (t *track) decodingTime(f *media.Frame, pts int64) (int64, error) {
	if f.Keyframe {
		f.Lost += t.skipped
		t.skipped = 0
		jumped := t.feed.Timeline.Entry()
		switch {
		case f.Params != t.params:
			t.params = f.Params
			t.nominal = videoClock / 25
			if f.Params.FPS > 0 {
				t.nominal = int64(videoClock / f.Params.FPS)
			}
			t.reorder.Reset(f.Params.Reorder)
		case jumped, f.Lost > 0:
			t.reorder.Reset(-1)
		}
	} else if t.skipped > 0 {
		t.skipped++
		t.reorder.Learn(pts)
		return 0, timeline.ErrReorder
	}
	dts, err := t.reorder.DTS(pts, t.nominal)
	if err != nil {
		t.skipped++
	}
	return dts, err
}
