// Package flac writes FLAC frames (RFC 9639) of 16-bit sound, mono or stereo. It
// is what carries telephone codecs into HLS: browsers take FLAC in MP4, and not a
// sample is changed on the way.
//
// The encoder tries the fixed predictors only and codes what they leave in Rice
// codes. That is most of what FLAC gains on speech, and costs a camera nothing
// that one could notice. Samples whose low bits are always zero, as those of
// G.711 are, are stored without them.
package flac

import (
	"encoding/binary"
	"errors"
)

// Bounds of a stream.
const (
	// MaxBlock is the most samples of a channel in a frame.
	MaxBlock = 4096

	// MaxRate is the highest sampling rate in Hz.
	MaxRate = 1<<16 - 1

	// StreamInfoBytes is the length of a STREAMINFO block without its header.
	StreamInfoBytes = 34

	// minBlock is the least that STREAMINFO may name. The last frame of a stream
	// may be shorter, and no reader minds others.
	minBlock = 16
)

var errFormat = errors.New("flac: neither mono nor stereo, or a sampling rate out of range")

// Format is what all frames of a stream have in common.
type Format struct {
	SampleRate int // Hz
	Channels   int // 1 or 2
}

func (f Format) check() error {
	if f.Channels < 1 || f.Channels > 2 || f.SampleRate < 1 || f.SampleRate > MaxRate {
		return errFormat
	}
	return nil
}

// AppendStreamInfo appends the STREAMINFO block of a stream without end (RFC 9639
// section 8.2), without the block's header. Lengths and checksum are unknown.
func AppendStreamInfo(dst []byte, f Format) []byte {
	dst = binary.BigEndian.AppendUint16(dst, minBlock)
	dst = binary.BigEndian.AppendUint16(dst, MaxBlock)
	dst = append(dst, 0, 0, 0, 0, 0, 0) // frame sizes
	// 20 bits of rate, 3 of channels less one, 5 of bits less one, 36 of length.
	word := uint64(f.SampleRate)<<44 | uint64(f.Channels-1)<<41 | (sampleBits-1)<<36
	dst = binary.BigEndian.AppendUint64(dst, word)
	return append(dst, make([]byte, 16)...)
}

// ReadStreamInfo returns what a STREAMINFO block says of its stream.
func ReadStreamInfo(block []byte) (Format, error) {
	if len(block) != StreamInfoBytes {
		return Format{}, errors.New("flac: STREAMINFO is not of 34 bytes")
	}
	word := binary.BigEndian.Uint64(block[10:])
	f := Format{SampleRate: int(word >> 44), Channels: int(word>>41&7) + 1}
	return f, f.check()
}

// BlockSamples returns how many samples of each channel a frame holds that an
// Encoder made, or 0 for what is no such frame.
func BlockSamples(frame []byte) int {
	if len(frame) < 6 || frame[0] != 0xff || frame[1] != 0xf9 {
		return 0
	}
	at := 4 + numberBytes(frame[4])
	switch code := frame[2] >> 4; {
	case code == blockOf8 && len(frame) > at:
		return int(frame[at]) + 1
	case code == blockOf16 && len(frame) > at+1:
		return int(binary.BigEndian.Uint16(frame[at:])) + 1
	}
	return 0
}
