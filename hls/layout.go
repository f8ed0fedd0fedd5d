package hls

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/mpegts"
)

// Track identifiers in the container.
const (
	videoTrackID = 1
	audioTrackID = 2
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
	return !s.present() || s.track.ClockRate == o.track.ClockRate && sameParams(s.params, o.params)
}

func sameParams(a, b *media.Params) bool {
	if a == b {
		return true
	}
	return a != nil && b != nil && a.Codec == b.Codec &&
		bytes.Equal(a.VPS, b.VPS) && bytes.Equal(a.SPS, b.SPS) && bytes.Equal(a.PPS, b.PPS) &&
		bytes.Equal(a.AudioConfig, b.AudioConfig)
}

// A layout is what all segments between two changes of parameters have in
// common. It is immutable.
type layout struct {
	video, audio stream

	init   *initSegment
	codecs string // as in CODECS
	pic    fmp4.Picture
	sound  soundCodec // of audio, if there is any

	ts       bool // can be written as MPEG-TS
	tsCodecs string
	program  mpegts.Program
}

// An initSegment is named after its content.
type initSegment struct {
	hash string
	object
}

func newLayout(source string, video, audio stream) (*layout, error) {
	l := &layout{video: video, audio: audio, ts: true}
	var tracks []fmp4.Track
	if video.present() {
		codec, err := videoCodec(video.params)
		if err != nil {
			return nil, err
		}
		l.pic = codec.Picture()
		l.codecs = codec.CodecString()
		l.tsCodecs = l.codecs
		l.ts = video.params.Codec == media.CodecH264
		l.program.Video = true
		tracks = append(tracks, fmp4.Track{ID: videoTrackID, Timescale: uint32(video.track.ClockRate), Codec: codec})
	}
	if audio.present() {
		var err error
		if l.sound, err = newSoundCodec(audio); err != nil {
			return nil, err
		}
		l.codecs = joinCodecs(l.codecs, l.sound.CodecString())
		tracks = append(tracks, fmp4.Track{ID: audioTrackID, Timescale: uint32(audio.track.ClockRate), Codec: l.sound})
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
	return variant{codecs: l.codecs, tsCodecs: l.tsCodecs, width: l.pic.DisplayWidth(), height: l.pic.Height}
}

type pictureCodec interface {
	fmp4.Codec
	Picture() fmp4.Picture
}

func videoCodec(p *media.Params) (pictureCodec, error) {
	switch {
	case p == nil:
		return nil, fmt.Errorf("video has no parameters yet")
	case p.Codec == media.CodecH264:
		return fmp4.NewH264(p.SPS, p.PPS)
	case p.Codec == media.CodecH265:
		return fmp4.NewH265(p.VPS, p.SPS, p.PPS)
	default:
		return nil, fmt.Errorf("no video codec %q", p.Codec)
	}
}
