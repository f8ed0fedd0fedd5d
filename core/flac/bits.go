package flac

import "encoding/binary"

// bitWriter appends numbers of a few bits, the highest bit first.
type bitWriter struct {
	dst []byte
	acc uint64
	n   uint // bits in acc that are not yet in dst: below 32
}

// put appends the low bits of v, which has no others: at most 32.
func (w *bitWriter) put(v uint32, bits uint) {
	w.acc = w.acc<<bits | uint64(v)
	w.n += bits
	if w.n >= 32 {
		w.n -= 32
		w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(w.acc>>w.n))
	}
}

// zeros appends any number of zero bits.
func (w *bitWriter) zeros(n uint32) {
	for ; n > 32; n -= 32 {
		w.put(0, 32)
	}
	w.put(0, uint(n))
}

// align fills the last byte up and returns all that was written.
func (w *bitWriter) align() []byte {
	for ; w.n >= 8; w.n -= 8 {
		w.dst = append(w.dst, byte(w.acc>>(w.n-8)))
	}
	if w.n > 0 {
		w.dst = append(w.dst, byte(w.acc<<(8-w.n)))
		w.n = 0
	}
	return w.dst
}
