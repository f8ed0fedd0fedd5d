package flac

import (
	"errors"
	"fmt"
)

// decoder reads frames back, by RFC 9639 and not by the encoder's code: all kinds
// of subframe that the encoder may write, and no others.
type decoder struct {
	data []byte
	pos  int // bits
}

var errCut = errors.New("frame is cut")

func (d *decoder) read(n int) uint32 {
	value := uint32(0)
	for range n {
		if d.pos/8 >= len(d.data) {
			panic(errCut)
		}
		value = value<<1 | uint32(d.data[d.pos/8]>>(7-d.pos%8)&1)
		d.pos++
	}
	return value
}

func (d *decoder) signed(n int) int32 {
	return int32(d.read(n)<<(32-n)) >> (32 - n)
}

func (d *decoder) unary() int {
	n := 0
	for d.read(1) == 0 {
		n++
	}
	return n
}

type decodedFrame struct {
	rate    int // 0: not one of the table
	samples []int16
	number  uint64
	used    int
}

// decodeFrame reads the frame at the start of data.
func decodeFrame(data []byte) (f decodedFrame, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("%v", recovered)
		}
	}()
	d := &decoder{data: data}
	if d.read(15) != 0x7ffc || d.read(1) != 1 {
		return f, errors.New("no sync code of variable block size")
	}
	block, rate, assignment := d.read(4), d.read(4), d.read(4)
	if d.read(3) != 4 || d.read(1) != 0 {
		return f, errors.New("not of 16 bits")
	}
	first := d.read(8)
	switch ones := leadingOnes(first); {
	case ones == 0:
		f.number = uint64(first)
	case ones == 1 || ones > 7:
		return f, errors.New("bad number")
	default:
		f.number = uint64(first) & (1<<(7-ones) - 1)
		for range ones - 1 {
			if d.read(2) != 2 {
				return f, errors.New("bad number")
			}
			f.number = f.number<<6 | uint64(d.read(6))
		}
	}
	n := 0
	switch block {
	case 6:
		n = int(d.read(8)) + 1
	case 7:
		n = int(d.read(16)) + 1
	default:
		return f, errors.New("unexpected block size code")
	}
	rates := map[uint32]int{4: 8000, 5: 16000, 6: 22050, 7: 24000, 8: 32000, 9: 44100, 10: 48000}
	if rate == 13 {
		f.rate = int(d.read(16))
	} else {
		f.rate = rates[rate]
	}
	if polynomial(data[:d.pos/8], 8, 0x07) != uint16(d.read(8)) {
		return f, errors.New("header checksum")
	}
	bits := []int{16}
	switch assignment {
	case 0:
	case 1:
		bits = []int{16, 16}
	case 8, 10:
		bits = []int{16, 17}
	case 9:
		bits = []int{17, 16}
	default:
		return f, errors.New("unexpected channels")
	}
	var channels [][]int32
	for _, b := range bits {
		channels = append(channels, d.subframe(n, b))
	}
	for i := range n {
		if len(channels) == 1 {
			f.samples = append(f.samples, int16(channels[0][i]))
			continue
		}
		l, r := channels[0][i], channels[1][i]
		switch assignment {
		case 8:
			r = l - r
		case 9:
			l = l + r
		case 10:
			m := l<<1 | r&1
			l, r = (m+r)>>1, (m-r)>>1
		}
		if int32(int16(l)) != l || int32(int16(r)) != r {
			return f, errors.New("sample of more than 16 bits")
		}
		f.samples = append(f.samples, int16(l), int16(r))
	}
	if pad := (8 - d.pos%8) % 8; d.read(pad) != 0 {
		return f, errors.New("padding is not zero")
	}
	if polynomial(data[:d.pos/8], 16, 0x8005) != uint16(d.read(16)) {
		return f, errors.New("frame checksum")
	}
	f.used = d.pos / 8
	return f, nil
}

func leadingOnes(b uint32) int {
	n := 0
	for b&0x80 != 0 {
		n++
		b <<= 1
	}
	return n
}

// polynomial is a checksum by long division, bit by bit.
func polynomial(data []byte, width int, poly uint32) uint16 {
	crc := uint32(0)
	for _, b := range data {
		for i := 7; i >= 0; i-- {
			top := crc>>(width-1)&1 ^ uint32(b>>i)&1
			crc = crc << 1 & (1<<width - 1)
			if top == 1 {
				crc ^= poly
			}
		}
	}
	return uint16(crc)
}

func (d *decoder) subframe(n, bits int) []int32 {
	if d.read(1) != 0 {
		panic("subframe begins with 1")
	}
	kind := d.read(6)
	wasted := 0
	if d.read(1) == 1 {
		wasted = d.unary() + 1
	}
	bits -= wasted
	out := make([]int32, n)
	switch {
	case kind == 0:
		v := d.signed(bits)
		for i := range out {
			out[i] = v
		}
	case kind == 1:
		for i := range out {
			out[i] = d.signed(bits)
		}
	case kind >= 8 && kind <= 12:
		order := int(kind - 8)
		for i := range order {
			out[i] = d.signed(bits)
		}
		d.rests(out, order)
	default:
		panic(fmt.Sprintf("subframe of kind %d", kind))
	}
	for i := range out {
		out[i] <<= wasted
	}
	return out
}

func (d *decoder) rests(out []int32, order int) {
	weights := [][]int32{{}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}}[order]
	if d.read(2) != 0 {
		panic("coding method")
	}
	parts := 1 << d.read(4)
	if len(out)%parts != 0 || len(out)/parts <= order {
		panic("partitions")
	}
	i := order
	for part := range parts {
		k := int(d.read(4))
		if k == 15 {
			panic("escape")
		}
		for ; i < (part+1)*len(out)/parts; i++ {
			u := uint32(d.unary())<<k | d.read(k)
			v := int32(u>>1) ^ -int32(u&1)
			for j, weight := range weights {
				v += weight * out[i-1-j]
			}
			out[i] = v
		}
	}
}
