package mpegts

// Picture is one H.264 access unit.
type Picture struct {
	PTS, DTS int64 // ticks of 90 kHz
	Keyframe bool

	// Discontinuity: the clock does not go on from the picture before.
	Discontinuity bool

	SPS, PPS []byte // written before a keyframe
	Data     []byte // NAL units, each behind its length in 4 bytes
}

// accessUnitDelimiter is the NAL unit that 13818-1 2.14.1 wants at the start of
// each access unit, behind its start code. It allows every slice type.
const accessUnitDelimiter = "\x00\x00\x00\x01\x09\xf0"

const startCode = "\x00\x00\x00\x01"

// size is how long the picture's PES packet is. A start code is as long as the
// length whose place it takes.
func (p *Picture) size() int {
	n := 14 + len(accessUnitDelimiter) + len(p.Data)
	if p.PTS != p.DTS {
		n += 5
	}
	if p.Keyframe {
		n += len(startCode) + len(p.SPS) + len(startCode) + len(p.PPS)
	}
	return n
}

// Skip moves the counters on as AppendPicture would, and returns how many
// packets it would append. It does not read the picture's Data.
func (p *Picture) Skip(cc *Counters) int {
	n := packets(p.size(), true)
	cc.Video = (cc.Video + uint8(n&15)) & 15
	return n
}

// AppendPicture appends the packets of a picture.
func AppendPicture(dst []byte, p *Picture, cc *Counters) []byte {
	w := pesWriter{dst: dst, pid: pidVideo, cc: &cc.Video, left: p.size(), clocked: true, clock: p.DTS + clockOffset - clockDelay}
	if p.Keyframe {
		w.flags |= flagRandomAccess
	}
	if p.Discontinuity {
		w.flags |= flagDiscontinuity
	}
	// A length of 0 is for video alone: until the next start.
	var room [32]byte
	head := append(room[:0], 0, 0, 1, 0xe0, 0, 0, 0x84)
	if p.PTS != p.DTS {
		head = append(head, 0xc0, 10)
		head = appendTime(head, 3, p.PTS)
		head = appendTime(head, 1, p.DTS)
	} else {
		head = append(head, 0x80, 5)
		head = appendTime(head, 2, p.PTS)
	}
	head = append(head, accessUnitDelimiter...)
	w.write(head)
	var code [len(startCode)]byte
	copy(code[:], startCode)
	if p.Keyframe {
		w.write(code[:])
		w.write(p.SPS)
		w.write(code[:])
		w.write(p.PPS)
	}
	for data := p.Data; len(data) > 0; {
		if len(data) < 4 {
			w.write(data)
			break
		}
		n := int(uint32(data[0])<<24 | uint32(data[1])<<16 | uint32(data[2])<<8 | uint32(data[3]))
		end := min(n, len(data)-4) // a length beyond the end stays inside it
		w.write(code[:])
		w.write(data[4 : 4+end])
		data = data[4+end:]
	}
	return w.dst
}
