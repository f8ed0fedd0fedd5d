package depacket

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"

	"github.com/drover-video/drover/core/media"
)

// H264 reassembles H.264 (RFC 6184), whatever packetization-mode was announced:
// single NAL units, STAP-A and B, FU-A and B.
type H264 struct{ assembler }

// NewH264 returns a depacketizer that writes into arena. Sprop are parameter sets
// from the SDP, used until others come in the stream.
func NewH264(arena *media.Arena, sink Sink, sprop [][]byte) *H264 {
	d := &H264{newAssembler(h264Codec{}, arena, sink)}
	d.offer(sprop)
	return d
}

// offer takes parameter sets that were not sent in the stream.
func (a *assembler) offer(sets [][]byte) {
	for _, set := range sets {
		parts := splitAnnexB(set)
		if parts == nil {
			parts = [][]byte{set}
		}
		for _, nal := range parts {
			if len(nal) <= a.codec.headerBytes() {
				continue
			}
			switch c := a.codec.classify(nal); c {
			case classVPS, classSPS, classPPS:
				a.sets.take(c, nal, a.codec.headerBytes())
			}
		}
	}
}

// Params returns the parameters known so far, be it from the SDP, or nil.
func (a *assembler) Params() *media.Params {
	if a.params != nil {
		return a.params
	}
	params, err := a.codec.params(a.sets.vps, a.sets.sps, a.sets.pps)
	if err != nil {
		return nil
	}
	return params
}

// Packet implements Depacketizer.
func (d *H264) Packet(p Packet, missing int) {
	d.begin(p.Timestamp, missing)
	if len(p.Payload) > 0 {
		d.payload(p.Payload)
	}
	d.end(p.Marker)
}

// RFC 6184 table 1.
const (
	h264STAPA = 24
	h264STAPB = 25
	h264FUA   = 28
	h264FUB   = 29
)

func (d *H264) payload(b []byte) {
	switch kind := b[0] & 0x1f; kind {
	case h264STAPA:
		d.aggregate(b[1:])
	case h264STAPB:
		if len(b) < 3 {
			d.spoil(ReasonMalformed)
			return
		}
		d.aggregate(b[3:]) // past the decoding order number
	case h264FUA:
		d.fragment(b, 2)
	case h264FUB:
		d.fragment(b, 4)
	case 26, 27, 30, 31:
		d.spoil(ReasonUnsupported)
	default:
		d.whole(b)
	}
}

// aggregate adds NAL units that lie one after the other behind their lengths in
// two bytes.
func (d *H264) aggregate(b []byte) {
	for len(b) > 0 {
		if len(b) < 2 {
			d.spoil(ReasonMalformed)
			return
		}
		size := int(binary.BigEndian.Uint16(b))
		b = b[2:]
		if size == 0 {
			continue // padding, as some cameras have it
		}
		if size > len(b) {
			d.spoil(ReasonMalformed)
			return
		}
		d.whole(b[:size])
		b = b[size:]
	}
}

// fragment adds a fragment of a NAL unit; skip is the length of its headers.
func (d *H264) fragment(b []byte, skip int) {
	if len(b) <= skip {
		d.spoil(ReasonMalformed)
		return
	}
	start, end := b[1]&0x80 != 0, b[1]&0x40 != 0
	d.head[0] = b[0]&0xe0 | b[1]&0x1f
	d.assembler.fragment(1, b[skip:], start, end)
}

// fragment adds a fragment of a NAL unit whose header is in the first n bytes of
// head. A fragment that is start and end at once is forbidden (RFC 6184 5.8) and
// sent all the same: it is the whole unit.
func (a *assembler) fragment(n int, data []byte, start, end bool) {
	switch {
	case start:
		a.head[n] = data[0] // tells a picture's first slice
		if !a.openUnit(a.head[:n+1]) || !a.more(data[1:]) {
			return
		}
	case !a.unitOpen:
		if !a.broken {
			a.spoil(ReasonFragment)
		}
		return
	default:
		if !a.more(data) {
			return
		}
	}
	if end {
		a.closeUnit()
	}
}

type h264Codec struct{}

func (h264Codec) headerBytes() int { return 1 }

// classify reads a NAL unit's type (H.264 table 7-1).
func (h264Codec) classify(nal []byte) class {
	if len(nal) == 0 {
		return classInvalid
	}
	switch nal[0] & 0x1f {
	case 1, 2, 3, 4:
		return classSlice
	case 5:
		return classKey
	case 6:
		return classOther
	case 7:
		return classSPS
	case 8:
		return classPPS
	case 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21:
		return classDropped
	}
	return classInvalid
}

var errNoSets = errors.New("parameter sets missing")

// maxPixels bounds a side of the picture that a parameter set may claim.
const maxPixels = 16384

func (h264Codec) params(_, sps, pps []byte) (*media.Params, error) {
	if sps == nil || pps == nil {
		return nil, errNoSets
	}
	var parsed h264.SPS
	if err := parsed.Unmarshal(sps); err != nil {
		return nil, fmt.Errorf("H.264 SPS: %w", err)
	}
	p := &media.Params{
		Codec: media.CodecH264, SPS: sps, PPS: pps,
		Width: parsed.Width(), Height: parsed.Height(), FPS: saneFPS(parsed.FPS()),
		Reorder: h264Reorder(&parsed),
	}
	if p.Width <= 0 || p.Height <= 0 || p.Width > maxPixels || p.Height > maxPixels {
		return nil, fmt.Errorf("H.264 SPS of %dx%d pixels", p.Width, p.Height)
	}
	return p, nil
}

// h264Reorder returns how many pictures one may overtake, or -1.
func h264Reorder(sps *h264.SPS) int {
	const baseline = 66
	if sps.PicOrderCntType == 2 || sps.ProfileIdc == baseline {
		return 0 // H.264 8.2.1.3, A.2.1: output order is decoding order
	}
	if sps.VUI != nil && sps.VUI.BitstreamRestriction != nil {
		return int(min(sps.VUI.BitstreamRestriction.MaxNumReorderFrames, 16))
	}
	return -1
}

func saneFPS(fps float64) float64 {
	if fps > 0 && fps <= 300 {
		return fps
	}
	return 0
}
