//go:build poison

package media

import "bytes"

// poisonByte fills memory that nobody holds: an access unit of it decodes to
// nothing, and its length fields point far outside any buffer.
const poisonByte = 0xDB

// Poisoned reports whether released memory is overwritten (build tag poison),
// so that a use after release fails a test.
const Poisoned = true

// Both work by whole ranges: byte by byte, under the race detector, a block of
// 16 MB would hold its camera up.

func poison(data []byte) {
	if len(data) == 0 {
		return
	}
	data[0] = poisonByte
	for filled := 1; filled < len(data); filled *= 2 {
		copy(data[filled:], data[:filled])
	}
}

// checkPoison panics when somebody wrote to memory that nobody held.
func checkPoison(data []byte) {
	if len(data) == 0 {
		return
	}
	if data[0] != poisonByte || !bytes.Equal(data[1:], data[:len(data)-1]) {
		panic("media: written to after release")
	}
}
