// Package media holds what all parts of Drover share: codecs and their
// parameters, tracks, the pool of media memory, and frames.
package media

// Codec names how a track is coded.
type Codec string

// The codecs Drover hands on.
const (
	CodecH264 Codec = "H264"
	CodecH265 Codec = "H265"
	CodecJPEG Codec = "JPEG" // each picture a JPEG file of its own; not for HLS
	CodecAAC  Codec = "AAC"
	CodecOpus Codec = "Opus"
	CodecFLAC Codec = "FLAC"
)

// Kind tells video from audio.
type Kind uint8

// The kinds of track.
const (
	KindVideo Kind = iota
	KindAudio
)

// String returns "video" or "audio".
func (k Kind) String() string {
	if k == KindVideo {
		return "video"
	}
	return "audio"
}

// Kind returns what a codec codes.
func (c Codec) Kind() Kind {
	switch c {
	case CodecAAC, CodecOpus, CodecFLAC:
		return KindAudio
	default:
		return KindVideo
	}
}

// Track is one elementary stream of a source. It is immutable.
type Track struct {
	ID        int // index among the source's tracks that carry frames
	Kind      Kind
	Codec     Codec
	ClockRate int // ticks of PTS and DTS per second
}

// Params are the codec parameters in force for a frame. They are immutable, and
// compared by pointer: a change of meaning is a new Params.
type Params struct {
	Codec Codec

	// H.265 and H.264: the parameter sets, without start code or length.
	VPS, SPS, PPS []byte

	Width, Height int     // pixels, after cropping
	FPS           float64 // as the SPS says; 0 if it does not

	// Reorder is how many pictures may be decoded ahead of one that is shown
	// later: 0 promises that decoding and display order are the same, -1 that
	// nothing is known.
	Reorder int

	// AAC: the AudioSpecificConfig (ISO 14496-3 1.6.2.1). FLAC: the STREAMINFO
	// block without its header (RFC 9639 section 8.2). Opus: nothing, for a
	// stream of packets needs none.
	AudioConfig []byte
	SampleRate  int // Hz
	Channels    int
}
