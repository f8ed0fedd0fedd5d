package fmp4

import "encoding/binary"

// startBox appends a box's header with its size left open and returns where the
// box starts, for endBox.
func startBox(dst []byte, kind string) ([]byte, int) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	return append(dst, kind...), start
}

// startFullBox is startBox for a box with version and flags.
func startFullBox(dst []byte, kind string, version byte, flags uint32) ([]byte, int) {
	dst, start := startBox(dst, kind)
	return binary.BigEndian.AppendUint32(dst, uint32(version)<<24|flags), start
}

// endBox writes the size of the box that started at start.
func endBox(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

func appendU16(dst []byte, v uint16) []byte { return binary.BigEndian.AppendUint16(dst, v) }
func appendU32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }
func appendU64(dst []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(dst, v) }

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, 0)
	}
	return dst
}

// appendMatrix appends the unity matrix of tkhd and mvhd.
func appendMatrix(dst []byte) []byte {
	for _, v := range [9]uint32{0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000} {
		dst = appendU32(dst, v)
	}
	return dst
}
