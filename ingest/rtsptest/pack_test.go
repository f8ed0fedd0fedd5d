package rtsptest

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func TestPacketsHoldTheNALUnitsOfTheClip(t *testing.T) {
	dir := ClipDir(t)
	tests := []struct {
		clip string
		packing
	}{
		{"h264", packing{1400, true, false}},
		{"h264", packing{1400, true, true}},
		{"h264", packing{1400, false, false}},
		{"h264", packing{100, true, true}},
		{"h264-slices", packing{1400, true, false}},
		{"h264-720p", packing{65000, true, false}},
		{"h265", packing{1400, true, false}},
		{"h265", packing{1400, true, true}},
		{"h265-bframes", packing{100, false, false}},
	}
	for _, test := range tests {
		clip, err := LoadClip(dir, test.clip)
		if err != nil {
			t.Fatal(err)
		}
		r := newReel(clip, test.packing)
		for i, block := range r.pictures {
			var want [][]byte
			if clip.Pictures[i].Keyframe && test.parameters {
				want = append(want, clip.Parameters...)
			}
			want = append(want, clip.Pictures[i].NALUs...)
			got := unpack(t, clip.Codec, block)
			if len(got) != len(want) {
				t.Fatalf("%s %+v: picture %d has %d NAL units, want %d", test.clip, test.packing, i, len(got), len(want))
			}
			for k := range want {
				if !bytes.Equal(got[k], want[k]) {
					t.Fatalf("%s %+v: picture %d, NAL unit %d differs", test.clip, test.packing, i, k)
				}
			}
		}
	}
}

// unpack reads a block back as RFC 6184 and RFC 7798 say, and checks that only
// the last packet has the marker.
func unpack(t *testing.T, codec Codec, block []byte) [][]byte {
	t.Helper()
	var nalus [][]byte
	for len(block) > 0 {
		size := int(binary.BigEndian.Uint16(block[2:]))
		packet := parseRTP(t, block[4:4+size])
		block = block[4+size:]
		if last := len(block) == 0; packet.marker != last {
			t.Fatalf("marker is %v, want %v", packet.marker, last)
		}
		nalus = unpackPayload(codec, packet.payload, nalus)
	}
	return nalus
}

func unpackPayload(codec Codec, payload []byte, nalus [][]byte) [][]byte {
	aggregate, fragment, headerSize := payload[0]&0x1F == 24, payload[0]&0x1F == 28, 1
	if codec == H265 {
		kind := payload[0] >> 1 & 0x3F
		aggregate, fragment, headerSize = kind == 48, kind == 49, 2
	}
	switch {
	case aggregate:
		for rest := payload[headerSize:]; len(rest) > 0; {
			size := binary.BigEndian.Uint16(rest)
			nalus = append(nalus, rest[2:2+size])
			rest = rest[2+size:]
		}
		return nalus
	case !fragment:
		return append(nalus, payload)
	}
	flags := payload[headerSize]
	if flags&0x80 != 0 {
		header := []byte{payload[0]&0xE0 | flags&0x1F}
		if codec == H265 {
			header = []byte{payload[0]&0x81 | flags&0x3F<<1, payload[1]}
		}
		nalus = append(nalus, header)
	}
	last := &nalus[len(nalus)-1]
	*last = append(*last, payload[headerSize+1:]...)
	return nalus
}
