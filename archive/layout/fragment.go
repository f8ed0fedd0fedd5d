package layout

import (
	"encoding/binary"
	"errors"
	"time"
)

// TicksPerSecond is the clock of durations in the archive.
const TicksPerSecond = 90_000

// A Fragment is a mark, a moof and its mdat, side by side in a file.
type Fragment struct {
	Offset   int64 // of the mark, from the file's first byte
	Bytes    int64 // the mark included
	Head     int64 // bytes from Offset to the end of the first sample; 0 where it begins with no keyframe
	Duration int64 // in 1/90000 s, of the leading track
	Shift    int64 // microseconds by which its wall-clock time is off the sum of durations before it
	Keyframe bool  // it begins with one
	Hole     bool  // frames are missing before it
}

// Limits of what a table may say: more is damage.
const (
	MaxFragments     = 1 << 16
	maxFragmentBytes = 1 << 32
	maxDuration      = 1 << 40
	maxShift         = int64(100 * 365 * 24 * time.Hour / time.Microsecond)

	// minHead is the least Head of a keyframe: a mark and the headers of moof and mdat.
	minHead = MarkBytes + 2*boxHeader
)

const (
	flagKeyframe = 1 << iota
	flagHole
	flagShift
	flagSameDuration
	flagsAll = 1<<iota - 1
)

// ErrTable is returned for what is no table of fragments.
var ErrTable = errors.New("damaged table of fragments")

// AppendTable appends the index's value for fragments, of which the first begins
// where the file's header ends, and each other where the one before ends.
func AppendTable(dst []byte, fragments []Fragment) []byte {
	before := int64(-1)
	for i := range fragments {
		f := &fragments[i]
		flags := byte(0)
		if f.Keyframe {
			flags |= flagKeyframe
		}
		if f.Hole {
			flags |= flagHole
		}
		if f.Shift != 0 {
			flags |= flagShift
		}
		if f.Duration == before {
			flags |= flagSameDuration
		}
		dst = append(dst, flags)
		dst = binary.AppendUvarint(dst, uint64(f.Bytes))
		if f.Keyframe {
			dst = binary.AppendUvarint(dst, uint64(f.Head))
		}
		if f.Duration != before {
			dst = binary.AppendUvarint(dst, uint64(f.Duration))
		}
		if f.Shift != 0 {
			dst = binary.AppendVarint(dst, f.Shift)
		}
		before = f.Duration
	}
	return dst
}

// ParseTable appends the fragments of a table to dst. header is where the first
// begins.
func ParseTable(dst []Fragment, table []byte, header int64) ([]Fragment, error) {
	r := tableReader{rest: table}
	offset, before, n := header, int64(-1), 0
	for len(r.rest) > 0 {
		if n++; n > MaxFragments {
			return dst, ErrTable
		}
		flags := r.rest[0]
		r.rest = r.rest[1:]
		f := Fragment{Offset: offset, Keyframe: flags&flagKeyframe != 0, Hole: flags&flagHole != 0, Duration: before}
		f.Bytes = r.unsigned(maxFragmentBytes)
		if f.Keyframe {
			f.Head = r.unsigned(uint64(max(0, f.Bytes)))
		}
		if flags&flagSameDuration == 0 {
			f.Duration = r.unsigned(maxDuration)
		}
		if flags&flagShift != 0 {
			f.Shift = r.signed(maxShift)
		}
		if r.bad || flags&^byte(flagsAll) != 0 || f.Duration < 0 || f.Bytes == 0 || f.Keyframe && f.Head < minHead {
			return dst, ErrTable
		}
		offset += f.Bytes
		before = f.Duration
		dst = append(dst, f)
	}
	return dst, nil
}

type tableReader struct {
	rest []byte
	bad  bool
}

func (r *tableReader) unsigned(most uint64) int64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > most {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return int64(v)
}

func (r *tableReader) signed(most int64) int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 || v > most || v < -most {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Time converts ticks of 1/90000 s.
func Time(ticks int64) time.Duration {
	return time.Duration(ticks/TicksPerSecond)*time.Second + time.Duration(ticks%TicksPerSecond)*time.Second/TicksPerSecond
}
