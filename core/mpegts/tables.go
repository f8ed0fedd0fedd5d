package mpegts

// AppendTables appends PAT and PMT, two packets, with which each segment starts.
func AppendTables(dst []byte, p *Program, cc *Counters) []byte {
	dst, at := appendSectionHead(dst, 0, cc.Tables)
	dst = append(dst, 0x00, 0xb0, 13) // PAT of 13 bytes
	dst = append(dst, 0, 1, 0xc1, 0, 0)
	dst = append(dst, 0, 1, 0xe0|pidPMT>>8, pidPMT&0xff)
	dst = appendSectionTail(dst, at)

	streams := byte(0)
	pcr := uint16(pidAudio)
	if p.Video {
		pcr = pidVideo
		streams++
	}
	if p.Audio {
		streams++
	}
	dst, at = appendSectionHead(dst, pidPMT, cc.Tables)
	dst = append(dst, 0x02, 0xb0, 13+5*streams)
	dst = append(dst, 0, 1, 0xc1, 0, 0)
	dst = append(dst, 0xe0|byte(pcr>>8), byte(pcr&0xff), 0xf0, 0)
	if p.Video {
		dst = append(dst, 0x1b, 0xe0|pidVideo>>8, pidVideo&0xff, 0xf0, 0)
	}
	if p.Audio {
		dst = append(dst, 0x0f, 0xe0|pidAudio>>8, pidAudio&0xff, 0xf0, 0)
	}
	cc.Tables = (cc.Tables + 1) & 15
	return appendSectionTail(dst, at)
}

// appendSectionHead appends a packet's head and returns where its section starts.
func appendSectionHead(dst []byte, pid uint16, cc uint8) ([]byte, int) {
	dst = append(dst, 0x47, 0x40|byte(pid>>8), byte(pid&0xff), 0x10|cc, 0)
	return dst, len(dst)
}

// appendSectionTail appends the checksum of the section that starts at start and
// fills the packet up.
func appendSectionTail(dst []byte, start int) []byte {
	sum := crc32(dst[start:])
	dst = append(dst, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
	for n := PacketSize - 5 - (len(dst) - start); n > 0; n-- {
		dst = append(dst, 0xff)
	}
	return dst
}

// crc32 is the checksum of annex A. Two sections a segment are not worth a table.
func crc32(data []byte) uint32 {
	crc := uint32(0xffffffff)
	for _, b := range data {
		crc ^= uint32(b) << 24
		for range 8 {
			if crc&0x80000000 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
