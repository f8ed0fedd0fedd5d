package session

import (
	"encoding/binary"
	"time"
)

// A receiver keeps what a receiver report says of one media (RFC 3550 A.3
// and A.8). It belongs to whoever holds the session's delivery.
type receiver struct {
	clockRate int
	known     bool // a packet has come, and the fields below hold
	ended     bool // the source has said goodbye

	ssrc          uint32
	highest       uint32 // extended sequence number
	first         uint32
	received      uint32
	expectedPrior uint32
	receivedPrior uint32

	jitter16  uint32 // jitter in clock ticks, times 16
	transit   uint32
	epoch     time.Time // arrival of the first packet, which is 0 in ticks
	srNTP     uint32    // middle bits of the last sender report's time
	srArrival time.Time
}

const rtpHeaderBytes = 12

// isRTPPacket is the least that anything handed on as RTP fulfils.
func isRTPPacket(b []byte) bool { return len(b) >= rtpHeaderBytes && b[0]>>6 == 2 }

// packet counts an RTP packet.
func (r *receiver) packet(b []byte, arrival time.Time) {
	sequence := binary.BigEndian.Uint16(b[2:])
	timestamp := binary.BigEndian.Uint32(b[4:])
	ssrc := binary.BigEndian.Uint32(b[8:])
	if !r.known || ssrc != r.ssrc {
		*r = receiver{clockRate: r.clockRate, known: true, ssrc: ssrc, epoch: arrival}
		// One cycle up, so that a packet from before the first has a number.
		r.highest = 1<<16 | uint32(sequence)
		r.first = r.highest
		r.transit = -timestamp
		r.received = 1
		return
	}
	r.received++
	switch delta := int16(sequence - uint16(r.highest)); {
	case delta > 0:
		r.highest += uint32(delta)
	case delta < -maxMisorder: // the camera began to count anew
		r.highest = r.highest&^0xffff + 1<<16 | uint32(sequence)
		r.first, r.received, r.expectedPrior, r.receivedPrior = r.highest, 1, 0, 0
	}
	r.addJitter(timestamp, arrival)
}

// maxMisorder is how late a packet may be before its number is read as a
// restart of the sequence.
const maxMisorder = 1000

func (r *receiver) addJitter(timestamp uint32, arrival time.Time) {
	elapsed := arrival.Sub(r.epoch)
	seconds, rest := elapsed/time.Second, elapsed%time.Second
	ticks := int64(seconds)*int64(r.clockRate) + int64(rest)*int64(r.clockRate)/int64(time.Second)
	transit := uint32(ticks) - timestamp
	d := int32(transit - r.transit)
	r.transit = transit
	if d < 0 {
		d = -d
	}
	if uint32(d) > uint32(r.clockRate) { // a jump of more than a second is no jitter
		return
	}
	r.jitter16 += uint32(d) - (r.jitter16+8)>>4
}

// Types of RTCP packets (RFC 3550 12.1).
const (
	rtcpSenderReport   = 200
	rtcpReceiverReport = 201
	rtcpSourceDesc     = 202
	rtcpBye            = 203
)

// isRTCPPacket is the least that anything handed on as RTCP fulfils.
func isRTCPPacket(b []byte) bool {
	return len(b) >= 4 && b[0]>>6 == 2 && b[1] >= 192 && b[1] <= 223
}

// isMixedRTCP tells RTCP among RTP by its type (RFC 5761 4).
func isMixedRTCP(b []byte) bool {
	return len(b) >= 2 && b[1] >= rtcpSenderReport && b[1] <= 204
}

// control reads a compound RTCP packet as far as reports need it. What does
// not parse ends the reading.
func (r *receiver) control(b []byte, arrival time.Time) {
	for len(b) >= 4 && b[0]>>6 == 2 {
		size := 4 * (1 + int(binary.BigEndian.Uint16(b[2:])))
		if size > len(b) {
			return
		}
		body := b[4:size]
		switch b[1] {
		case rtcpSenderReport:
			if len(body) >= 12 && r.known && binary.BigEndian.Uint32(body) == r.ssrc {
				r.srNTP = binary.BigEndian.Uint32(body[6:])
				r.srArrival = arrival
			}
		case rtcpBye:
			for range b[0] & 31 {
				if len(body) < 4 {
					break
				}
				if r.known && binary.BigEndian.Uint32(body) == r.ssrc {
					r.ended = true
				}
				body = body[4:]
			}
		}
		b = b[size:]
	}
}

// appendReport appends a compound receiver report, nothing before the first
// packet.
func (r *receiver) appendReport(dst []byte, own uint32, now time.Time) []byte {
	if !r.known {
		return dst
	}
	expected := r.highest - r.first + 1
	lost := int32(expected - r.received)
	expectedNow, receivedNow := expected-r.expectedPrior, r.received-r.receivedPrior
	r.expectedPrior, r.receivedPrior = expected, r.received
	fraction := uint32(0)
	if lostNow := int32(expectedNow - receivedNow); lostNow > 0 && expectedNow > 0 {
		fraction = min(255, uint32(uint64(lostNow)*256/uint64(expectedNow)))
	}
	lost = max(-1<<23, min(lost, 1<<23-1))

	dst = append(dst, 0x81, rtcpReceiverReport, 0, 7)
	dst = binary.BigEndian.AppendUint32(dst, own)
	dst = binary.BigEndian.AppendUint32(dst, r.ssrc)
	dst = binary.BigEndian.AppendUint32(dst, fraction<<24|uint32(lost)&0xffffff)
	dst = binary.BigEndian.AppendUint32(dst, r.highest-1<<16)
	dst = binary.BigEndian.AppendUint32(dst, r.jitter16>>4)
	dst = binary.BigEndian.AppendUint32(dst, r.srNTP)
	delay := uint32(0)
	if !r.srArrival.IsZero() {
		delay = uint32(now.Sub(r.srArrival) * 65536 / time.Second)
	}
	dst = binary.BigEndian.AppendUint32(dst, delay)
	return appendSourceDescription(dst, own)
}

// appendSourceDescription appends the CNAME that every compound packet holds.
func appendSourceDescription(dst []byte, own uint32) []byte {
	dst = append(dst, 0x81, rtcpSourceDesc, 0, 4)
	dst = binary.BigEndian.AppendUint32(dst, own)
	return append(dst, 1, 6, 'd', 'r', 'o', 'v', 'e', 'r', 0, 0, 0, 0)
}
