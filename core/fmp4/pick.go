package fmp4

import (
	"encoding/binary"
	"fmt"
)

// AppendInitOfTrack appends an init segment, which may come from anywhere, without
// all tracks but one.
func AppendInitOfTrack(dst, init []byte, trackID uint32) ([]byte, error) {
	found := false
	dst, err := appendBoxes(dst, init, func(kind string, body []byte) (boxFate, error) {
		switch kind {
		case "moov", "mvex":
			return boxOpened, nil
		case "trak":
			t, err := readTrack(body)
			if err != nil || t.ID != trackID {
				return boxLeft, err
			}
			found = true
		case "trex":
			if len(body) < 8 {
				return boxLeft, fmt.Errorf("%w: a track's defaults", ErrDamaged)
			}
			if binary.BigEndian.Uint32(body[4:]) != trackID {
				return boxLeft, nil
			}
		}
		return boxKept, nil
	})
	if err != nil {
		return dst, err
	}
	if !found {
		return dst, fmt.Errorf("%w: no track %d", ErrDamaged, trackID)
	}
	return dst, nil
}

// boxFate is what becomes of a box that is copied.
type boxFate uint8

const (
	boxKept   boxFate = iota // as it is
	boxLeft                  // out
	boxOpened                // it is a box of boxes, of each of which is decided
)

func appendBoxes(dst, boxes []byte, decide func(kind string, body []byte) (boxFate, error)) ([]byte, error) {
	for len(boxes) > 0 {
		kind, body, rest, err := nextBox(boxes)
		if err != nil {
			return dst, err
		}
		fate, err := decide(kind, body)
		if err != nil {
			return dst, err
		}
		switch fate {
		case boxKept:
			dst = append(dst, boxes[:len(boxes)-len(rest)]...)
		case boxOpened:
			var start int
			dst, start = startBox(dst, kind)
			if dst, err = appendBoxes(dst, body, decide); err != nil {
				return dst, err
			}
			dst = endBox(dst, start)
		case boxLeft:
		}
		boxes = rest
	}
	return dst, nil
}
