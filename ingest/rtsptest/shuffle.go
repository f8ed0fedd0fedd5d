package rtsptest

import "encoding/binary"

// shuffle reverses each n RTP packets in a block of interleaved frames, as they
// overtake each other on a network.
func shuffle(block []byte, n int) []byte {
	var frames [][]byte
	out := make([]byte, 0, len(block))
	flush := func() {
		for i := len(frames) - 1; i >= 0; i-- {
			out = append(out, frames[i]...)
		}
		frames = frames[:0]
	}
	for len(block) > 0 {
		size := framingSize + int(binary.BigEndian.Uint16(block[2:]))
		if block[1]%2 == 1 { // reports stay where they are
			flush()
			out = append(out, block[:size]...)
		} else if frames = append(frames, block[:size]); len(frames) == n {
			flush()
		}
		block = block[size:]
	}
	flush()
	return out
}

// repeat puts each frame of a block twice.
func repeat(block []byte) []byte {
	out := make([]byte, 0, 2*len(block))
	for len(block) > 0 {
		size := framingSize + int(binary.BigEndian.Uint16(block[2:]))
		out = append(append(out, block[:size]...), block[:size]...)
		block = block[size:]
	}
	return out
}
