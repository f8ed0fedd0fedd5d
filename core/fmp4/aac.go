package fmp4

import (
	"errors"
	"fmt"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
)

// AAC is an MPEG-4 audio track's codec: sample entry mp4a.
type AAC struct {
	config []byte
	info   mpeg4audio.AudioSpecificConfig
}

// NewAAC reads an AudioSpecificConfig, which it keeps and which must not change
// afterwards.
func NewAAC(config []byte) (*AAC, error) {
	if len(config) > 64 {
		return nil, errors.New("aac config is too long")
	}
	c := &AAC{config: config}
	if err := c.info.Unmarshal(config); err != nil {
		return nil, fmt.Errorf("read aac config: %w", err)
	}
	if c.info.SampleRate < 1 {
		return nil, errors.New("aac config has no sample rate")
	}
	return c, nil
}

// CodecString is mp4a.40 and the audio object type that the config itself
// names: 2 for AAC-LC, 5 for HE-AAC and 29 for HE-AAC v2 where they are
// signalled.
func (c *AAC) CodecString() string { return fmt.Sprintf("mp4a.40.%d", c.config[0]>>3) }

// SampleRate is the rate of the core codec in Hz.
func (c *AAC) SampleRate() int { return c.info.SampleRate }

// Channels is the count of channels, 0 where only the stream says it.
func (c *AAC) Channels() int {
	if c.info.ChannelConfig == 7 {
		return 8
	}
	return int(c.info.ChannelConfig)
}

// SamplesPerFrame is how many samples of the core codec one frame holds.
func (c *AAC) SamplesPerFrame() int {
	if c.info.FrameLengthFlag {
		return 960
	}
	return 1024
}

func (c *AAC) picture() (Picture, bool) { return Picture{}, false }

func (c *AAC) appendSampleEntry(dst []byte) []byte {
	channels := c.Channels()
	if channels == 0 {
		channels = 2 // told by the stream; readers take it from there
	}
	dst, entry := appendAudioEntry(dst, "mp4a", channels, c.info.SampleRate)
	dst = c.appendESDS(dst)
	return endBox(dst, entry)
}

// appendESDS appends the elementary stream descriptor (ISO 14496-1 7.2.6). Its
// parts are short enough for lengths of one byte.
func (c *AAC) appendESDS(dst []byte) []byte {
	n := byte(len(c.config))
	dst, esds := startFullBox(dst, "esds", 0, 0)
	dst = append(dst, 3, 3+2+13+2+n+3) // ES_Descriptor
	dst = appendU16(dst, 0)            // ES_ID
	dst = append(dst, 0)
	dst = append(dst, 4, 13+2+n) // DecoderConfigDescriptor
	dst = append(dst, 0x40)      // MPEG-4 audio
	dst = append(dst, 5<<2|1)    // audio stream
	dst = append(dst, 0, 0, 0)   // bufferSizeDB
	dst = appendU32(dst, 0)      // maxBitrate: unknown
	dst = appendU32(dst, 0)      // avgBitrate: unknown
	dst = append(dst, 5, n)      // DecoderSpecificInfo
	dst = append(dst, c.config...)
	dst = append(dst, 6, 1, 2) // SLConfigDescriptor
	return endBox(dst, esds)
}
