package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Check says which checksums a scan holds against the file. Each costs the reading
// of its fragment.
type Check uint8

// The checks of a scan.
const (
	CheckNone Check = iota
	CheckTail       // of the newest fragments: a torn one is cut off, and the one before it looked at
	CheckAll
)

// ErrFile is returned for what does not begin as a file of the archive.
var ErrFile = errors.New("no file of the archive")

// maxInit bounds ftyp and moov together: real ones have two kilobytes.
const maxInit = 1 << 20

// Scanned is what a file holds.
type Scanned struct {
	Identity  Identity
	Init      int64 // bytes of ftyp and moov
	Header    int64 // where the first fragment begins
	Fragments []Fragment
	Frames    [2]int64 // of the leading track, and of the other
	Duration  int64    // in 1/90000 s, of all fragments
	End       int64    // where the last whole fragment ends: what is behind it is torn
	Damaged   []int    // of CheckAll: fragments whose checksum is another
}

// Ends returns when the last fragment ends.
func (s *Scanned) Ends() time.Time { return Ends(s.Identity.Start, s.Fragments) }

// Scan walks a file of size bytes from mark to mark. What is torn at its end is
// not an error: End says where it begins. The error is ErrFile or the reader's.
func Scan(r io.ReaderAt, size int64, check Check) (*Scanned, error) {
	s := &scanner{r: r, size: size}
	if err := s.header(); err != nil {
		return nil, err
	}
	for len(s.Fragments) < MaxFragments {
		whole, err := s.fragment(check)
		if err != nil {
			return nil, err
		}
		if !whole {
			break
		}
	}
	if check == CheckTail {
		if err := s.cutTail(); err != nil {
			return nil, err
		}
	}
	return &s.Scanned, nil
}

type scanner struct {
	Scanned
	r     io.ReaderAt
	size  int64
	clock Clock
	marks []Mark
	room  []byte
	small [MarkBytes + boxHeader]byte
}

// at reads the file at an offset into into, and reports false where it is too short.
func (s *scanner) at(into []byte, offset int64) (bool, error) {
	if offset < 0 || offset+int64(len(into)) > s.size {
		return false, nil
	}
	n, err := s.r.ReadAt(into, offset)
	if n == len(into) {
		return true, nil
	}
	if errors.Is(err, io.EOF) {
		return false, nil // it has become shorter
	}
	return false, fmt.Errorf("read at %d: %w", offset, err)
}

// box reads the header of the box at an offset.
func (s *scanner) box(offset int64, kind string) (size int64, err error) {
	ok, err := s.at(s.small[:boxHeader], offset)
	switch {
	case err != nil:
		return 0, err
	case !ok, string(s.small[4:8]) != kind:
		return 0, ErrFile
	}
	return int64(binary.BigEndian.Uint32(s.small[:])), nil
}

func (s *scanner) header() error {
	ftyp, err := s.box(0, "ftyp")
	if err != nil {
		return err
	}
	if ftyp < boxHeader || ftyp > maxInit {
		return ErrFile
	}
	moov, err := s.box(ftyp, "moov")
	if err != nil {
		return err
	}
	if moov < boxHeader || ftyp+moov > maxInit {
		return ErrFile
	}
	s.Init = ftyp + moov
	size, err := s.box(s.Init, "uuid")
	if err != nil {
		return err
	}
	if size < identityMin || size > maxIdentity {
		return ErrFile
	}
	box := make([]byte, size)
	switch ok, err := s.at(box, s.Init); {
	case err != nil:
		return err
	case !ok:
		return ErrFile
	}
	if s.Identity, err = ParseIdentity(box); err != nil {
		return ErrFile
	}
	s.Header = s.Init + size
	s.End = s.Header
	s.clock = NewClock(s.Identity.Start)
	return nil
}

// fragment takes the one at End, and reports false where there is no whole one.
func (s *scanner) fragment(check Check) (bool, error) {
	if ok, err := s.at(s.small[:], s.End); !ok {
		return false, err
	}
	mark, err := ParseMark(s.small[:MarkBytes])
	moof := int64(binary.BigEndian.Uint32(s.small[MarkBytes:]))
	if err != nil || string(s.small[MarkBytes+4:]) != "moof" || moof < boxHeader || moof+boxHeader > int64(mark.Bytes) ||
		len(s.Fragments) == 0 && !mark.Keyframe {
		return false, nil
	}
	next := s.End + MarkBytes + int64(mark.Bytes)
	if next > s.size {
		return false, nil
	}
	var mdat [boxHeader]byte
	if ok, err := s.at(mdat[:], s.End+MarkBytes+moof); !ok {
		return false, err
	}
	if string(mdat[4:]) != "mdat" || int64(binary.BigEndian.Uint32(mdat[:])) != int64(mark.Bytes)-moof {
		return false, nil
	}
	if check == CheckAll {
		good, err := s.sound(s.End, &mark)
		if err != nil {
			return false, err
		}
		if !good {
			s.Damaged = append(s.Damaged, len(s.Fragments))
		}
	}
	f := Fragment{
		Offset: s.End, Bytes: MarkBytes + int64(mark.Bytes), Head: int64(mark.Head), Duration: mark.Duration,
		Shift: s.clock.Shift(mark.Start), Keyframe: mark.Keyframe, Hole: mark.Hole,
	}
	if f.Shift > maxShift || f.Shift < -maxShift {
		return false, nil
	}
	s.clock.Next(&f)
	s.Fragments = append(s.Fragments, f)
	if check == CheckTail {
		s.marks = append(s.marks, mark)
	}
	s.Frames[0] += int64(mark.Frames[0])
	s.Frames[1] += int64(mark.Frames[1])
	s.Duration += mark.Duration
	s.End = next
	return true, nil
}

// tailChecked is how many fragments at a file's end may not have been synced when
// the power went: those of an interval of syncing, and of one that was late.
const tailChecked = 4

// cutTail holds the checksums of the newest fragments against the file, and cuts it
// before the first of them that is torn.
func (s *scanner) cutTail() error {
	for i := max(0, len(s.Fragments)-tailChecked); i < len(s.Fragments); i++ {
		good, err := s.sound(s.Fragments[i].Offset, &s.marks[i])
		if err != nil {
			return err
		}
		if good {
			continue
		}
		for _, mark := range s.marks[i:] {
			s.Frames[0] -= int64(mark.Frames[0])
			s.Frames[1] -= int64(mark.Frames[1])
			s.Duration -= mark.Duration
		}
		s.End = s.Fragments[i].Offset
		s.Fragments = s.Fragments[:i]
		return nil
	}
	return nil
}

// sound reports whether the fragment at an offset is what its mark was made for.
func (s *scanner) sound(offset int64, mark *Mark) (bool, error) {
	const piece = 256 << 10
	if s.room == nil {
		s.room = make([]byte, piece)
	}
	sum := uint32(0)
	at, left := offset+MarkBytes, int64(mark.Bytes)
	for left > 0 {
		room := s.room[:min(left, piece)]
		if ok, err := s.at(room, at); !ok {
			return false, err
		}
		sum = CRC(sum, room)
		at += int64(len(room))
		left -= int64(len(room))
	}
	return sum == mark.CRC, nil
}
