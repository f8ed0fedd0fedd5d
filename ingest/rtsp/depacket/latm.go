package depacket

import (
	"bytes"

	"github.com/drover-video/drover/core/media"
)

// maxLATMBytes bounds an AudioMuxElement.
const maxLATMBytes = 64 << 10

// LATM takes MPEG-4 audio apart that comes in LATM (RFC 6416): each packet, or
// run of packets, is an AudioMuxElement of one or more access units.
type LATM struct {
	sound
	config *LATMConfig
	mux    *latmMux

	// An element in several packets.
	element   []byte
	open      bool
	torn      bool // a part of it is missing: the rest is of no use
	timestamp uint32

	room []byte // for access units that do not begin at a byte
}

// NewLATM returns a depacketizer that writes into arena.
func NewLATM(arena *media.Arena, sink Sink, config *LATMConfig) *LATM {
	return &LATM{sound: sound{arena: arena, sink: sink}, config: config, mux: config.mux}
}

// Packet implements Depacketizer.
func (d *LATM) Packet(p Packet, missing int) {
	if missing > 0 {
		d.miss(missing)
		if d.open {
			d.open, d.torn = false, true
			d.sink.Discard(ReasonLoss)
		}
	}
	if d.torn && p.Timestamp == d.timestamp {
		return
	}
	d.torn = false
	if d.open && p.Timestamp != d.timestamp {
		d.open = false
		d.take(d.element, d.timestamp) // its end was not marked
	}
	if p.Marker && !d.open {
		d.take(p.Payload, p.Timestamp)
		return
	}
	if !d.open {
		d.open, d.timestamp, d.element = true, p.Timestamp, d.element[:0]
	}
	if len(d.element)+len(p.Payload) > maxLATMBytes {
		d.open = false
		d.spoil(ReasonTooLarge)
		return
	}
	d.element = append(d.element, p.Payload...)
	if p.Marker {
		d.open = false
		d.take(d.element, p.Timestamp)
	}
}

// take reads an AudioMuxElement (ISO 14496-3 table 1.41).
func (d *LATM) take(element []byte, timestamp uint32) {
	if len(element) == 0 {
		return
	}
	r := latmReader{data: element}
	if d.config.inBand && r.read(1) == 0 {
		mux, err := readLATMMux(&r, d.config.clockRate)
		if err != nil {
			d.spoil(ReasonMalformed)
			return
		}
		d.change(mux)
	}
	if d.mux == nil {
		d.spoil(ReasonNoConfig)
		return
	}
	for i := range d.mux.subFrames {
		size := d.mux.fixedBytes
		for more := size == 0; more; {
			n := int(r.read(8))
			size += n
			more = n == 255
		}
		if r.over || size > len(element)-r.pos/8 {
			d.spoil(ReasonMalformed)
			return
		}
		data := d.bytes(&r, size)
		if r.over || size > 8*maxAACBytes {
			d.spoil(ReasonMalformed)
			return
		}
		if size == 0 {
			continue // a camera that has nothing to say
		}
		d.arena.Begin()
		d.deliver(d.mux.params, data, Unit{Timestamp: timestamp, Offset: int64(i) * d.mux.unitTicks})
	}
}

// change puts another configuration in force, unless it is the same again.
func (d *LATM) change(mux *latmMux) {
	if d.mux != nil && bytes.Equal(mux.params.AudioConfig, d.mux.params.AudioConfig) {
		mux.params = d.mux.params
	}
	d.mux = mux
}

// bytes returns the next n bytes, wherever in a byte they begin.
func (d *LATM) bytes(r *latmReader, n int) []byte {
	at, shift := r.pos/8, r.pos%8
	r.skip(8 * n)
	if r.over {
		return nil
	}
	if shift == 0 {
		return r.data[at : at+n]
	}
	d.room = d.room[:0]
	for i := at; i < at+n; i++ {
		d.room = append(d.room, r.data[i]<<shift|r.data[i+1]>>(8-shift))
	}
	return d.room
}
