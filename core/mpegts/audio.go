package mpegts

import (
	"errors"
	"fmt"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
)

// ADTS is what an ADTS header says of AAC frames.
type ADTS struct {
	profile  byte // audio object type less one
	rate     byte // index of the sampling frequency
	channels byte // channel configuration
}

const adtsHeader = 7

// Bounds of audio: an ADTS header counts its frame in 13 bits, a PES header its
// packet in 16.
const (
	MaxAudioFrameBytes = 8191 - adtsHeader
	MaxAudioFrames     = 7 // in one group
)

// NewADTS reads an AudioSpecificConfig. HE-AAC is written as its core, AAC-LC:
// readers find the extension in the frames.
func NewADTS(config []byte) (ADTS, error) {
	var c mpeg4audio.AudioSpecificConfig
	if err := c.Unmarshal(config); err != nil {
		return ADTS{}, fmt.Errorf("read aac config: %w", err)
	}
	if c.ChannelConfig == 0 || c.ChannelConfig > 7 {
		return ADTS{}, errors.New("aac config names no channels")
	}
	for i, rate := range [...]int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350} {
		if rate == c.SampleRate {
			return ADTS{profile: byte(c.Type-1) & 3, rate: byte(i), channels: c.ChannelConfig}, nil
		}
	}
	return ADTS{}, fmt.Errorf("adts knows no sample rate of %d Hz", c.SampleRate)
}

// Sound is a group of AAC frames that share one PES packet: at most
// MaxAudioFrames, each of at most MaxAudioFrameBytes.
type Sound struct {
	PTS    int64 // of the first frame, ticks of 90 kHz
	Frames [][]byte

	// Discontinuity: the clock does not go on from the group before. It is
	// written where audio carries the clock.
	Discontinuity bool
}

func soundSize(frames, bytes int) int { return 14 + frames*adtsHeader + bytes }

// SkipSound moves the counters on as AppendSound would for that many frames with
// that many bytes in all, and returns how many packets it would append.
func SkipSound(p *Program, frames, bytes int, cc *Counters) int {
	n := packets(soundSize(frames, bytes), !p.Video)
	cc.Audio = (cc.Audio + uint8(n&15)) & 15
	return n
}

// AppendSound appends the packets of a group of audio frames.
func AppendSound(dst []byte, p *Program, s *Sound, cc *Counters) []byte {
	bytes := 0
	for _, f := range s.Frames {
		bytes += len(f)
	}
	size := soundSize(len(s.Frames), bytes)
	w := pesWriter{dst: dst, pid: pidAudio, cc: &cc.Audio, left: size}
	if !p.Video {
		w.clocked, w.clock, w.flags = true, s.PTS+clockOffset-clockDelay, flagRandomAccess
		if s.Discontinuity {
			w.flags |= flagDiscontinuity
		}
	}
	var room [32]byte
	length := size - 6
	head := append(room[:0], 0, 0, 1, 0xc0, byte(length>>8), byte(length), 0x84, 0x80, 5)
	head = appendTime(head, 2, s.PTS)
	w.write(head)
	for _, f := range s.Frames {
		w.write(p.ADTS.appendHeader(room[:0], len(f)))
		w.write(f)
	}
	return w.dst
}

// appendHeader appends the ADTS header of a frame of n bytes (ISO 14496-3
// 1.A.2.2): no checksum, buffer fullness that says variable bit rate.
func (a ADTS) appendHeader(dst []byte, n int) []byte {
	n += adtsHeader
	return append(dst, 0xff, 0xf1,
		a.profile<<6|a.rate<<2|a.channels>>2,
		a.channels<<6|byte(n>>11)&3,
		byte(n>>3),
		byte(n<<5)|0x1f,
		0xfc)
}
