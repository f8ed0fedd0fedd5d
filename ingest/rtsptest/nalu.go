package rtsptest

import "bytes"

// naluKind says what a NAL unit is to one who cuts a stream into pictures.
type naluKind int

const (
	naluOther naluKind = iota
	naluParameters
	naluFirstSlice
	naluKeyFirstSlice
	naluNextSlice
)

func (c Codec) kindOf(nalu []byte) naluKind {
	var slice, key, first bool
	switch c {
	case H264:
		// H.264 7.3.3: first_mb_in_slice comes first, and 0 is coded as one set bit.
		kind := nalu[0] & 0x1F
		slice, key = kind == 1 || kind == 5, kind == 5
		first = len(nalu) > 1 && nalu[1]&0x80 != 0
		if kind == 7 || kind == 8 {
			return naluParameters
		}
	case H265:
		// H.265 7.3.6.1: first_slice_segment_in_pic_flag.
		kind := nalu[0] >> 1 & 0x3F
		slice, key = kind < 32, kind >= 16 && kind <= 21
		first = len(nalu) > 2 && nalu[2]&0x80 != 0
		if kind >= 32 && kind <= 34 {
			return naluParameters
		}
	}
	switch {
	case !slice:
		return naluOther
	case !first:
		return naluNextSlice
	case key:
		return naluKeyFirstSlice
	default:
		return naluFirstSlice
	}
}

// splitAnnexB returns the NAL units between start codes, empty ones left out.
func splitAnnexB(stream []byte) [][]byte {
	startCode := []byte{0, 0, 1}
	var nalus [][]byte
	start := bytes.Index(stream, startCode)
	for start >= 0 {
		stream = stream[start+len(startCode):]
		start = bytes.Index(stream, startCode)
		nalu := stream
		if start >= 0 {
			nalu = stream[:start]
		}
		// The zero of a four-byte start code, and trailing zeros.
		if nalu = bytes.TrimRight(nalu, "\x00"); len(nalu) > 0 {
			nalus = append(nalus, nalu[:len(nalu):len(nalu)])
		}
	}
	return nalus
}
