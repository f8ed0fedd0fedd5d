package depacket

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/drover-video/drover/core/media"
)

// LATMConfig is what the SDP says of an MPEG-4 audio track in LATM (RFC 6416
// section 7).
type LATMConfig struct {
	mux       *latmMux // nil: the stream brings it
	inBand    bool     // the stream may bring another
	clockRate int
}

// ParseLATMConfig reads the fmtp parameters of an MP4A-LATM track; keys are in
// lower case. The error says what is wrong with them.
func ParseLATMConfig(fmtp map[string]string, clockRate int) (*LATMConfig, error) {
	if clockRate <= 0 {
		return nil, errors.New("the camera does not say the clock of its AAC track")
	}
	c := &LATMConfig{clockRate: clockRate, inBand: fmtp["cpresent"] != "0"}
	text := fmtp["config"]
	if text == "" {
		if !c.inBand {
			return nil, errors.New("the camera does not send its AAC configuration")
		}
		return c, nil
	}
	raw, err := hex.DecodeString(text + strings.Repeat("0", len(text)%2))
	if err != nil || len(raw) > 64 {
		return nil, errors.New("the camera's AAC configuration is not hexadecimal")
	}
	// Some cut it off where only zeros are left.
	r := latmReader{data: append(raw, make([]byte, 8)...)}
	if c.mux, err = readLATMMux(&r, clockRate); err != nil {
		if c.inBand {
			c.mux = nil // another will come
			return c, nil
		}
		return nil, err
	}
	return c, nil
}

// Params returns the parameters of the track, or nil if only the stream says
// them.
func (c *LATMConfig) Params() *media.Params {
	if c.mux == nil {
		return nil
	}
	return c.mux.params
}

// latmMux is a StreamMuxConfig (ISO 14496-3 table 1.42) of one program and one
// layer, which is all that RTP cameras send.
type latmMux struct {
	params     *media.Params
	unitTicks  int64
	subFrames  int // access units in an AudioMuxElement
	fixedBytes int // of each; 0: each says how long it is
}

var errLATM = errors.New("the camera's AAC stream is multiplexed in a way that no camera is known to send")

// readLATMMux reads a StreamMuxConfig.
func readLATMMux(r *latmReader, clockRate int) (*latmMux, error) {
	version := r.read(1)
	if version == 1 {
		if r.read(1) != 0 {
			return nil, errLATM // version A of 1 is left to the future
		}
		r.value() // taraBufferFullness
	}
	sameFraming := r.read(1)
	m := &latmMux{subFrames: int(r.read(6)) + 1}
	programs, layers := r.read(4), r.read(3)
	if sameFraming != 1 || programs != 0 || layers != 0 {
		return nil, errLATM
	}
	configEnd := -1
	if version == 1 {
		length := int(r.value())
		configEnd = r.pos + length
	}
	start := r.pos
	if err := skipAudioConfig(r); err != nil {
		return nil, err
	}
	config := r.bits(start, r.pos)
	if version == 1 {
		if r.pos > configEnd {
			return nil, errLATM
		}
		r.skip(configEnd - r.pos)
	}
	switch r.read(3) { // frameLengthType
	case 0:
		r.read(8) // latmBufferFullness
	case 1:
		m.fixedBytes = int(r.read(9)) + 20
	default:
		return nil, errLATM
	}
	if r.read(1) == 1 { // otherDataPresent
		// How many bits of other data follow the access units. Nothing follows
		// those.
		if version == 1 {
			r.value()
		} else {
			for more := uint32(1); more == 1; r.read(8) {
				more = r.read(1)
			}
		}
	}
	if r.read(1) == 1 { // crcCheckPresent
		r.read(8)
	}
	if r.over {
		return nil, errLATM
	}
	var err error
	m.params, m.unitTicks, err = readAACConfig(config, clockRate)
	return m, err
}

// skipAudioConfig moves past an AudioSpecificConfig of AAC-LC, with or without
// SBR (ISO 14496-3 1.6.2.1 and 4.4.1).
func skipAudioConfig(r *latmReader) error {
	object := r.object()
	r.frequency()
	channels := r.read(4)
	if object == 5 || object == 29 { // SBR, or with parametric stereo
		r.frequency()
		object = r.object()
	}
	if object != 2 {
		return fmt.Errorf("the camera's AAC is of object type %d: only AAC-LC and HE-AAC are taken", object)
	}
	if channels == 0 {
		return errors.New("the camera's AAC configuration does not say its channels")
	}
	r.read(1)           // frameLengthFlag
	if r.read(1) == 1 { // dependsOnCoreCoder
		r.read(14)
	}
	if r.read(1) == 1 { // extensionFlag
		return errLATM
	}
	return nil
}

// latmReader reads numbers of bits; beyond the end there are zeros, and over is
// set.
type latmReader struct {
	data []byte
	pos  int // bits
	over bool
}

func (r *latmReader) read(n int) uint32 {
	value := uint32(0)
	for range n {
		value <<= 1
		if r.pos < 8*len(r.data) {
			value |= uint32(r.data[r.pos/8]>>(7-r.pos%8)) & 1
		} else {
			r.over = true
		}
		r.pos++
	}
	return value
}

// skip moves on by n bits, which may be beyond the end.
func (r *latmReader) skip(n int) {
	r.pos += n
	r.over = r.over || r.pos > 8*len(r.data)
}

// value reads a LatmGetValue (ISO 14496-3 table 1.43).
func (r *latmReader) value() uint32 {
	value := uint32(0)
	for range r.read(2) + 1 {
		value = value<<8 | r.read(8)
	}
	return min(value, 8*maxLATMBytes+1)
}

func (r *latmReader) object() uint32 {
	object := r.read(5)
	if object == 31 {
		object = 32 + r.read(6)
	}
	return object
}

func (r *latmReader) frequency() {
	if r.read(4) == 15 {
		r.read(24)
	}
}

// bits copies what lies between two positions, filled up with zeros.
func (r *latmReader) bits(start, end int) []byte {
	at := latmReader{data: r.data, pos: start}
	out := make([]byte, 0, (end-start+7)/8)
	for ; at.pos+8 <= end; out = append(out, byte(at.read(8))) {
	}
	if left := end - at.pos; left > 0 {
		out = append(out, byte(at.read(left)<<(8-left)))
	}
	return out
}
