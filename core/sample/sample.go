// Package sample says what MP4 needs to know of a track's frames to write them as
// samples: the codec for the sample entry, and how long a frame of sound lasts. It
// is what the live stream and the archive have in common, so that a recording is
// written as it was shown.
package sample

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
)

// What a stream that is written has in common with all others of Drover.
const (
	VideoTrackID = 1
	AudioTrackID = 2
)

var errNoParams = errors.New("no parameters yet")

// Picture is what is written of a track of video.
type Picture interface {
	fmp4.Codec
	Picture() fmp4.Picture
}

// NewPicture returns an error for parameters that cannot be written.
func NewPicture(p *media.Params) (Picture, error) {
	switch {
	case p == nil:
		return nil, fmt.Errorf("video: %w", errNoParams)
	case p.Codec == media.CodecH264:
		return fmp4.NewH264(p.SPS, p.PPS)
	case p.Codec == media.CodecH265:
		return fmp4.NewH265(p.VPS, p.SPS, p.PPS)
	default:
		return nil, fmt.Errorf("no video codec %q", p.Codec)
	}
}

// Sound is what is written of a track of audio.
type Sound struct {
	fmp4.Codec
	ticks func(frame []byte) int64
}

// Ticks is how long a frame lasts, in ticks of the track's clock; 0 for what is no
// frame.
func (s Sound) Ticks(frame []byte) int64 { return s.ticks(frame) }

// NewSound returns an error for a track that cannot be written.
func NewSound(track *media.Track, p *media.Params) (Sound, error) {
	if p == nil {
		return Sound{}, fmt.Errorf("audio: %w", errNoParams)
	}
	clock := int64(track.ClockRate)
	switch p.Codec {
	case media.CodecAAC:
		codec, err := fmp4.NewAAC(p.AudioConfig)
		if err != nil {
			return Sound{}, err
		}
		ticks := int64(codec.SamplesPerFrame()) * clock / int64(codec.SampleRate())
		return Sound{codec, func([]byte) int64 { return ticks }}, nil
	case media.CodecFLAC:
		codec, err := fmp4.NewFLAC(p.AudioConfig)
		if err != nil {
			return Sound{}, err
		}
		// Of G.722 the clock is of 8 kHz, and the sampling rate 16.
		rate := int64(codec.SampleRate())
		return Sound{codec, func(frame []byte) int64 { return int64(flac.BlockSamples(frame)) * clock / rate }}, nil
	case media.CodecOpus:
		codec, err := fmp4.NewOpus(p.Channels)
		if err != nil {
			return Sound{}, err
		}
		return Sound{codec, func(packet []byte) int64 { return int64(fmp4.OpusSamples(packet)) * clock / fmp4.OpusRate }}, nil
	default:
		return Sound{}, fmt.Errorf("no audio codec %q", p.Codec)
	}
}

// SameParams reports whether frames with either parameters are written alike.
func SameParams(a, b *media.Params) bool {
	if a == b {
		return true
	}
	return a != nil && b != nil && a.Codec == b.Codec &&
		bytes.Equal(a.VPS, b.VPS) && bytes.Equal(a.SPS, b.SPS) && bytes.Equal(a.PPS, b.PPS) &&
		bytes.Equal(a.AudioConfig, b.AudioConfig) && a.Channels == b.Channels
}
