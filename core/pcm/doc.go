// Package pcm decodes the codecs of telephony, in which cameras send sound, into
// 16-bit samples: G.711 in both its laws, G.722, and L16, which is samples as
// they are.
package pcm

import "encoding/binary"

// AppendL16 appends samples in network order (RFC 3551 section 4.5.11). An odd
// byte at the end is left out.
func AppendL16(dst []int16, data []byte) []int16 {
	for ; len(data) >= 2; data = data[2:] {
		dst = append(dst, int16(binary.BigEndian.Uint16(data)))
	}
	return dst
}
