package fmp4

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h265"
)

// H265 is an H.265 track's codec: sample entry hvc1, with all parameter sets in
// the init segment. Apple's players refuse hev1.
type H265 struct {
	vps, sps []byte
	pps      [][]byte
	ptl      [12]byte // general profile, tier and level as they stand in the SPS
	info     h265.SPS
	pic      Picture
}

// NAL unit types of the parameter sets.
const (
	nalVPS = 32
	nalSPS = 33
	nalPPS = 34
)

// NewH265 reads the parameter sets (NAL units without start codes), which it
// keeps and which must not change afterwards.
func NewH265(vps, sps []byte, pps ...[]byte) (*H265, error) {
	if !isH265(vps, nalVPS) || !isH265(sps, nalSPS) {
		return nil, errors.New("h265 video or sequence parameter set is malformed")
	}
	if len(pps) == 0 || len(pps) > 64 {
		return nil, fmt.Errorf("h265 has %d picture parameter sets, want 1 to 64", len(pps))
	}
	for _, p := range pps {
		if !isH265(p, nalPPS) {
			return nil, errors.New("h265 picture parameter set is malformed")
		}
	}
	c := &H265{vps: vps, sps: sps, pps: pps}
	if err := c.info.Unmarshal(sps); err != nil {
		return nil, fmt.Errorf("read h265 sequence parameter set: %w", err)
	}
	// 7.3.2.2.1: two bytes of NAL header, one of VPS id and layers, then
	// profile_tier_level, whose general part is twelve bytes.
	head := h264.EmulationPreventionRemove(sps)
	if len(head) < 15 {
		return nil, errors.New("h265 sequence parameter set is too short")
	}
	copy(c.ptl[:], head[3:])
	c.pic = Picture{Width: c.info.Width(), Height: c.info.Height(), SARWidth: 1, SARHeight: 1}
	if c.pic.Width < 1 || c.pic.Height < 1 || c.pic.Width > maxPictureSide || c.pic.Height > maxPictureSide {
		return nil, fmt.Errorf("h265 picture of %d x %d cannot be written", c.pic.Width, c.pic.Height)
	}
	if vui := c.info.VUI; vui != nil {
		c.pic.SARWidth, c.pic.SARHeight = sampleAspectRatio(vui.AspectRatioIdc, vui.SarWidth, vui.SarHeight)
		if t := vui.TimingInfo; t != nil && t.NumUnitsInTick > 0 {
			c.pic.FPS = c.info.FPS()
		}
	}
	return c, nil
}

func isH265(nal []byte, kind byte) bool {
	return len(nal) > 3 && len(nal) <= maxParameterSet && nal[0]>>1&0x3f == kind
}

// CodecString is the name of ISO 14496-15 annex E: hvc1, profile, compatibility
// flags in reverse order, tier and level, and the constraint bytes up to the
// last that is not zero.
func (c *H265) CodecString() string {
	var b strings.Builder
	b.WriteString("hvc1.")
	if space := c.ptl[0] >> 6; space > 0 {
		b.WriteByte('A' + space - 1)
	}
	compat := uint32(c.ptl[1])<<24 | uint32(c.ptl[2])<<16 | uint32(c.ptl[3])<<8 | uint32(c.ptl[4])
	tier := byte('L')
	if c.ptl[0]&0x20 != 0 {
		tier = 'H'
	}
	fmt.Fprintf(&b, "%d.%X.%c%d", c.ptl[0]&0x1f, bits.Reverse32(compat), tier, c.ptl[11])
	constraints := c.ptl[5:11]
	for len(constraints) > 0 && constraints[len(constraints)-1] == 0 {
		constraints = constraints[:len(constraints)-1]
	}
	for _, v := range constraints {
		fmt.Fprintf(&b, ".%X", v)
	}
	return b.String()
}

// Picture is the picture's form.
func (c *H265) Picture() Picture { return c.pic }

func (c *H265) picture() (Picture, bool) { return c.pic, true }

func (c *H265) appendSampleEntry(dst []byte) []byte {
	dst, entry := appendVisualEntry(dst, "hvc1", c.pic)
	dst, hvcC := startBox(dst, "hvcC")
	dst = append(dst, 1)
	dst = append(dst, c.ptl[:]...)
	dst = appendU16(dst, 0xf000) // min_spatial_segmentation_idc: unknown
	dst = append(dst, 0xfc)      // parallelismType: unknown
	dst = append(dst, 0xfc|byte(c.info.ChromaFormatIdc&3))
	dst = append(dst, 0xf8|byte(c.info.BitDepthLumaMinus8&7))
	dst = append(dst, 0xf8|byte(c.info.BitDepthChromaMinus8&7))
	dst = appendU16(dst, 0) // avgFrameRate: unspecified
	nested := byte(0)
	if c.info.TemporalIDNestingFlag {
		nested = 1
	}
	// constantFrameRate 0: unknown; lengths of 4 bytes.
	dst = append(dst, (c.info.MaxSubLayersMinus1+1)&7<<3|nested<<2|3)
	dst = append(dst, 3) // numOfArrays
	dst = appendArray(dst, nalVPS, c.vps)
	dst = appendArray(dst, nalSPS, c.sps)
	dst = appendArray(dst, nalPPS, c.pps...)
	dst = endBox(dst, hvcC)
	dst = appendPixelAspect(dst, c.pic)
	return endBox(dst, entry)
}

// appendArray appends parameter sets of one kind. The completeness bit is what
// hvc1 demands: none of this kind is in the samples.
func appendArray(dst []byte, kind byte, nals ...[]byte) []byte {
	dst = append(dst, 0x80|kind)
	dst = appendU16(dst, uint16(len(nals)))
	for _, nal := range nals {
		dst = appendU16(dst, uint16(len(nal)))
		dst = append(dst, nal...)
	}
	return dst
}
