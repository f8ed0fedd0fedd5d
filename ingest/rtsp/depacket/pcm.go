package depacket

import (
	"fmt"

	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/pcm"
)

// PCMConfig is how a track's sound is coded that becomes FLAC.
type PCMConfig struct {
	Params *media.Params // of the FLAC

	format      flac.Format
	decoder     func() func(dst []int16, data []byte) []int16
	unitBytes   int // the least that can be decoded: one sample of each channel, or two of G.722
	unitSamples int // of each channel
	unitTicks   int // of the RTP clock
}

// NewPCMConfig returns how a track is taken whose rtpmap names PCMA, PCMU, G722
// or L16 (RFC 3551 section 4.5). The error says what is wrong with it.
func NewPCMConfig(encoding string, clockRate, channels int) (*PCMConfig, error) {
	channels = max(channels, 1)
	c := &PCMConfig{
		format:    flac.Format{SampleRate: clockRate, Channels: channels},
		unitBytes: channels, unitSamples: 1, unitTicks: 1,
	}
	switch encoding {
	case "PCMA":
		c.decoder = stateless(pcm.AppendALaw)
	case "PCMU":
		c.decoder = stateless(pcm.AppendMuLaw)
	case "L16":
		c.decoder = stateless(pcm.AppendL16)
		c.unitBytes = 2 * channels
	case "G722":
		// 16 kHz, though its clock is said to be of 8 (RFC 3551 section 4.5.2);
		// there are cameras that know better.
		if clockRate != 8000 && clockRate != 16000 || channels != 1 {
			return nil, fmt.Errorf("the camera's G.722 has a clock of %d Hz and %d channels, which there is no such thing as", clockRate, channels)
		}
		c.format.SampleRate, c.unitSamples, c.unitTicks = 16000, 2, clockRate/8000
		c.decoder = func() func([]int16, []byte) []int16 { return new(pcm.G722).Append }
	default:
		return nil, fmt.Errorf("%s cannot be made into FLAC", encoding)
	}
	if _, err := flac.NewEncoder(c.format); err != nil {
		return nil, fmt.Errorf("the camera's %s has %d Hz and %d channels: only mono and stereo of up to %d Hz are taken",
			encoding, clockRate, channels, flac.MaxRate)
	}
	c.Params = &media.Params{
		Codec: media.CodecFLAC, AudioConfig: flac.AppendStreamInfo(nil, c.format),
		SampleRate: c.format.SampleRate, Channels: channels,
	}
	return c, nil
}

func stateless(decode func([]int16, []byte) []int16) func() func([]int16, []byte) []int16 {
	return func() func([]int16, []byte) []int16 { return decode }
}

// PCM makes FLAC of sound that browsers do not take in HLS, and not a sample is
// changed. Packets are gathered into frames of framesPerSecond: what a frame costs
// all who handle it is more than what its samples cost.
type PCM struct {
	sound
	config  *PCMConfig
	decode  func(dst []int16, data []byte) []int16
	encoder *flac.Encoder

	pending []int16 // samples that are not yet in a frame
	begun   uint32  // RTP time of the first of them
	frame   []byte  // room that is used again
}

// framesPerSecond is how many frames a second of sound becomes at most, but for
// packets that are shorter or longer, or missing.
const framesPerSecond = 20

// NewPCM returns a depacketizer that writes into arena.
func NewPCM(arena *media.Arena, sink Sink, config *PCMConfig) *PCM {
	encoder, err := flac.NewEncoder(config.format)
	if err != nil {
		panic(err) // NewPCMConfig has made one of this format
	}
	return &PCM{sound: sound{arena: arena, sink: sink}, config: config, decode: config.decoder(), encoder: encoder}
}

// Packet implements Depacketizer.
func (d *PCM) Packet(p Packet, missing int) {
	if missing > 0 || !d.goesOn(p.Timestamp) {
		d.flush(d.pendingTicks())
	}
	d.miss(missing)
	unit := d.config.unitBytes
	data := p.Payload[:len(p.Payload)/unit*unit]
	if len(data) < len(p.Payload) {
		d.spoil(ReasonMalformed) // what is whole is taken all the same
	}
	most := flac.MaxBlock / d.config.unitSamples * unit
	for at := 0; at < len(data); at += most {
		chunk := data[at:min(at+most, len(data))]
		if (len(d.pending)/d.config.format.Channels + len(chunk)/unit*d.config.unitSamples) > flac.MaxBlock {
			d.flush(0)
		}
		if len(d.pending) == 0 {
			d.begun = p.Timestamp + uint32(at/unit*d.config.unitTicks)
		}
		d.pending = d.decode(d.pending, chunk)
	}
	if len(d.pending) >= d.config.format.SampleRate*d.config.format.Channels/framesPerSecond {
		d.flush(max(int64(int32(p.Timestamp-d.begun)), 0))
	}
}

// pendingTicks is how long the pending samples last, of the RTP clock.
func (d *PCM) pendingTicks() int64 {
	return int64(len(d.pending) / d.config.format.Channels / d.config.unitSamples * d.config.unitTicks)
}

// goesOn reports whether a packet's sound follows on what is pending, give or take
// half a packet: some cameras stamp by a clock on the wall.
func (d *PCM) goesOn(timestamp uint32) bool {
	off := int64(int32(timestamp - d.begun - uint32(d.pendingTicks())))
	most := int64(d.config.format.SampleRate / d.config.unitSamples * d.config.unitTicks / 100)
	return off >= -most && off <= most
}

// flush makes a frame of the samples that are pending, the first of which came so
// many ticks ago.
func (d *PCM) flush(age int64) {
	if len(d.pending) == 0 {
		return
	}
	d.frame = d.encoder.AppendFrame(d.frame[:0], d.pending)
	d.pending = d.pending[:0]
	d.arena.Begin()
	d.deliver(d.config.Params, d.frame, Unit{Timestamp: d.begun, Age: age})
}
