package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
)

// An Identity is what a file says of itself.
type Identity struct {
	Camera, Source string
	Number         int64
	Run            int64     // Unix ms at which this recording run began
	Epoch          int64     // within the run
	Start          time.Time // of the first picture's presentation, in microseconds
	Sequence       uint64    // media sequence of the first segment
	Discontinuity  uint64    // discontinuity sequence of the first segment
}

// ErrBox is returned for what is no box of Drover's own.
var ErrBox = errors.New("damaged box")

const (
	boxHeader   = 8
	uuidHeader  = boxHeader + 16
	boxVersion  = 1
	identityMin = uuidHeader + 4 + 6*8 + 2

	// maxIdentity is the largest identity box there is.
	maxIdentity = identityMin + 2*maxID
)

// The extended types of Drover's boxes.
const (
	identityType = "DroverFile\x00\x01\x8e\x5a\x21\xc3"
	markType     = "DroverMark\x00\x01\x8e\x5a\x21\xc3"
)

// AppendIdentity appends the box that says what a file is.
func AppendIdentity(dst []byte, id Identity) []byte {
	size := identityMin + len(id.Camera) + len(id.Source)
	dst = appendUUID(dst, size, identityType)
	dst = append(dst, boxVersion, 0, 0, 0)
	for _, v := range [...]uint64{uint64(id.Number), uint64(id.Run), uint64(id.Epoch), uint64(id.Start.UnixMicro()), id.Sequence, id.Discontinuity} {
		dst = binary.BigEndian.AppendUint64(dst, v)
	}
	dst = append(dst, byte(len(id.Camera)))
	dst = append(dst, id.Camera...)
	dst = append(dst, byte(len(id.Source)))
	return append(dst, id.Source...)
}

// ParseIdentity reads an identity box, the whole of it.
func ParseIdentity(box []byte) (Identity, error) {
	if len(box) < identityMin || len(box) > maxIdentity || !isUUID(box, identityType) {
		return Identity{}, ErrBox
	}
	b := box[uuidHeader:]
	if b[0] != boxVersion || !bytes.Equal(b[1:4], []byte{0, 0, 0}) {
		return Identity{}, ErrBox
	}
	var v [6]uint64
	for i := range v {
		v[i] = binary.BigEndian.Uint64(b[4+8*i:])
	}
	id := Identity{
		Number: int64(v[0]), Run: int64(v[1]), Epoch: int64(v[2]), Start: microTime(v[3]),
		Sequence: v[4], Discontinuity: v[5],
	}
	rest := b[4+6*8:]
	for _, into := range [...]*string{&id.Camera, &id.Source} {
		if len(rest) == 0 || int(rest[0]) >= len(rest) {
			return Identity{}, ErrBox
		}
		*into, rest = string(rest[1:1+rest[0]]), rest[1+rest[0]:]
		if !validID(*into) {
			return Identity{}, ErrBox
		}
	}
	if len(rest) != 0 || id.Number < 0 || !plausible(id.Start) {
		return Identity{}, ErrBox
	}
	return id, nil
}

func appendUUID(dst []byte, size int, kind string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, "uuid"...)
	return append(dst, kind...)
}

// isUUID reports whether box is one whole box of that extended type.
func isUUID(box []byte, kind string) bool {
	return len(box) >= uuidHeader && int64(binary.BigEndian.Uint32(box)) == int64(len(box)) &&
		string(box[4:8]) == "uuid" && string(box[8:uuidHeader]) == kind
}

func microTime(v uint64) time.Time { return time.UnixMicro(int64(v)).UTC() }

// plausible keeps times within what a path can say, and arithmetic with them from
// overflowing.
func plausible(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// IdentityBytes is the size of the identity box of a stream's files.
func IdentityBytes(camera, source string) int64 {
	return int64(identityMin + len(camera) + len(source))
}
