package fmp4

import (
	"errors"
	"fmt"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
)

const maxParameterSet = 65535 // avcC and hvcC hold lengths in 16 bits

// H264 is an H.264 track's codec: sample entry avc1, with all parameter sets in
// the init segment.
type H264 struct {
	sps  []byte
	pps  [][]byte
	info h264.SPS
	pic  Picture
}

// NewH264 reads the parameter sets (NAL units without start codes), which it
// keeps and which must not change afterwards.
func NewH264(sps []byte, pps ...[]byte) (*H264, error) {
	if len(pps) == 0 || len(pps) > 31 {
		return nil, fmt.Errorf("h264 has %d picture parameter sets, want 1 to 31", len(pps))
	}
	for _, p := range pps {
		if len(p) < 2 || len(p) > maxParameterSet || p[0]&0x1f != 8 {
			return nil, errors.New("h264 picture parameter set is malformed")
		}
	}
	if len(sps) < 4 || len(sps) > maxParameterSet {
		return nil, errors.New("h264 sequence parameter set is malformed")
	}
	c := &H264{sps: sps, pps: pps}
	if err := c.info.Unmarshal(sps); err != nil {
		return nil, fmt.Errorf("read h264 sequence parameter set: %w", err)
	}
	c.pic = Picture{Width: c.info.Width(), Height: c.info.Height(), SARWidth: 1, SARHeight: 1}
	if c.pic.Width < 1 || c.pic.Height < 1 || c.pic.Width > maxPictureSide || c.pic.Height > maxPictureSide {
		return nil, fmt.Errorf("h264 picture of %d x %d cannot be written", c.pic.Width, c.pic.Height)
	}
	if vui := c.info.VUI; vui != nil {
		c.pic.SARWidth, c.pic.SARHeight = sampleAspectRatio(vui.AspectRatioIdc, vui.SarWidth, vui.SarHeight)
		if t := vui.TimingInfo; t != nil && t.NumUnitsInTick > 0 {
			c.pic.FPS = c.info.FPS()
		}
	}
	return c, nil
}

// CodecString is avc1.PPCCLL: profile, constraint flags and level of the
// sequence parameter set (RFC 6381 section 3.3).
func (c *H264) CodecString() string {
	return fmt.Sprintf("avc1.%02X%02X%02X", c.sps[1], c.sps[2], c.sps[3])
}

// Picture is the picture's form.
func (c *H264) Picture() Picture { return c.pic }

func (c *H264) picture() (Picture, bool) { return c.pic, true }

func (c *H264) appendSampleEntry(dst []byte) []byte {
	dst, entry := appendVisualEntry(dst, "avc1", c.pic)
	dst, avcC := startBox(dst, "avcC")
	dst = append(dst, 1, c.sps[1], c.sps[2], c.sps[3])
	dst = append(dst, 0xfc|3) // lengths of 4 bytes
	dst = append(dst, 0xe0|1) // one SPS
	dst = appendU16(dst, uint16(len(c.sps)))
	dst = append(dst, c.sps...)
	dst = append(dst, byte(len(c.pps)))
	for _, p := range c.pps {
		dst = appendU16(dst, uint16(len(p)))
		dst = append(dst, p...)
	}
	// ISO 14496-15 5.3.3.1.2: every profile above Extended has these four.
	switch c.info.ProfileIdc {
	case 66, 77, 88:
	default:
		dst = append(dst,
			0xfc|byte(c.info.ChromaFormatIdc&3),
			0xf8|byte(c.info.BitDepthLumaMinus8&7),
			0xf8|byte(c.info.BitDepthChromaMinus8&7),
			0) // no SPS extensions
	}
	dst = endBox(dst, avcC)
	dst = appendPixelAspect(dst, c.pic)
	return endBox(dst, entry)
}
