package layout

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// A Mark stands before each moof, and says what scanning the file needs of it.
type Mark struct {
	Keyframe bool      // it begins with one
	Hole     bool      // frames are missing before it
	Start    time.Time // of its first picture's presentation, in microseconds
	Duration int64     // in 1/90000 s, of the leading track
	Bytes    uint32    // of moof and mdat together
	Head     uint32    // from the mark's first byte to the end of the first sample; 0 where it begins with no keyframe
	Frames   [2]uint32 // of the leading track, and of the other
	CRC      uint32    // CRC-32C of moof and mdat
}

// MarkBytes is the size of a mark.
const MarkBytes = uuidHeader + 4 + 2*8 + 5*4

const (
	markKeyframe = 1 << iota
	markHole
	markFlags = 1<<iota - 1
)

// CRC continues the checksum of a mark with more bytes.
func CRC(sum uint32, data []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), data)
}

// AppendMark appends a mark.
func AppendMark(dst []byte, m Mark) []byte {
	flags := byte(0)
	if m.Keyframe {
		flags |= markKeyframe
	}
	if m.Hole {
		flags |= markHole
	}
	dst = appendUUID(dst, MarkBytes, markType)
	dst = append(dst, boxVersion, flags, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Start.UnixMicro()))
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Duration))
	for _, v := range [...]uint32{m.Bytes, m.Head, m.Frames[0], m.Frames[1], m.CRC} {
		dst = binary.BigEndian.AppendUint32(dst, v)
	}
	return dst
}

// ParseMark reads a mark, the whole of it.
func ParseMark(box []byte) (Mark, error) {
	if len(box) != MarkBytes || !isUUID(box, markType) {
		return Mark{}, ErrBox
	}
	b := box[uuidHeader:]
	if b[0] != boxVersion || b[1]&^byte(markFlags) != 0 || b[2] != 0 || b[3] != 0 {
		return Mark{}, ErrBox
	}
	m := Mark{
		Keyframe: b[1]&markKeyframe != 0, Hole: b[1]&markHole != 0,
		Start:    microTime(binary.BigEndian.Uint64(b[4:])),
		Duration: int64(binary.BigEndian.Uint64(b[12:])),
	}
	for i, into := range [...]*uint32{&m.Bytes, &m.Head, &m.Frames[0], &m.Frames[1], &m.CRC} {
		*into = binary.BigEndian.Uint32(b[20+4*i:])
	}
	switch {
	case m.Duration < 0, m.Duration > maxDuration, !plausible(m.Start), m.Bytes < 2*boxHeader:
		return Mark{}, ErrBox
	case m.Keyframe && m.Head < minHead, !m.Keyframe && m.Head != 0, int64(m.Head) > int64(m.Bytes)+MarkBytes:
		return Mark{}, ErrBox
	}
	return m, nil
}
