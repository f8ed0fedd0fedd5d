package feed

import (
	"encoding/binary"
	"iter"

	"github.com/drover-video/drover/core/media"
)

// NALUnits goes through what is behind 4 bytes of length each. Empty ones are left out,
// and what is cut off is given as far as it goes.
func NALUnits(payload []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(payload) > 4 {
			size := int64(binary.BigEndian.Uint32(payload))
			payload = payload[4:]
			size = min(size, int64(len(payload)))
			if size > 0 && !yield(payload[:size]) {
				return
			}
			payload = payload[size:]
		}
	}
}

// hasNALUnits reports whether a codec's frames are made of them.
func hasNALUnits(codec media.Codec) bool { return codec == media.CodecH264 || codec == media.CodecH265 }

// DataSize is how many bytes AppendData appends, at most.
func (f *Frame) DataSize() int {
	size := len(f.Payload())
	if f.withParameterSets() {
		size += 12 + len(f.Params.VPS) + len(f.Params.SPS) + len(f.Params.PPS)
	}
	return size
}

// withParameterSets reports whether parameter sets come before the frame's own bytes.
func (f *Frame) withParameterSets() bool {
	return f.AnnexB && f.Keyframe && f.Params != nil && hasNALUnits(f.Track.Codec)
}

// AppendData appends a frame's bytes as the worker asked for them.
func (f *Frame) AppendData(dst []byte) []byte {
	payload := f.Payload()
	if !f.AnnexB || !hasNALUnits(f.Track.Codec) {
		return append(dst, payload...)
	}
	if f.withParameterSets() {
		for _, set := range [...][]byte{f.Params.VPS, f.Params.SPS, f.Params.PPS} {
			if len(set) > 0 {
				dst = append(append(dst, 0, 0, 0, 1), set...)
			}
		}
	}
	for nal := range NALUnits(payload) {
		dst = append(append(dst, 0, 0, 0, 1), nal...)
	}
	return dst
}
