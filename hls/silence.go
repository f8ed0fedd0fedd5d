package hls

import (
	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
)

// A silence is a frame of nothing to hear, in a codec. The zero value is of a codec
// of which none is known.
type silence struct {
	frame []byte
	ticks int64 // of the track's clock
}

// Frames of silence. Those of AAC-LC are a channel, or a pair of them, without a
// single band of the spectrum (ISO 14496-3 4.4.2.1, 4.4.2.7), and the end of the
// frame: they are the same at every sampling rate. That of Opus is of 20 ms and
// decodes to as many channels as the stream has (RFC 6716 3.1).
var (
	silentMono   = [...]byte{0x00, 0x00, 0x00, 0x07}
	silentStereo = [...]byte{0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0e}
	silentOpus   = [...]byte{0xf8, 0xff, 0xfe}
)

const aacLC = 2 // audio object type (ISO 14496-3 1.5.1.1)

// newSilence returns the silence that stands for frames like f.
func newSilence(f *media.Frame) silence {
	codec, err := sample.NewSound(f.Track, f.Params)
	if err != nil {
		return silence{}
	}
	var frame []byte
	switch f.Params.Codec {
	case media.CodecAAC:
		frame = silentAAC(f.Params.AudioConfig)
	case media.CodecOpus:
		frame = silentOpus[:]
	case media.CodecFLAC:
		frame = silentFLAC(f)
	}
	if frame == nil {
		return silence{}
	}
	return silence{frame, codec.Ticks(frame)}
}

func silentAAC(config []byte) []byte {
	codec, err := fmp4.NewAAC(config)
	if err != nil || config[0]>>3 != aacLC {
		return nil
	}
	switch codec.Channels() {
	case 1:
		return silentMono[:]
	case 2:
		return silentStereo[:]
	default:
		return nil
	}
}

// silentFLAC returns a frame as long as f.
func silentFLAC(f *media.Frame) []byte {
	format, err := flac.ReadStreamInfo(f.Params.AudioConfig)
	samples := flac.BlockSamples(f.Payload())
	if err != nil || samples < 1 || samples > flac.MaxBlock {
		return nil
	}
	encoder, err := flac.NewEncoder(format)
	if err != nil {
		return nil
	}
	return encoder.AppendFrame(nil, make([]int16, samples*format.Channels))
}
