package depacket

import (
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
)

// Opus takes Opus apart (RFC 7587): each packet holds one Opus packet, which is
// handed on as it is.
type Opus struct {
	sound
	params *media.Params
}

// NewOpusParams returns the parameters of any Opus track. Each packet says
// whether it is mono, and decoders bring it as stereo all the same.
func NewOpusParams() *media.Params {
	return &media.Params{Codec: media.CodecOpus, SampleRate: fmp4.OpusRate, Channels: 2}
}

// NewOpus returns a depacketizer that writes into arena.
func NewOpus(arena *media.Arena, sink Sink, params *media.Params) *Opus {
	return &Opus{sound: sound{arena: arena, sink: sink}, params: params}
}

// Packet implements Depacketizer.
func (d *Opus) Packet(p Packet, missing int) {
	d.miss(missing)
	if len(p.Payload) == 0 {
		return
	}
	if fmp4.OpusSamples(p.Payload) == 0 {
		d.spoil(ReasonMalformed)
		return
	}
	d.arena.Begin()
	d.deliver(d.params, p.Payload, Unit{Timestamp: p.Timestamp})
}
