package fmp4

import "fmt"

// OpusRate is the clock of Opus in MP4 and in RTP, whatever was recorded.
const OpusRate = 48000

// Opus is an Opus track's codec: sample entry Opus ("Encapsulation of Opus in ISO
// Base Media File Format"). Each sample is one packet.
type Opus struct{ channels int }

// NewOpus returns the codec of a stream of one or two channels.
func NewOpus(channels int) (*Opus, error) {
	if channels < 1 || channels > 2 {
		return nil, fmt.Errorf("opus of %d channels cannot be written", channels)
	}
	return &Opus{channels}, nil
}

// CodecString is the name of the sample entry, as it is registered. Players take
// it in small letters, too.
func (c *Opus) CodecString() string { return "Opus" }

func (c *Opus) picture() (Picture, bool) { return Picture{}, false }

func (c *Opus) appendSampleEntry(dst []byte) []byte {
	dst, entry := appendAudioEntry(dst, "Opus", c.channels, OpusRate)
	dst, dops := startBox(dst, "dOps")
	dst = append(dst, 0, byte(c.channels))
	dst = appendU16(dst, 0) // PreSkip: the stream has no beginning that could be left out
	dst = appendU32(dst, OpusRate)
	dst = append(dst, 0, 0, 0) // OutputGain, ChannelMappingFamily
	dst = endBox(dst, dops)
	return endBox(dst, entry)
}

// OpusSamples returns how many samples at OpusRate a packet holds (RFC 6716
// section 3.1), or 0 for what is no packet.
func OpusSamples(packet []byte) int {
	if len(packet) == 0 {
		return 0
	}
	config, frames := packet[0]>>3, 0
	switch packet[0] & 3 {
	case 0:
		frames = 1
	case 1, 2:
		frames = 2
	case 3:
		if len(packet) < 2 {
			return 0
		}
		frames = int(packet[1] & 0x3f)
	}
	size := 0
	switch {
	case config < 12: // SILK: 10, 20, 40 or 60 ms
		size = [...]int{480, 960, 1920, 2880}[config&3]
	case config < 16: // hybrid: 10 or 20 ms
		size = 480 << (config & 1)
	default: // CELT: 2.5 to 20 ms
		size = 120 << (config & 3)
	}
	if n := size * frames; n <= 5760 { // 120 ms
		return n
	}
	return 0
}
