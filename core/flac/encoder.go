package flac

import "encoding/binary"

// Encoder makes the frames of one stream. It allocates only when a block is
// longer than any before it. It belongs to one goroutine.
type Encoder struct {
	format Format
	next   uint64 // number of the next frame's first sample

	subframes [4]subframe // the channels; of stereo, also their mean and difference
}

// What the two channels of a frame are (RFC 9639 section 9.1.3).
const (
	assignMono      = 0
	assignLeftRight = 1
	assignLeftSide  = 8
	assignSideRight = 9
	assignMidSide   = 10
)

// Places in Encoder.subframes.
const (
	left = iota
	right
	mid
	side
)

// NewEncoder returns an encoder.
func NewEncoder(f Format) (*Encoder, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return &Encoder{format: f}, nil
}

// AppendFrame appends one frame of samples, those of two channels alternating. It
// takes 1 to MaxBlock samples of each channel; others are a mistake of the
// caller.
func (e *Encoder) AppendFrame(dst []byte, samples []int16) []byte {
	channels := e.format.Channels
	n := len(samples) / channels
	if n < 1 || n > MaxBlock || len(samples)%channels != 0 {
		panic("flac: block of a size that no frame may have")
	}
	start := len(dst)
	var first, second *subframe
	assignment := byte(assignMono)
	if channels == 1 {
		first = e.mono(samples)
	} else {
		first, second, assignment = e.stereo(samples)
	}
	dst = appendHeader(dst, e.format, assignment, n, e.next)
	e.next = (e.next + uint64(n)) & numberMask
	w := bitWriter{dst: dst}
	first.write(&w)
	if second != nil {
		second.write(&w)
	}
	dst = w.align()
	return binary.BigEndian.AppendUint16(dst, crc16(dst[start:]))
}

func (e *Encoder) mono(samples []int16) *subframe {
	s := e.room(left, len(samples))
	for i, v := range samples {
		s.samples[i] = int32(v)
	}
	s.plan(sampleBits)
	return s
}

// stereo plans both channels, their mean and their difference, and returns the
// cheapest two of which the channels can be had.
func (e *Encoder) stereo(samples []int16) (first, second *subframe, assignment byte) {
	n := len(samples) / 2
	l, r, m, s := e.room(left, n), e.room(right, n), e.room(mid, n), e.room(side, n)
	for i := range n {
		a, b := int32(samples[2*i]), int32(samples[2*i+1])
		l.samples[i], r.samples[i], m.samples[i], s.samples[i] = a, b, (a+b)>>1, a-b
	}
	l.plan(sampleBits)
	r.plan(sampleBits)
	m.plan(sampleBits)
	s.plan(sampleBits + 1)
	first, second, assignment = l, r, assignLeftRight
	for _, other := range [...]struct {
		first, second *subframe
		assignment    byte
	}{{l, s, assignLeftSide}, {s, r, assignSideRight}, {m, s, assignMidSide}} {
		if other.first.cost+other.second.cost < first.cost+second.cost {
			first, second, assignment = other.first, other.second, other.assignment
		}
	}
	return first, second, assignment
}

// room returns a subframe with room for n samples.
func (e *Encoder) room(i, n int) *subframe {
	s := &e.subframes[i]
	if cap(s.samples) < n {
		s.samples, s.rests = make([]int32, n), make([]uint32, n)
	}
	s.samples, s.rests = s.samples[:n], s.rests[:n]
	return s
}
