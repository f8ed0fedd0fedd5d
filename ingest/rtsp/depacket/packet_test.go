package depacket

import (
	"bytes"
	"testing"
)

func TestParsePacket(t *testing.T) {
	header := []byte{0x80, 0xe0, 1, 2, 0, 0, 0, 9, 0, 0, 0, 7}
	with := func(first byte, rest ...byte) []byte {
		b := append(bytes.Clone(header), rest...)
		b[0] = first
		return b
	}
	cases := []struct {
		name    string
		packet  []byte
		payload []byte
		ok      bool
	}{
		{"plain", with(0x80, 5, 6), []byte{5, 6}, true},
		{"empty", with(0x80), []byte{}, true},
		{"contributing sources", with(0x82, 1, 2, 3, 4, 1, 2, 3, 4, 5), []byte{5}, true},
		{"extension", with(0x90, 0xbe, 0xde, 0, 1, 1, 2, 3, 4, 5), []byte{5}, true},
		{"padding", with(0xa0, 5, 6, 0, 2), []byte{5, 6}, true},
		{"short", header[:11], nil, false},
		{"version 1", with(0x40, 5), nil, false},
		{"sources beyond the end", with(0x8f, 5), nil, false},
		{"extension beyond the end", with(0x90, 0, 0, 0xff, 0xff), nil, false},
		{"cut extension", with(0x90, 0, 0), nil, false},
		{"padding of nothing", with(0xa0), nil, false},
		{"padding of 0", with(0xa0, 5, 0), nil, false},
		{"padding beyond the start", with(0xa0, 5, 9), nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := Parse(c.packet)
			if ok := err == nil; ok != c.ok {
				t.Fatalf("error %v, want ok %t", err, c.ok)
			}
			if err != nil {
				return
			}
			if !bytes.Equal(p.Payload, c.payload) || !p.Marker || p.PayloadType != 96 || p.Sequence != 0x102 || p.Timestamp != 9 || p.SSRC != 7 {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func FuzzParsePacket(f *testing.F) {
	f.Add([]byte{0xb1, 0xe0, 1, 2, 0, 0, 0, 9, 0, 0, 0, 7, 1, 1, 1, 1, 0xbe, 0xde, 0, 0, 5, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Parse(data); err == nil && len(p.Payload) > len(data)-12 {
			t.Fatalf("%d bytes of payload in %d", len(p.Payload), len(data))
		}
	})
}

func TestSequenceNumbers(t *testing.T) {
	type want struct {
		missing int
		fresh   bool
	}
	cases := []struct {
		name string
		in   []uint16
		last want
	}{
		{"first", []uint16{40000}, want{0, true}},
		{"next", []uint16{5, 6}, want{0, true}},
		{"wrap", []uint16{65535, 0}, want{0, true}},
		{"two missing", []uint16{5, 8}, want{2, true}},
		{"missing over the wrap", []uint16{65534, 1}, want{2, true}},
		{"twice", []uint16{5, 5}, want{0, false}},
		{"late", []uint16{5, 6, 4}, want{0, false}},
		{"begun anew", []uint16{5, 30000}, want{1, true}},
		{"begun anew, behind", []uint16{30000, 5}, want{1, true}},
		{"begun anew a little lower", []uint16{5000, 3000, 3001, 3002, 3003, 3004, 3005, 3006, 3007}, want{1, true}},
		{"begun anew a little lower, not yet sure", []uint16{5000, 3000, 3001, 3002, 3003, 3004, 3005, 3006}, want{0, false}},
		{"after that", []uint16{30000, 5, 6}, want{0, true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s Sequence
			var got want
			for _, sequence := range c.in {
				got.missing, got.fresh = s.Next(sequence, 1)
			}
			if got != c.last {
				t.Errorf("got %+v, want %+v", got, c.last)
			}
		})
	}
}

func TestAnotherSourceBeginsAnewWhereverItsNumbersAre(t *testing.T) {
	var s Sequence
	s.Next(5000, 1)
	if missing, fresh := s.Next(4999, 2); missing != 1 || !fresh {
		t.Errorf("got %d missing, fresh %t, want a new beginning", missing, fresh)
	}
}
