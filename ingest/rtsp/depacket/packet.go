// Package depacket turns the RTP packets of a track into access units. The bytes
// of a payload are copied once, from the packet to the place in the track's
// arena where they stay.
package depacket

import (
	"encoding/binary"
	"errors"

	"github.com/drover-video/drover/core/media"
)

// Packet is an RTP packet (RFC 3550 section 5.1).
type Packet struct {
	PayloadType uint8
	Marker      bool
	Sequence    uint16
	Timestamp   uint32
	SSRC        uint32
	Payload     []byte // shares the memory it was parsed from
}

var errPacket = errors.New("not an RTP packet")

// Parse reads a packet, past CSRCs, header extension and padding.
func Parse(b []byte) (Packet, error) {
	if len(b) < 12 || b[0]>>6 != 2 {
		return Packet{}, errPacket
	}
	p := Packet{
		PayloadType: b[1] & 0x7f,
		Marker:      b[1]&0x80 != 0,
		Sequence:    binary.BigEndian.Uint16(b[2:]),
		Timestamp:   binary.BigEndian.Uint32(b[4:]),
		SSRC:        binary.BigEndian.Uint32(b[8:]),
	}
	padded, extended := b[0]&0x20 != 0, b[0]&0x10 != 0
	rest := b[12:]
	skip := 4 * int(b[0]&0x0f)
	if extended {
		if len(rest) < skip+4 {
			return Packet{}, errPacket
		}
		skip += 4 + 4*int(binary.BigEndian.Uint16(rest[skip+2:]))
	}
	if len(rest) < skip {
		return Packet{}, errPacket
	}
	rest = rest[skip:]
	if padded {
		if len(rest) == 0 {
			return Packet{}, errPacket
		}
		padding := int(rest[len(rest)-1])
		if padding == 0 || padding > len(rest) {
			return Packet{}, errPacket
		}
		rest = rest[:len(rest)-padding]
	}
	p.Payload = rest
	return p, nil
}

// Sequence watches the sequence numbers of a track.
type Sequence struct {
	next  uint16
	begun bool
	ssrc  uint32

	late     int    // packets in a row that came too late, each the next of the one before
	lateNext uint16 // the next of those
}

// maxStep is how far sequence numbers may be apart and still belong to one
// stream (RFC 3550 appendix A.1: MAX_DROPOUT).
const maxStep = 3000

// maxLate is how many packets in a row may come too late before they are taken
// for a stream that began anew a little lower: what a network delays is a few.
const maxLate = 8

// Next takes the sequence number and source of a packet. It returns how many
// packets are missing before it, and false for a packet that comes too late or
// twice. A stream that begins anew counts as one missing packet.
func (s *Sequence) Next(sequence uint16, ssrc uint32) (missing int, fresh bool) {
	step := int(int16(sequence - s.next))
	switch {
	case !s.begun:
		s.begun = true
		step = 0
	case ssrc != s.ssrc, step > maxStep, step < -maxStep:
		step = 1
	case step < 0:
		if s.late++; sequence != s.lateNext {
			s.late = 1
		}
		s.lateNext = sequence + 1
		if s.late < maxLate {
			return 0, false
		}
		step = 1
	}
	s.late = 0
	s.next, s.ssrc = sequence+1, ssrc
	return step, true
}

// Unit is an access unit out of a track's packets.
type Unit struct {
	// Frame has its payload, Params, Keyframe and Lost set. The receiver owns the
	// one reference.
	Frame     *media.Frame
	Timestamp uint32 // RTP time of the packet it began in
	Offset    int64  // ticks after Timestamp, where a packet holds several units
	Age       int64  // ticks between the arrival of that packet and now, where more had to come
}

// Reason says why bytes of a camera were not handed on.
type Reason uint8

// The reasons for a discard.
const (
	ReasonLoss        Reason = iota // packets of the access unit are missing
	ReasonNoKeyframe                // waiting for the keyframe after a loss, or the first
	ReasonNoParams                  // a keyframe, but no parameter sets to decode it with
	ReasonFragment                  // a fragment that belongs to nothing
	ReasonMalformed                 // a payload that cannot be read
	ReasonTooLarge                  // more than media.MaxFrameBytes, or than maxUnits NAL units
	ReasonLeading                   // pictures that refer to what came before a CRA picture
	ReasonMarker                    // slices after the marker that ends their picture
	ReasonUnsupported               // a packetisation that nobody is known to send
	ReasonNoConfig                  // sound, or a picture, whose configuration was sent before we came
	reasonCount
)

// Reasons is how many reasons there are.
const Reasons = int(reasonCount)

// String returns the reason as it stands in metrics.
func (r Reason) String() string {
	return [...]string{
		"loss", "awaiting_keyframe", "no_parameter_sets", "stray_fragment", "malformed",
		"too_large", "leading_picture", "marker", "unsupported_packetisation", "no_configuration",
	}[r]
}

// Sink takes what comes out of a depacketizer.
type Sink interface {
	Unit(u Unit)
	Discard(reason Reason)
}

// A Depacketizer takes the packets of one track in order.
type Depacketizer interface {
	// Packet takes a packet, and how many are missing before it. The payload is
	// not used after the call.
	Packet(p Packet, missing int)

	// Close lets go of memory. Nothing is called after it.
	Close()
}
