package mpegts

// A pesWriter cuts one PES packet into transport packets.
type pesWriter struct {
	dst  []byte
	pid  uint16
	cc   *uint8
	left int // bytes of the PES packet that are still to come
	room int // bytes free in the packet being written

	started bool
	clocked bool  // the first packet carries a clock reference
	clock   int64 // in ticks of 90 kHz
	flags   byte  // of the first packet's adaptation field
}

// Flags of an adaptation field.
const (
	flagDiscontinuity = 0x80
	flagRandomAccess  = 0x40
	flagClock         = 0x10
)

const clockField = 8 // adaptation field with a clock reference: length, flags, clock

func (w *pesWriter) write(data []byte) {
	for len(data) > 0 {
		if w.room == 0 {
			w.startPacket()
		}
		n := min(w.room, len(data))
		w.dst = append(w.dst, data[:n]...)
		data = data[n:]
		w.room -= n
		w.left -= n
	}
}

func (w *pesWriter) startPacket() {
	first := !w.started
	w.started = true
	head := byte(w.pid >> 8)
	if first {
		head |= 0x40 // payload_unit_start_indicator
	}
	adaptation := 0
	if first && w.clocked {
		adaptation = clockField
	}
	// What the payload does not fill, the adaptation field does.
	adaptation = max(adaptation, payloadSize-w.left)
	control := byte(0x10)
	if adaptation > 0 {
		control = 0x30
	}
	w.dst = append(w.dst, 0x47, head, byte(w.pid&0xff), control|*w.cc)
	*w.cc = (*w.cc + 1) & 15
	w.room = payloadSize - adaptation
	if adaptation == 0 {
		return
	}
	w.dst = append(w.dst, byte(adaptation-1))
	used := 1
	if adaptation > 1 {
		flags := byte(0)
		if first && w.clocked {
			flags = w.flags | flagClock
		}
		w.dst = append(w.dst, flags)
		used++
		if first && w.clocked {
			w.dst = appendClock(w.dst, w.clock)
			used += 6
		}
	}
	for ; used < adaptation; used++ {
		w.dst = append(w.dst, 0xff)
	}
}

// packets is how many transport packets a PES packet of n bytes takes.
func packets(n int, clocked bool) int {
	first := payloadSize
	if clocked {
		first -= clockField
	}
	if n <= first {
		return 1
	}
	return 1 + (n-first+payloadSize-1)/payloadSize
}

// appendClock appends a program clock reference.
func appendClock(dst []byte, ticks int64) []byte {
	v := uint64(ticks) & clockMask
	return append(dst, byte(v>>25), byte(v>>17), byte(v>>9), byte(v>>1), byte(v<<7)|0x7e, 0)
}

// appendTime appends a PTS or DTS with its marker bits.
func appendTime(dst []byte, prefix byte, ticks int64) []byte {
	v := uint64(ticks+clockOffset) & clockMask
	return append(dst, prefix<<4|byte(v>>29)&0x0e|1,
		byte(v>>22), byte(v>>14)|1, byte(v>>7), byte(v<<1)|1)
}
