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
	rank    rank
	track   *media.Track // of those taken; ID is the place in the plan
	install func(pool *media.Pool, sink depacket.Sink) depacket.Depacketizer
}

// rank is how much a track is worth. Of each kind the best is taken, and the
// first among equals.
type rank int

const (
	unusable   rank = iota
	unplayable      // for snapshots and AI only
	fmp4Only        // plays, but not in MPEG-TS
	playable
)

// plan is what is done with all of them.
type plan []choice

// choose takes the best video and the best audio track, and says of every other
// why not.
func choose(medias []session.Media, options Options) plan {
	var p plan
	best := map[media.Kind]int{} // place in the plan
	for _, m := range session.Playable(medias) {
		if m.Kind != "video" && m.Kind != "audio" {
			continue // metadata and vendors' own
		}
		c := choose1(m, options)
		c.media = m.Index
		if c.install != nil {
			c.track.ID = len(p)
			if i, taken := best[c.offer.Kind]; !taken || c.rank > p[i].rank {
				best[c.offer.Kind] = len(p)
			}
		}
		p = append(p, c)
	}
	for i, c := range p {
		if c.install != nil && best[c.offer.Kind] != i {
			p.without(i, fmt.Sprintf("another %s track is used", c.offer.Kind))
		}
	}
	return p
}

// choose1 takes the best format of a media.
func choose1(m session.Media, options Options) choice {
	best := choice{offer: camera.TrackOffer{Codec: "unknown", Kind: kindOf(m), Reason: "the camera does not say how it is coded"}}
	for i, f := range m.Formats {
		c := judge(kindOf(m), f, options)
		c.alone = len(m.Formats) == 1
		if i == 0 || c.rank > best.rank {
			best = c
		}
	}
	return best
}

func kindOf(m session.Media) media.Kind {
	if m.Kind == "audio" {
		return media.KindAudio
	}
	return media.KindVideo
}

// maxCodecName bounds the name of a codec that a camera made up, in bytes.
const maxCodecName = 40

// judge says what can be done with a format.
func judge(kind media.Kind, f session.Format, options Options) choice {
	c := choice{format: f, offer: camera.TrackOffer{Codec: f.Encoding[:min(len(f.Encoding), maxCodecName)], Kind: kind}}
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
	case kind == media.KindVideo && f.Encoding == "JPEG":
		c.takeJPEG()
	case kind == media.KindAudio && f.Encoding == "MPEG4-GENERIC":
		c.takeAAC(f)
	case kind == media.KindAudio && f.Encoding == "MP4A-LATM":
		c.takeLATM(f)
	case kind == media.KindAudio && f.Encoding == "OPUS":
		c.takeOpus()
	case kind == media.KindAudio && !options.WithoutFLAC && (f.Encoding == "PCMA" || f.Encoding == "PCMU" || f.Encoding == "G722" || f.Encoding == "L16"):
		c.takePCM(f)
	case kind == media.KindVideo:
		c.offer.Reason = c.offer.Codec + " video cannot be played in browsers: set the camera's stream to H.264"
	default:
		c.offer.SampleRate = f.ClockRate
		// G.711 and its kind come here when they are not to be made into FLAC.
		c.offer.Reason = c.offer.Codec + " audio has no place in HLS: set the camera's audio to AAC"
	}
	return c
}

// video is a depacketizer whose parameters may be known before the first packet.
type video interface {
	depacket.Depacketizer
	Params() *media.Params
}

func (c *choice) takeVideo(codec media.Codec, open func(arena *media.Arena, sink depacket.Sink) video) {
	c.rank = playable
	c.offer.Codec, c.offer.Playable, c.offer.MPEGTS = string(codec), true, codec == media.CodecH264
	c.track = &media.Track{Kind: media.KindVideo, Codec: codec, ClockRate: videoClock}
	// Only asked for what the SDP says, so it needs no arena.
	c.offer.Params = open(nil, nil).Params()
	c.install = func(pool *media.Pool, sink depacket.Sink) depacket.Depacketizer {
		return open(media.NewArena(pool, videoBlock), sink)
	}
}

// takeJPEG takes pictures that stand alone. No player of HLS shows them.
func (c *choice) takeJPEG() {
	c.rank = unplayable
	c.offer.Codec = "MJPEG"
	c.offer.Reason = "MJPEG cannot be played in browsers by HLS, and serves for snapshots and AI only: set the camera's stream to H.264 to watch it"
	c.track = &media.Track{Kind: media.KindVideo, Codec: media.CodecJPEG, ClockRate: videoClock}
	c.install = func(pool *media.Pool, sink depacket.Sink) depacket.Depacketizer {
		return depacket.NewJPEG(media.NewArena(pool, videoBlock), sink)
	}
}

func (c *choice) takeAAC(f session.Format) {
	c.offer.Codec = string(media.CodecAAC)
	config, err := depacket.ParseAACConfig(f.FMTP, f.ClockRate)
	if err != nil {
		c.refuseAudio(f, err)
		return
	}
	c.takeAudio(playable, media.CodecAAC, f.ClockRate, config.Params, func(arena *media.Arena, sink depacket.Sink) depacket.Depacketizer {
		return depacket.NewAAC(arena, sink, config)
	})
}

func (c *choice) takeLATM(f session.Format) {
	c.offer.Codec = string(media.CodecAAC)
	config, err := depacket.ParseLATMConfig(f.FMTP, f.ClockRate)
	if err != nil {
		c.refuseAudio(f, err)
		return
	}
	c.takeAudio(playable, media.CodecAAC, f.ClockRate, config.Params(), func(arena *media.Arena, sink depacket.Sink) depacket.Depacketizer {
		return depacket.NewLATM(arena, sink, config)
	})
}

func (c *choice) takeOpus() {
	c.offer.Codec = string(media.CodecOpus)
	params := depacket.NewOpusParams()
	// RFC 7587 section 4.1: the clock is of 48 kHz, whatever a camera announces.
	c.takeAudio(fmp4Only, media.CodecOpus, params.SampleRate, params, func(arena *media.Arena, sink depacket.Sink) depacket.Depacketizer {
		return depacket.NewOpus(arena, sink, params)
	})
}

// takePCM takes sound that becomes FLAC.
func (c *choice) takePCM(f session.Format) {
	config, err := depacket.NewPCMConfig(f.Encoding, f.ClockRate, f.Channels)
	if err != nil {
		c.refuseAudio(f, err)
		return
	}
	c.offer.DeliveredAs = string(media.CodecFLAC)
	c.takeAudio(fmp4Only, media.CodecFLAC, f.ClockRate, config.Params, func(arena *media.Arena, sink depacket.Sink) depacket.Depacketizer {
		return depacket.NewPCM(arena, sink, config)
	})
}

func (c *choice) refuseAudio(f session.Format, err error) {
	c.offer.SampleRate, c.offer.Reason = f.ClockRate, err.Error()
}

// takeAudio takes a track of audio. Params are nil where only the stream says
// them.
func (c *choice) takeAudio(worth rank, codec media.Codec, clockRate int, params *media.Params, open func(arena *media.Arena, sink depacket.Sink) depacket.Depacketizer) {
	c.rank = worth
	c.offer.Playable, c.offer.MPEGTS = true, codec == media.CodecAAC
	c.offer.Params, c.offer.SampleRate = params, clockRate
	if params != nil {
		c.offer.SampleRate = params.SampleRate
	}
	c.track = &media.Track{Kind: media.KindAudio, Codec: codec, ClockRate: clockRate}
	c.install = func(pool *media.Pool, sink depacket.Sink) depacket.Depacketizer {
		return open(media.NewArena(pool, audioBlock), sink)
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
	c := &p[i]
	c.offer.Playable, c.offer.MPEGTS, c.offer.DeliveredAs = false, false, ""
	c.offer.Reason, c.install = reason, nil
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

// plays reports whether a track of the kind is taken that plays in HLS.
func (p plan) plays(kind media.Kind) bool {
	for _, c := range p {
		if c.install != nil && c.offer.Kind == kind && c.offer.Playable {
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
