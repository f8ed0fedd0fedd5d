package flac

import (
	"encoding/binary"
	"math/bits"
)

// sampleBits is how many bits a sample has.
const sampleBits = 16

// Codes of a frame's header (RFC 9639 section 9.1).
const (
	blockOf8   = 6 // the block size less one follows in 8 bits
	blockOf16  = 7
	rateOf16   = 13 // the rate in Hz follows in 16 bits
	bitsCode16 = 4
)

// rateCode returns the code of a sampling rate.
func rateCode(hz int) byte {
	switch hz {
	case 8000:
		return 4
	case 16000:
		return 5
	case 22050:
		return 6
	case 24000:
		return 7
	case 32000:
		return 8
	case 44100:
		return 9
	case 48000:
		return 10
	default:
		return rateOf16
	}
}

// appendHeader appends a frame's header, its checksum included.
func appendHeader(dst []byte, f Format, assignment byte, samples int, first uint64) []byte {
	start := len(dst)
	block := byte(blockOf8)
	if samples > 256 {
		block = blockOf16
	}
	rate := rateCode(f.SampleRate)
	// Sync code; blocks of varying size, so that a sample's number follows.
	dst = append(dst, 0xff, 0xf9, block<<4|rate, assignment<<4|bitsCode16<<1)
	dst = appendNumber(dst, first)
	if block == blockOf8 {
		dst = append(dst, byte(samples-1))
	} else {
		dst = binary.BigEndian.AppendUint16(dst, uint16(samples-1))
	}
	if rate == rateOf16 {
		dst = binary.BigEndian.AppendUint16(dst, uint16(f.SampleRate))
	}
	return append(dst, crc8(dst[start:]))
}

// numberMask is how far the number of a sample goes before it starts again: 36
// bits, which at 48 kHz is 16 days. Inside MP4 no reader looks at it.
const numberMask = 1<<36 - 1

// appendNumber appends a number of up to 36 bits in the manner of UTF-8.
func appendNumber(dst []byte, n uint64) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	more := (bits.Len64(n) - 2) / 5 // bytes after the first, which hold 5*more+6 bits in all
	dst = append(dst, byte(0xff<<(7-more))|byte(n>>(6*more)))
	for more--; more >= 0; more-- {
		dst = append(dst, 0x80|byte(n>>(6*more))&0x3f)
	}
	return dst
}

// numberBytes returns how long a number is that begins with a byte.
func numberBytes(first byte) int {
	return max(bits.LeadingZeros8(^first), 1)
}

// crc8 is the checksum of a header: x^8 + x^2 + x + 1.
func crc8(data []byte) byte {
	crc := byte(0)
	for _, b := range data {
		crc ^= b
		for range 8 {
			carry := crc >> 7
			crc = crc<<1 ^ 7*carry
		}
	}
	return crc
}

// crc16Table is never written to.
var crc16Table = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ 0x8005*carry
		}
		table[i] = crc
	}
	return table
}()

// crc16 is the checksum of a frame: x^16 + x^15 + x^2 + 1.
func crc16(data []byte) uint16 {
	crc := uint16(0)
	for _, b := range data {
		crc = crc<<8 ^ crc16Table[byte(crc>>8)^b]
	}
	return crc
}
