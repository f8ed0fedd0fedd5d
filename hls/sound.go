package hls

import (
	"math"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/mpegts"
)

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
