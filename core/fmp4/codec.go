package fmp4

// Codec is what an init segment and a playlist say of a track's codec. It is
// one of H264, H265, AAC, Opus and FLAC.
type Codec interface {
	// CodecString is the codec's name after RFC 6381, as in CODECS.
	CodecString() string

	appendSampleEntry(dst []byte) []byte
	picture() (Picture, bool) // false for audio
}

// Picture is what parameter sets say of a picture's form.
type Picture struct {
	Width, Height       int     // pixels after cropping
	SARWidth, SARHeight int     // shape of a pixel; 1 and 1 where nothing is said
	FPS                 float64 // 0 where nothing is said
}

// DisplayWidth is the width in square pixels of the same height.
func (p Picture) DisplayWidth() int {
	if p.SARWidth == p.SARHeight {
		return p.Width
	}
	return (p.Width*p.SARWidth + p.SARHeight/2) / p.SARHeight
}

// maxPictureSide bounds what a sample entry can say (16 bits).
const maxPictureSide = 65535

// sampleAspectRatio is table E-1 of H.264 and H.265, which is the same in both.
func sampleAspectRatio(idc uint8, width, height uint16) (int, int) {
	table := [...][2]uint8{
		1: {1, 1}, 2: {12, 11}, 3: {10, 11}, 4: {16, 11}, 5: {40, 33}, 6: {24, 11},
		7: {20, 11}, 8: {32, 11}, 9: {80, 33}, 10: {18, 11}, 11: {15, 11},
		12: {64, 33}, 13: {160, 99}, 14: {4, 3}, 15: {3, 2}, 16: {2, 1},
	}
	switch {
	case idc == 255 && width != 0 && height != 0:
		return int(width), int(height)
	case idc >= 1 && int(idc) < len(table):
		return int(table[idc][0]), int(table[idc][1])
	default:
		return 1, 1
	}
}

// appendVisualEntry appends the common part of a VisualSampleEntry.
func appendVisualEntry(dst []byte, kind string, p Picture) ([]byte, int) {
	dst, start := startBox(dst, kind)
	dst = appendZeros(dst, 6)
	dst = appendU16(dst, 1) // data_reference_index
	dst = appendZeros(dst, 16)
	dst = appendU16(dst, uint16(p.Width))
	dst = appendU16(dst, uint16(p.Height))
	dst = appendU32(dst, 0x00480000) // 72 dpi
	dst = appendU32(dst, 0x00480000)
	dst = appendU32(dst, 0)
	dst = appendU16(dst, 1) // frame_count
	dst = appendZeros(dst, 32)
	dst = appendU16(dst, 0x0018) // depth
	return appendU16(dst, 0xffff), start
}

// appendPixelAspect appends pasp where pixels are not square: Chromium takes a
// picture's shape from the container.
func appendPixelAspect(dst []byte, p Picture) []byte {
	if p.SARWidth == p.SARHeight {
		return dst
	}
	dst, start := startBox(dst, "pasp")
	dst = appendU32(dst, uint32(p.SARWidth))
	dst = appendU32(dst, uint32(p.SARHeight))
	return endBox(dst, start)
}

// appendAudioEntry appends the common part of an AudioSampleEntry.
func appendAudioEntry(dst []byte, kind string, channels, sampleRate int) ([]byte, int) {
	dst, start := startBox(dst, kind)
	dst = appendZeros(dst, 6)
	dst = appendU16(dst, 1) // data_reference_index
	dst = appendZeros(dst, 8)
	dst = appendU16(dst, uint16(channels))
	dst = appendU16(dst, 16) // samplesize
	dst = appendU32(dst, 0)
	if sampleRate > 65535 { // 16.16 fixed point cannot hold it: the codec's own box does
		sampleRate = 0
	}
	return appendU32(dst, uint32(sampleRate)<<16), start
}
