package hls

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/mpegts"
	"github.com/drover-video/drover/core/sample"
)

// A stream is a track with the parameters in force.
type stream struct {
	track  *media.Track
	params *media.Params
}

func (s stream) present() bool { return s.track != nil }

// same reports whether both would be written alike.
func (s stream) same(o stream) bool {
	if s.present() != o.present() {
		return false
	}
	return !s.present() || s.track.ClockRate == o.track.ClockRate && sample.SameParams(s.params, o.params)
}

// A layout is what all segments between two changes of parameters have in
// common. It is immutable.
type layout struct {
	video, audio stream

	init   *initSegment
	codecs string // as in CODECS
	pic    fmp4.Picture
	sound  sample.Sound // of audio, if there is any

	muxed    bool // fragmented MP4 has the sound, too
	ts       bool // can be written as MPEG-TS
	tsCodecs string
	program  mpegts.Program
}

// An initSegment is named after its content.
type initSegment struct {
	hash string
	object
}

// newLayout returns the layout of a picture, of sound, or of both. apart leaves the
// sound beside a picture to MPEG-TS.
func newLayout(source string, video, audio stream, apart bool) (*layout, error) {
	l := &layout{video: video, audio: audio, ts: true, muxed: audio.present() && !(apart && video.present())}
	var tracks []fmp4.Track
	if video.present() {
		codec, err := sample.NewPicture(video.params)
		if err != nil {
			return nil, err
		}
		l.pic = codec.Picture()
		l.codecs = codec.CodecString()
		l.tsCodecs = l.codecs
		l.ts = video.params.Codec == media.CodecH264
		l.program.Video = true
		tracks = append(tracks, fmp4.Track{ID: sample.VideoTrackID, Timescale: uint32(video.track.ClockRate), Codec: codec})
	}
	if audio.present() {
		var err error
		if l.sound, err = sample.NewSound(audio.track, audio.params); err != nil {
			return nil, err
		}
		if l.muxed {
			l.codecs = joinCodecs(l.codecs, l.sound.CodecString())
			tracks = append(tracks, fmp4.Track{ID: sample.AudioTrackID, Timescale: uint32(audio.track.ClockRate), Codec: l.sound})
		}
		if adts, ok := tsSound(audio.params); ok {
			l.program.Audio, l.program.ADTS = true, adts
			l.tsCodecs = joinCodecs(l.tsCodecs, l.sound.CodecString())
		} else if !video.present() {
			l.ts = false
		}
	}
	data := fmp4.AppendInit(nil, tracks)
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:8])
	l.init = &initSegment{hash: hash}
	l.init.object = newObject(body{slices: [][]byte{data}, size: int64(len(data))}, source+".init-"+hash)
	return l, nil
}

func joinCodecs(a, b string) string {
	if a == "" {
		return b
	}
	return a + "," + b
}

// variant is what a multivariant playlist says of the layout.
func (l *layout) variant() variant {
	v := variant{codecs: l.codecs, tsCodecs: l.tsCodecs, width: l.pic.DisplayWidth(), height: l.pic.Height}
	if l.muxed {
		v.channels = l.audio.params.Channels
	}
	return v
}
