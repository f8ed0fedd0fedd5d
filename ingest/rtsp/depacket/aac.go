package depacket

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"

	"github.com/drover-video/drover/core/media"
)

// maxAACUnits bounds the access units of a packet.
const maxAACUnits = 64

// maxAACBytes bounds an access unit: 6144 bits a channel (ISO 14496-3 4.5.3.1),
// and room for eight channels.
const maxAACBytes = 6144

// AACConfig is what the SDP says of an MPEG-4 audio track (RFC 3640 section 4.1).
type AACConfig struct {
	Params *media.Params

	sizeBits, indexBits, deltaBits int
	unitTicks                      int64 // of the RTP clock, that an access unit lasts
}

// ParseAACConfig reads the fmtp parameters of an MPEG4-GENERIC track; keys are in
// lower case. The error says what is wrong with them.
func ParseAACConfig(fmtp map[string]string, clockRate int) (*AACConfig, error) {
	text := fmtp["config"]
	if text == "" {
		return nil, errors.New("the camera does not send its AAC configuration")
	}
	if len(text)%2 != 0 {
		text += "0" // an AudioSpecificConfig of 13 bits, cut at the nibble
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) > 64 {
		return nil, errors.New("the camera's AAC configuration is not hexadecimal")
	}
	params, ticks, err := readAACConfig(raw, clockRate)
	if err != nil {
		return nil, err
	}
	c := &AACConfig{Params: params, unitTicks: ticks, sizeBits: 13, indexBits: 3, deltaBits: 3}
	if strings.EqualFold(fmtp["mode"], "AAC-lbr") {
		c.sizeBits, c.indexBits, c.deltaBits = 6, 2, 2
	}
	for key, bits := range map[string]*int{"sizelength": &c.sizeBits, "indexlength": &c.indexBits, "indexdeltalength": &c.deltaBits} {
		if value, ok := fmtp[key]; ok {
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n > 32 {
				return nil, fmt.Errorf("the camera's AAC track has %s=%.20q", key, value)
			}
			*bits = n
		}
	}
	if c.sizeBits == 0 {
		return nil, errors.New("the camera's AAC track has units of constant size, which no camera is known to send")
	}
	return c, nil
}

// readAACConfig reads an AudioSpecificConfig, which it keeps. It returns too how
// long an access unit lasts, in ticks of the RTP clock.
func readAACConfig(raw []byte, clockRate int) (params *media.Params, unitTicks int64, err error) {
	var parsed mpeg4audio.AudioSpecificConfig
	if err := parsed.Unmarshal(raw); err != nil {
		return nil, 0, fmt.Errorf("the camera's AAC configuration cannot be read: %w", err)
	}
	channels := int(parsed.ChannelConfig)
	if channels == 7 {
		channels = 8
	}
	if parsed.SampleRate <= 0 || channels == 0 || clockRate <= 0 {
		return nil, 0, errors.New("the camera's AAC configuration has no sampling rate or no channels")
	}
	samples := int64(1024)
	if parsed.FrameLengthFlag {
		samples = 960
	}
	return &media.Params{
		Codec: media.CodecAAC, AudioConfig: raw,
		SampleRate: parsed.SampleRate, Channels: channels,
	}, samples * int64(clockRate) / int64(parsed.SampleRate), nil
}

// UnitTicks returns how long an access unit lasts, in ticks of the RTP clock.
func (c *AACConfig) UnitTicks() int64 { return c.unitTicks }

// AAC takes MPEG-4 audio apart (RFC 3640, modes AAC-hbr and AAC-lbr).
type AAC struct {
	sound
	config *AACConfig

	// An access unit in several packets.
	open      bool
	timestamp uint32
	want      int
}

// NewAAC returns a depacketizer that writes into arena.
func NewAAC(arena *media.Arena, sink Sink, config *AACConfig) *AAC {
	return &AAC{sound: sound{arena: arena, sink: sink}, config: config}
}

// Params returns the parameters of the track.
func (d *AAC) Params() *media.Params { return d.config.Params }

// Packet implements Depacketizer.
func (d *AAC) Packet(p Packet, missing int) {
	if missing > 0 {
		d.miss(missing)
		if d.open {
			d.open = false
			d.sink.Discard(ReasonLoss)
		}
	}
	if len(p.Payload) == 0 {
		return
	}
	var sizes [maxAACUnits]int
	n, data, ok := d.headers(p.Payload, &sizes)
	if !ok {
		d.spoil(ReasonMalformed)
		return
	}
	if n == 1 && sizes[0] > len(data) {
		d.fragment(p, data, sizes[0])
		return
	}
	d.open = false
	for i, size := range sizes[:n] {
		if size > len(data) {
			d.spoil(ReasonMalformed)
			return
		}
		d.arena.Begin()
		d.deliver(d.config.Params, data[:size], Unit{Timestamp: p.Timestamp, Offset: int64(i) * d.config.unitTicks})
		data = data[size:]
	}
}

// headers reads the AU Header Section (RFC 3640 section 3.2.1).
func (d *AAC) headers(b []byte, sizes *[maxAACUnits]int) (n int, data []byte, ok bool) {
	if len(b) < 2 {
		return 0, nil, false
	}
	bits := int(b[0])<<8 | int(b[1])
	section := (bits + 7) / 8
	if len(b) < 2+section {
		return 0, nil, false
	}
	reader := bitReader{data: b[2 : 2+section], left: bits}
	for index := d.config.indexBits; reader.left >= d.config.sizeBits+index; index = d.config.deltaBits {
		size := reader.read(d.config.sizeBits)
		if reader.read(index) != 0 && n > 0 {
			return 0, nil, false // interleaved: index-delta must be 0 in AAC-hbr as cameras send it
		}
		if n == maxAACUnits || size > maxAACBytes*8 {
			return 0, nil, false
		}
		sizes[n] = size
		n++
	}
	return n, b[2+section:], n > 0
}

// fragment takes a piece of an access unit that is larger than a packet; each
// piece comes behind a header that tells the whole size.
func (d *AAC) fragment(p Packet, data []byte, size int) {
	if !d.open || d.timestamp != p.Timestamp || d.want != size {
		if d.open {
			d.sink.Discard(ReasonFragment)
		}
		d.open, d.timestamp, d.want = true, p.Timestamp, size
		d.arena.Begin()
	}
	if d.arena.Len()+len(data) > size {
		d.open = false
		d.spoil(ReasonMalformed)
		return
	}
	if p.Marker || d.arena.Len()+len(data) == size {
		d.open = false
		if d.arena.Len()+len(data) != size {
			d.spoil(ReasonFragment)
			return
		}
		d.deliver(d.config.Params, data, Unit{Timestamp: p.Timestamp})
		return
	}
	if err := d.arena.Append(data); err != nil {
		d.open = false
		d.spoil(ReasonTooLarge)
	}
}

// bitReader reads numbers of a few bits, the highest bit first.
type bitReader struct {
	data []byte
	pos  int
	left int // bits
}

func (r *bitReader) read(n int) int {
	value := 0
	for range n {
		value = value<<1 | int(r.data[r.pos/8]>>(7-r.pos%8)&1)
		r.pos++
	}
	r.left -= n
	return value
}
