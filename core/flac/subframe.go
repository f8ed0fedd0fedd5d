package flac

import "math/bits"

// What a subframe holds (RFC 9639 section 9.2.1).
const (
	kindConstant = 0
	kindVerbatim = 1
	kindFixed    = 8 // and the order of the predictor
)

const (
	maxOrder      = 4
	maxPartitions = 1 << 4

	// minPartition is the least samples that are worth a parameter of their own.
	minPartition = 32

	maxRice = 14 // 15 says that no Rice code follows
)

// A subframe is one channel of a frame, and how it will be written.
type subframe struct {
	samples []int32
	rests   []uint32 // what the predictor leaves, signs folded in
	bits    int      // of a sample, without wasted ones

	kind       byte
	wasted     int // low bits that are zero in every sample
	order      int
	partitions int
	rice       [maxPartitions]uint8 // parameter of each partition
	cost       int                  // bits, or a few more
}

// plan finds the cheapest way to write the samples, which have so many bits.
func (s *subframe) plan(sampleBits int) {
	all, first := int32(0), s.samples[0]
	same := true
	for _, v := range s.samples {
		all |= v
		same = same && v == first
	}
	s.wasted, s.bits = 0, sampleBits
	if same {
		s.kind, s.cost = kindConstant, 8+sampleBits
		return
	}
	if s.wasted = bits.TrailingZeros32(uint32(all)); s.wasted > 0 {
		for i := range s.samples {
			s.samples[i] >>= s.wasted
		}
		s.bits -= s.wasted
	}
	head := 8 + s.wasted
	s.kind, s.cost = kindVerbatim, head+len(s.samples)*s.bits
	if len(s.samples) <= maxOrder {
		return
	}
	s.order = s.bestOrder()
	s.predict()
	if cost := head + s.order*s.bits + 6 + s.partition(); cost < s.cost {
		s.kind, s.cost = kindFixed, cost
	}
}

// bestOrder returns the order of the predictor that leaves the least.
func (s *subframe) bestOrder() int {
	// Each order's rest is the difference of two rests of the order below.
	x := s.samples
	r0 := x[3]
	r1 := r0 - x[2]
	r2 := r1 - (x[2] - x[1])
	r3 := r2 - (x[2] - 2*x[1] + x[0])
	var s0, s1, s2, s3, s4 uint64
	for _, v := range x[maxOrder:] {
		d1 := v - r0
		d2 := d1 - r1
		d3 := d2 - r2
		d4 := d3 - r3
		r0, r1, r2, r3 = v, d1, d2, d3
		s0 += uint64(abs(v))
		s1 += uint64(abs(d1))
		s2 += uint64(abs(d2))
		s3 += uint64(abs(d3))
		s4 += uint64(abs(d4))
	}
	best, least := 0, s0
	for order, sum := range [...]uint64{s0, s1, s2, s3, s4} {
		if sum < least {
			best, least = order, sum
		}
	}
	return best
}

func abs(v int32) uint32 {
	sign := v >> 31
	return uint32((v ^ sign) - sign)
}

// predict fills rests (RFC 9639 section 9.2.5).
func (s *subframe) predict() {
	x := s.samples
	rests := s.rests[:len(x)-s.order]
	switch s.order {
	case 0:
		for i := range rests {
			rests[i] = fold(x[i])
		}
	case 1:
		for i := range rests {
			rests[i] = fold(x[i+1] - x[i])
		}
	case 2:
		for i := range rests {
			rests[i] = fold(x[i+2] - 2*x[i+1] + x[i])
		}
	case 3:
		for i := range rests {
			rests[i] = fold(x[i+3] - 3*x[i+2] + 3*x[i+1] - x[i])
		}
	case 4:
		for i := range rests {
			rests[i] = fold(x[i+4] - 4*x[i+3] + 6*x[i+2] - 4*x[i+1] + x[i])
		}
	}
	s.rests = rests
}

// fold maps numbers near zero, of both signs, to small ones without.
func fold(v int32) uint32 { return uint32(v<<1) ^ uint32(v>>31) }

// partition chooses in how many parts the rests are coded, each with its own
// parameter, and returns how many bits they take.
func (s *subframe) partition() int {
	n := len(s.samples)
	parts := 1
	for 2*parts <= maxPartitions && n%(2*parts) == 0 && n/(2*parts) >= minPartition {
		parts *= 2
	}
	var sums [maxPartitions]uint64
	rests := s.rests
	for i := range parts {
		size := n / parts
		if i == 0 {
			size -= s.order
		}
		for _, v := range rests[:size] {
			sums[i] += uint64(v)
		}
		rests = rests[size:]
	}
	least := -1
	for ; parts > 0; parts /= 2 {
		var rice [maxPartitions]uint8
		cost := 0
		for i := range parts {
			size := n / parts
			if i == 0 {
				size -= s.order
			}
			k, c := riceOf(sums[i], size)
			rice[i] = uint8(k)
			cost += 4 + c
		}
		if least < 0 || cost < least {
			least, s.partitions, s.rice = cost, parts, rice
		}
		for i := range parts / 2 {
			sums[i] = sums[2*i] + sums[2*i+1]
		}
	}
	return least
}

// riceOf returns the parameter for n rests of a sum, and how many bits they take
// at most.
func riceOf(sum uint64, n int) (k, cost int) {
	k = min(max(bits.Len64(sum/uint64(n)), 1), maxRice)
	cost = n*(k+1) + int(sum>>k)
	if less := n*k + int(sum>>(k-1)); less <= cost {
		return k - 1, less
	}
	return k, cost
}

// write appends the subframe.
func (s *subframe) write(w *bitWriter) {
	kind := s.kind
	if kind == kindFixed {
		kind |= byte(s.order)
	}
	if s.wasted == 0 {
		w.put(uint32(kind)<<1, 8)
	} else {
		w.put(uint32(kind)<<1|1, 8)
		w.put(1, uint(s.wasted)) // in unary
	}
	switch s.kind {
	case kindConstant:
		s.writeSamples(w, 1)
	case kindVerbatim:
		s.writeSamples(w, len(s.samples))
	default:
		s.writeSamples(w, s.order)
		s.writeRests(w)
	}
}

func (s *subframe) writeSamples(w *bitWriter, n int) {
	mask := uint32(1)<<s.bits - 1
	for _, v := range s.samples[:n] {
		w.put(uint32(v)&mask, uint(s.bits))
	}
}

func (s *subframe) writeRests(w *bitWriter) {
	// Parameters of 4 bits; how often the block is halved, in 4.
	w.put(uint32(bits.TrailingZeros32(uint32(s.partitions))), 2+4)
	rests := s.rests
	for i := range s.partitions {
		size := len(s.samples) / s.partitions
		if i == 0 {
			size -= s.order
		}
		k := uint(s.rice[i])
		w.put(uint32(k), 4)
		stop := uint32(1) << k
		for _, v := range rests[:size] {
			zeros := v >> k
			code := stop | v&(stop-1)
			if zeros+uint32(k) < 32 {
				w.put(code, uint(zeros)+1+k)
			} else {
				w.zeros(zeros)
				w.put(code, 1+k)
			}
		}
		rests = rests[size:]
	}
}
