package rtsp

import (
	"encoding/binary"
	"time"
)

// ntpEpoch is the beginning of NTP time, 1900, in seconds before that of Unix.
const ntpEpoch = 2208988800

// senderReport is what an RTCP sender report says of time (RFC 3550 6.4.1).
type senderReport struct {
	ntp time.Time
	rtp uint32
}

// parseReports appends the sender reports of a compound packet.
func parseReports(dst []senderReport, packet []byte) []senderReport {
	const reportType, reportBytes = 200, 20
	for len(packet) >= 4 && packet[0]>>6 == 2 {
		size := 4 + 4*int(binary.BigEndian.Uint16(packet[2:]))
		if size > len(packet) {
			break
		}
		if packet[1] == reportType && size >= reportBytes {
			seconds := int64(binary.BigEndian.Uint32(packet[8:]))
			if seconds != 0 { // 0: the camera does not know the time
				fraction := uint64(binary.BigEndian.Uint32(packet[12:]))
				dst = append(dst, senderReport{
					ntp: time.Unix(seconds-ntpEpoch, int64(fraction*uint64(time.Second)>>32)),
					rtp: binary.BigEndian.Uint32(packet[16:]),
				})
			}
		}
		packet = packet[size:]
	}
	return dst
}
