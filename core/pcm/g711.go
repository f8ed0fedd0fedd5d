package pcm

// AppendALaw appends the samples of G.711 A-law.
func AppendALaw(dst []int16, data []byte) []int16 {
	for _, b := range data {
		dst = append(dst, alaw[b])
	}
	return dst
}

// AppendMuLaw appends the samples of G.711 µ-law.
func AppendMuLaw(dst []int16, data []byte) []int16 {
	for _, b := range data {
		dst = append(dst, mulaw[b])
	}
	return dst
}

// alaw and mulaw hold the sample of each code. They are never written to.
var alaw, mulaw = table(alawSample), table(mulawSample)

func table(sample func(code byte) int) (t [256]int16) {
	for code := range t {
		t[code] = int16(sample(byte(code)))
	}
	return t
}

// alawSample decodes a code of G.711 table 1: a sign, three bits of segment and
// four of step, with every other bit inverted on the wire. The result is the
// middle of the step, in 13 bits, moved up to 16.
func alawSample(code byte) int {
	code ^= 0x55
	segment, step := code>>4&7, int(code&15)
	sample := step*16 + 8
	if segment > 0 {
		sample = (sample + 256) << (segment - 1)
	}
	if code&0x80 == 0 {
		return -sample
	}
	return sample
}

// mulawSample decodes a code of G.711 table 2: as A-law, but all bits inverted,
// and 33 added, in 14 bits, before the segments are told apart.
func mulawSample(code byte) int {
	const bias = 33 * 4
	code = ^code
	sample := (int(code&15)*8+bias)<<(code>>4&7) - bias
	if code&0x80 != 0 {
		return -sample
	}
	return sample
}
