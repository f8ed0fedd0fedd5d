package depacket

import (
	"encoding/binary"
	"fmt"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h265"

	"github.com/drover-video/drover/core/media"
)

// H265 reassembles H.265 (RFC 7798): single NAL units, aggregation packets and
// fragmentation units, with decoding order numbers where announced.
type H265 struct {
	assembler
	donl bool
}

// NewH265 returns a depacketizer that writes into arena. Sprop are parameter sets
// from the SDP, used until others come in the stream. Donl tells that payloads
// carry decoding order numbers: sprop-max-don-diff is above 0 (RFC 7798 7.1).
func NewH265(arena *media.Arena, sink Sink, sprop [][]byte, donl bool) *H265 {
	d := &H265{newAssembler(h265Codec{}, arena, sink), donl}
	d.offer(sprop)
	return d
}

// Packet implements Depacketizer.
func (d *H265) Packet(p Packet, missing int) {
	d.begin(p.Timestamp, missing)
	if len(p.Payload) > 0 {
		d.payload(p.Payload)
	}
	d.end(p.Marker)
}

// RFC 7798 section 4.4.
const (
	h265AP   = 48
	h265FU   = 49
	h265PACI = 50
)

func (d *H265) payload(b []byte) {
	if len(b) < 3 {
		d.spoil(ReasonMalformed)
		return
	}
	switch kind := b[0] >> 1 & 0x3f; kind {
	case h265AP:
		d.aggregate(b[2:])
	case h265FU:
		d.fragmentUnit(b)
	case h265PACI:
		d.spoil(ReasonUnsupported)
	default:
		if d.donl && kind < h265AP {
			if len(b) < 5 {
				d.spoil(ReasonMalformed)
				return
			}
			// The number lies behind the header: the two are joined again in the
			// arena.
			d.head[0], d.head[1], d.head[2] = b[0], b[1], b[4]
			if d.openUnit(d.head[:3]) && d.more(b[5:]) {
				d.closeUnit()
			}
			return
		}
		d.whole(b)
	}
}

// aggregate adds NAL units that lie one after the other behind their lengths, and
// behind order numbers where there are any: two bytes, then one byte each.
func (d *H265) aggregate(b []byte) {
	skip := 0
	if d.donl {
		skip = 2
	}
	for len(b) > 0 {
		if len(b) < skip+2 {
			d.spoil(ReasonMalformed)
			return
		}
		size := int(binary.BigEndian.Uint16(b[skip:]))
		b = b[skip+2:]
		if size == 0 || size > len(b) {
			d.spoil(ReasonMalformed)
			return
		}
		d.whole(b[:size])
		b = b[size:]
		if d.donl {
			skip = 1
		}
	}
}

func (d *H265) fragmentUnit(b []byte) {
	start, end := b[2]&0x80 != 0, b[2]&0x40 != 0
	skip := 3
	if d.donl && start {
		skip = 5
	}
	if len(b) <= skip {
		d.spoil(ReasonMalformed)
		return
	}
	d.head[0], d.head[1] = b[0]&0x81|b[2]&0x3f<<1, b[1]
	d.fragment(2, b[skip:], start, end)
}

type h265Codec struct{}

func (h265Codec) headerBytes() int { return 2 }

// classify reads a NAL unit's type (H.265 table 7-1).
func (h265Codec) classify(nal []byte) class {
	if len(nal) < 2 {
		return classInvalid
	}
	if nal[0]&1 != 0 || nal[1]>>3 != 0 {
		return classDropped // a layer above the base: nuh_layer_id is not 0
	}
	switch kind := nal[0] >> 1 & 0x3f; {
	case kind == 8 || kind == 9:
		return classLeading
	case kind < 16:
		return classSlice
	case kind <= 21: // BLA, IDR, CRA
		return classKey
	case kind == 32:
		return classVPS
	case kind == 33:
		return classSPS
	case kind == 34:
		return classPPS
	case kind == 39 || kind == 40:
		return classOther
	case kind >= 35 && kind <= 38:
		return classDropped
	}
	return classInvalid
}

func (h265Codec) params(vps, sps, pps []byte) (*media.Params, error) {
	if vps == nil || sps == nil || pps == nil {
		return nil, errNoSets
	}
	var parsed h265.SPS
	if err := parsed.Unmarshal(sps); err != nil {
		return nil, fmt.Errorf("H.265 SPS: %w", err)
	}
	p := &media.Params{
		Codec: media.CodecH265, VPS: vps, SPS: sps, PPS: pps,
		Width: parsed.Width(), Height: parsed.Height(), FPS: saneFPS(parsed.FPS()),
		Reorder: -1,
	}
	if n := len(parsed.MaxNumReorderPics); n > 0 {
		p.Reorder = int(min(parsed.MaxNumReorderPics[n-1], 16))
	}
	if p.Width <= 0 || p.Height <= 0 || p.Width > maxPixels || p.Height > maxPixels {
		return nil, fmt.Errorf("H.265 SPS of %dx%d pixels", p.Width, p.Height)
	}
	return p, nil
}
