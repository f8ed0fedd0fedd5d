package fmp4

import (
	"fmt"

	"github.com/drover-video/drover/core/flac"
)

// FLAC is a FLAC track's codec: sample entry fLaC ("Encapsulation of FLAC in ISO
// Base Media File Format"). Each sample is one frame.
type FLAC struct {
	streamInfo []byte
	format     flac.Format
}

// NewFLAC reads a STREAMINFO block without its header, which it keeps and which
// must not change afterwards.
func NewFLAC(streamInfo []byte) (*FLAC, error) {
	format, err := flac.ReadStreamInfo(streamInfo)
	if err != nil {
		return nil, fmt.Errorf("read flac stream info: %w", err)
	}
	return &FLAC{streamInfo, format}, nil
}

// CodecString is the name of the sample entry, as it is registered. Players take
// it in small letters, too.
func (c *FLAC) CodecString() string { return "fLaC" }

// SampleRate is the sampling rate in Hz.
func (c *FLAC) SampleRate() int { return c.format.SampleRate }

func (c *FLAC) picture() (Picture, bool) { return Picture{}, false }

func (c *FLAC) appendSampleEntry(dst []byte) []byte {
	dst, entry := appendAudioEntry(dst, "fLaC", c.format.Channels, c.format.SampleRate)
	dst, dfla := startFullBox(dst, "dfLa", 0, 0)
	dst = append(dst, 0x80, 0, 0, flac.StreamInfoBytes) // the last metadata block, of type STREAMINFO
	dst = append(dst, c.streamInfo...)
	dst = endBox(dst, dfla)
	return endBox(dst, entry)
}
