package rtsptest

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// rtpStream is what one client gets of one media. It belongs to its player.
type rtpStream struct {
	channel byte // of RTP; RTCP has the next
	clockHz int64
	ssrc    uint32
	seq     uint16
	base    uint32 // RTP timestamp of media time zero
	packets uint32
	octets  uint32
}

func newRTPStream(clockHz int64) *rtpStream {
	return &rtpStream{
		clockHz: clockHz,
		ssrc:    rand.Uint32(),
		seq:     uint16(rand.Uint32()),
		base:    rand.Uint32(),
	}
}

// appendBlock appends the packets of a reel's block, stamped. Packets for which
// lost says so are numbered and left out.
func (s *rtpStream) appendBlock(dst, block []byte, ticks int64, lost func() bool) []byte {
	timestamp := s.base + uint32(ticks)
	for len(block) > 0 {
		size := framingSize + int(binary.BigEndian.Uint16(block[2:]))
		seq := s.seq
		s.seq++
		if lost == nil || !lost() {
			start := len(dst)
			dst = append(dst, block[:size]...)
			frame := dst[start:]
			frame[1] = s.channel
			binary.BigEndian.PutUint16(frame[framingSize+2:], seq)
			binary.BigEndian.PutUint32(frame[framingSize+4:], timestamp)
			binary.BigEndian.PutUint32(frame[framingSize+8:], s.ssrc)
			s.packets++
			s.octets += uint32(size - framingSize - rtpHeaderSize)
		}
		block = block[size:]
	}
	return dst
}

// ntpEpochOffset is from 1900, where NTP counts from, to 1970.
const ntpEpochOffset = 2208988800

// appendReport appends a sender report and a source description (RFC 3550 6.4.1,
// 6.5), which say that media time ticks was captured at wall.
func (s *rtpStream) appendReport(dst []byte, wall time.Time, ticks int64) []byte {
	const size = 28 + 16
	dst = append(dst, '$', s.channel+1, 0, size)
	dst = append(dst, 0x80, 200, 0, 28/4-1)
	dst = binary.BigEndian.AppendUint32(dst, s.ssrc)
	dst = binary.BigEndian.AppendUint32(dst, uint32(wall.Unix()+ntpEpochOffset))
	dst = binary.BigEndian.AppendUint32(dst, uint32(uint64(wall.Nanosecond())<<32/1e9))
	dst = binary.BigEndian.AppendUint32(dst, s.base+uint32(ticks))
	dst = binary.BigEndian.AppendUint32(dst, s.packets)
	dst = binary.BigEndian.AppendUint32(dst, s.octets)
	dst = append(dst, 0x81, 202, 0, 16/4-1)
	dst = binary.BigEndian.AppendUint32(dst, s.ssrc)
	return append(dst, 1, 4, 's', 'i', 'm', 's', 0, 0)
}

// appendBye appends a goodbye (RFC 3550 6.6).
func (s *rtpStream) appendBye(dst []byte) []byte {
	dst = append(dst, '$', s.channel+1, 0, 8, 0x81, 203, 0, 1)
	return binary.BigEndian.AppendUint32(dst, s.ssrc)
}
