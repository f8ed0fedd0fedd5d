package pcm

// G722 decodes ITU-T G.722 at 64 kbit/s: 16 kHz out of bytes that hold two
// samples each. The names in it are those of the recommendation, whose clauses
// are given. The zero value is ready.
type G722 struct {
	begun     bool
	low, high band
	history   [24]int // of the receive QMF: sums and differences alternating
}

// A band is the predictor and the quantiser's scale of a sub-band.
type band struct {
	det int    // quantiser scale factor
	nb  int    // its logarithm
	s   int    // predicted sample
	sz  int    // part of it from the zero section
	r   [2]int // reconstructed samples, the newest first
	p   [2]int // partially reconstructed
	a   [2]int // coefficients of the pole section
	d   [6]int // quantised differences, doubled
	b   [6]int // coefficients of the zero section
}

// Append appends the samples of data, two for each byte.
func (g *G722) Append(dst []int16, data []byte) []int16 {
	if !g.begun {
		g.begun = true
		g.low.det, g.high.det = 32, 8
	}
	for _, code := range data {
		low := g.low.decode(&lowBand, int(code&0x3f))
		high := g.high.decode(&highBand, int(code>>6))
		first, second := g.combine(low, high)
		dst = append(dst, first, second)
	}
	return dst
}

// A subBand holds the tables of a sub-band. What adapts the decoder is the code
// without its lowest bits in the lower band, so that a network could take those
// away (clause 1.3).
type subBand struct {
	output  []int16 // inverse quantiser whose values are heard
	inverse []int16 // inverse quantiser whose values adapt
	drop    int     // bits of the code that do not adapt
	weight  []int16 // what a code adds to the scale's logarithm
	most    int     // of the logarithm
	shift   int     // of the scale
}

var (
	lowBand  = subBand{qm6[:], qm4[:], 2, wl[:], 18432, 8}
	highBand = subBand{qm2[:], qm2[:], 0, wh[:], 22528, 10}
)

// decode returns the sample of a code (clauses 4.2 to 4.4: INVQBL or INVQAH,
// LOGSCL or LOGSCH, SCALEL or SCALEH, and the predictor).
func (b *band) decode(t *subBand, code int) int {
	out := min(max(b.s+b.det*int(t.output[code])>>15, -16384), 16383)
	code >>= t.drop
	d := b.det * int(t.inverse[code]) >> 15
	b.nb = min(max(b.nb*127>>7+int(t.weight[code]), 0), t.most)
	scale := int(ilb[b.nb>>6&31])
	if shift := t.shift - b.nb>>11; shift < 0 {
		scale <<= -shift
	} else {
		scale >>= shift
	}
	b.det = scale << 2
	b.adapt(d)
	return out
}

// adapt moves the predictor on by a quantised difference (clause 3.6).
func (b *band) adapt(d int) {
	r := clamp16(b.s + d)
	p := clamp16(b.sz + d)

	// Second, then first coefficient of the pole section: UPPOL2, UPPOL1.
	wd := clamp16(b.a[0] * 4)
	if sameSign(p, b.p[0]) {
		wd = min(-wd, 32767)
	}
	step := -128
	if sameSign(p, b.p[1]) {
		step = 128
	}
	a2 := clamp(wd>>7+step+b.a[1]*32512>>15, 12288)
	step = -192
	if sameSign(p, b.p[0]) {
		step = 192
	}
	a1 := clamp(clamp16(step+b.a[0]*32640>>15), clamp16(15360-a2))

	// The zero section: UPZERO, FILTEZ. Differences are kept doubled,
	// as FILTEZ wants them; that leaves their signs.
	step = 128
	if d == 0 {
		step = 0
	}
	sz, newer := 0, clamp16(2*d)
	for i := range b.b {
		other := (d ^ b.d[i]) >> 63 // -1 where signs differ
		b.b[i] = clamp16(step ^ other - other + b.b[i]*32640>>15)
		sz += b.b[i] * newer >> 15
		b.d[i], newer = newer, b.d[i]
	}
	b.sz = clamp16(sz)

	// The pole section: FILTEP, PREDIC.
	sp := clamp16(a1*clamp16(2*r)>>15 + a2*clamp16(2*b.r[0])>>15)
	b.r = [2]int{r, b.r[0]}
	b.p = [2]int{p, b.p[0]}
	b.a = [2]int{a1, a2}
	b.s = clamp16(sp + b.sz)
}

// combine makes two samples of one of each band: the receive QMF (clause 4.4,
// RECA to SELECT).
func (g *G722) combine(low, high int) (first, second int16) {
	copy(g.history[:], g.history[2:])
	g.history[22], g.history[23] = low+high, low-high
	even, odd := 0, 0
	for i, h := range qmf {
		even += g.history[2*i] * int(h)
		odd += g.history[2*i+1] * int(qmf[len(qmf)-1-i])
	}
	return int16(clamp16(odd >> 11)), int16(clamp16(even >> 11))
}

// sameSign compares sign bits: zero counts as positive.
func sameSign(a, b int) bool { return (a < 0) == (b < 0) }

func clamp(v, most int) int { return min(max(v, -most), most) }

func clamp16(v int) int { return min(max(v, -32768), 32767) }

// The tables of the recommendation, indexed by code: 9 to 21, with RL42 and RH2
// worked into wl and wh. Never written to.
var (
	qmf = [12]int16{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}

	ilb = [32]int16{
		2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
		2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
	}

	wl = [16]int16{-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60}
	wh = [4]int16{798, -214, 798, -214}

	qm2 = [4]int16{-7408, -1616, 7408, 1616}
	qm4 = [16]int16{
		0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
	}
	qm6 = [64]int16{
		-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
		-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
		24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
		4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
	}
)
