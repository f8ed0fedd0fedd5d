package hls

import (
	"fmt"
	"math"

	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/mpegts"
)

// A soundCodec is what is written of a track of audio.
type soundCodec struct {
	fmp4.Codec
	ticks func(frame []byte) int64 // of the track's clock, that a frame lasts
}

// newSoundCodec returns an error for a track that cannot be written.
func newSoundCodec(s stream) (soundCodec, error) {
	if s.params == nil {
		return soundCodec{}, fmt.Errorf("audio has no parameters yet")
	}
	clock := int64(s.track.ClockRate)
	switch s.params.Codec {
	case media.CodecAAC:
		codec, err := fmp4.NewAAC(s.params.AudioConfig)
		if err != nil {
			return soundCodec{}, err
		}
		ticks := int64(codec.SamplesPerFrame()) * clock / int64(codec.SampleRate())
		return soundCodec{codec, func([]byte) int64 { return ticks }}, nil
	case media.CodecFLAC:
		codec, err := fmp4.NewFLAC(s.params.AudioConfig)
		if err != nil {
			return soundCodec{}, err
		}
		// Of G.722 the clock is of 8 kHz, and the sampling rate 16.
		rate := int64(codec.SampleRate())
		return soundCodec{codec, func(frame []byte) int64 { return int64(flac.BlockSamples(frame)) * clock / rate }}, nil
	case media.CodecOpus:
		codec, err := fmp4.NewOpus(s.params.Channels)
		if err != nil {
			return soundCodec{}, err
		}
		return soundCodec{codec, func(packet []byte) int64 { return int64(fmp4.OpusSamples(packet)) * clock / fmp4.OpusRate }}, nil
	default:
		return soundCodec{}, fmt.Errorf("no audio codec %q", s.params.Codec)
	}
}

// tsSound returns what MPEG-TS says of audio, and false for audio that is left
// out of it: all but AAC.
func tsSound(p *media.Params) (mpegts.ADTS, bool) {
	if p.Codec != media.CodecAAC {
		return mpegts.ADTS{}, false
	}
	adts, err := mpegts.NewADTS(p.AudioConfig)
	return adts, err == nil
}

// mostSoundBytes bounds a frame by what its containers can say.
func mostSoundBytes(p *media.Params) int {
	if p != nil && p.Codec == media.CodecAAC {
		return mpegts.MaxAudioFrameBytes
	}
	return math.MaxInt32
}
