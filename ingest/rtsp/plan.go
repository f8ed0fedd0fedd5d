package rtsp

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsp/depacket"
	"github.com/drover-video/drover/ingest/rtsp/session"
)

// How much of a track a block of its arena holds, in bytes: about a second.
const (
	videoBlock = 256 << 10
	audioBlock = 16 << 10
)

// videoClock is the rate of video timestamps (RFC 6184 section 8.2.1, RFC 7798
// section 7.1), whatever a camera announces.
const videoClock = 90000

// A choice is what is done with one media of the camera.
type choice struct {
	media   int
	format  session.Format
	alone   bool // the media has this format only, so that payload types tell nothing
	offer   camera.TrackOffer
	track   *media.Track // of those taken; ID is the place in the plan
	install func(pool *media.Pool, sink depacket.Sink) depacket.Depacketizer
}

// plan is what is done with all of them.
type plan []choice

// choose takes the first video and the first audio track that can be used, and
// says of every other why not.
func choose(medias []session.Media) plan {
	var p plan
	taken := map[media.Kind]bool{}
	for _, m := range session.Playable(medias) {
		if m.Kind != "video" && m.Kind != "audio" {
			continue // metadata and vendors' own
		}
		c := choose1(m)
		c.media = m.Index
		if c.install != nil {
			kind := c.offer.Kind
			if taken[kind] {
				c.offer.Playable, c.install = false, nil
				c.offer.Reason = fmt.Sprintf("another %s track is used", kind)
			} else {
				taken[kind] = true
				c.track.ID = len(p)
			}
		}
		p = append(p, c)
	}
	return p
}

// choose1 takes the first format of a media that can be used.
func choose1(m session.Media) choice {
	none := choice{offer: camera.TrackOffer{Codec: "unknown", Kind: kindOf(m), Reason: "the camera does not say how it is coded"}}
	for i, f := range m.Formats {
		c := judge(kindOf(m), f)
		c.alone = len(m.Formats) == 1
		if c.install != nil {
			return c
		}
		if i == 0 {
			none = c
		}
	}
	return none
}

func kindOf(m session.Media) media.Kind {
	if m.Kind == "audio" {
		return media.KindAudio
	}
	return media.KindVideo
}

// judge says what can be done with a format.
func judge(kind media.Kind, f session.Format) choice {
	c := choice{format: f, offer: camera.TrackOffer{Codec: f.Encoding, Kind: kind}}
	if f.Encoding == "" {
		c.offer.Codec = fmt.Sprintf("payload type %d", f.PayloadType)
	}
	switch {
	case kind == media.KindVideo && f.Encoding == "H264":
		sets := decodeSets(f.FMTP["sprop-parameter-sets"])
		c.takeVideo(media.CodecH264, func(arena *media.Arena, sink depacket.Sink) video {
			return depacket.NewH264(arena, sink, sets)
		})
	case kind == media.KindVideo && (f.Encoding == "H265" || f.Encoding == "HEVC"):
		sets := decodeSets(f.FMTP["sprop-vps"], f.FMTP["sprop-sps"], f.FMTP["sprop-pps"])
		donl := f.FMTP["sprop-max-don-diff"] != "" && f.FMTP["sprop-max-don-diff"] != "0"
		c.takeVideo(media.CodecH265, func(arena *media.Arena, sink depacket.Sink) video {
			return depacket.NewH265(arena, sink, sets, donl)
		})
	case kind == media.KindAudio && f.Encoding == "MPEG4-GENERIC":
		c.takeAAC(f)
	case kind == media.KindVideo:
		c.offer.Reason = c.offer.Codec + " video cannot be played in browsers: set the camera's stream to H.264"
	default:
		c.offer.SampleRate = f.ClockRate
		c.offer.Reason = c.offer.Codec + " audio has no place in HLS: set the camera's audio to AAC"
	}
	return c
}

// video is a depacketizer whose parameters may be known before the first packet.
type video interface {
	depacket.Depacketizer
	Params() *media.Params
	Resync()
}

func (c *choice) takeVideo(codec media.Codec, open func(arena *media.Arena, sink depacket.Sink) video) {
	c.offer.Codec, c.offer.Playable = string(codec), true
	c.track = &media.Track{Kind: media.KindVideo, Codec: codec, ClockRate: videoClock}
	// Only asked for what the SDP says, so it needs no arena.
	c.offer.Params = open(nil, nil).Params()
	c.install = func(pool *media.Pool, sink depacket.Sink) depacket.Depacketizer {
		return open(media.NewArena(pool, videoBlock), sink)
	}
}

func (c *choice) takeAAC(f session.Format) {
	c.offer.Codec = string(media.CodecAAC)
	config, err := depacket.ParseAACConfig(f.FMTP, f.ClockRate)
	if err != nil {
		c.offer.SampleRate = f.ClockRate
		c.offer.Reason = err.Error()
		return
	}
	c.offer.Playable, c.offer.Params, c.offer.SampleRate = true, config.Params, config.Params.SampleRate
	c.track = &media.Track{Kind: media.KindAudio, Codec: media.CodecAAC, ClockRate: f.ClockRate}
	c.install = func(pool *media.Pool, sink depacket.Sink) depacket.Depacketizer {
		return depacket.NewAAC(media.NewArena(pool, audioBlock), sink, config)
	}
}

// decodeSets reads parameter sets from the SDP, where they stand in base64, and
// skips what is not: they come in the stream, too.
func decodeSets(texts ...string) [][]byte {
	var sets [][]byte
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimRight(strings.TrimSpace(part), "=")
			if set, err := base64.RawStdEncoding.DecodeString(part); err == nil && len(set) > 0 {
				sets = append(sets, set)
			}
		}
	}
	return sets
}

// without gives a track of the plan up.
func (p plan) without(i int, reason string) {
	p[i].offer.Playable, p[i].offer.Reason, p[i].install = false, reason, nil
}

func (p plan) offers() []camera.TrackOffer {
	offers := make([]camera.TrackOffer, len(p))
	for i, c := range p {
		offers[i] = c.offer
	}
	return offers
}

// has reports whether a track of the kind is taken.
func (p plan) has(kind media.Kind) bool {
	for _, c := range p {
		if c.install != nil && c.offer.Kind == kind {
			return true
		}
	}
	return false
}

// describe says what a camera offers of which nothing can be used.
func (p plan) describe() string {
	if len(p) == 0 {
		return "the camera offers neither video nor audio: check the path of the URL"
	}
	var reasons []string
	for _, c := range p {
		reasons = append(reasons, c.offer.Reason)
	}
	return "the camera offers nothing that can be used: " + strings.Join(reasons, "; ")
}
