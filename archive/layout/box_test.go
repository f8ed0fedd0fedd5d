package layout_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/layout"
)

func identity() layout.Identity {
	return layout.Identity{Camera: "door", Source: "main", Number: 17, Run: 1772359200000, Epoch: 3,
		Start: time.Date(2026, 3, 1, 10, 0, 0, 123456e3, time.UTC), Sequence: 1 << 40, Discontinuity: 9}
}

func mark() layout.Mark {
	return layout.Mark{Keyframe: true, Hole: true, Start: time.Date(2026, 3, 1, 10, 0, 2, 0, time.UTC),
		Duration: 180_000, Bytes: 500_000, Head: 60_000, Frames: [2]uint32{50, 31}, CRC: 0xdeadbeef}
}

func TestBoxesReadBackWhatTheyWereMadeOf(t *testing.T) {
	box := layout.AppendIdentity([]byte("x"), identity())[1:]
	if got, err := layout.ParseIdentity(box); err != nil || got != identity() {
		t.Errorf("got %+v, %v", got, err)
	}
	box = layout.AppendMark([]byte("x"), mark())[1:]
	if got, err := layout.ParseMark(box); err != nil || got != mark() || len(box) != layout.MarkBytes {
		t.Errorf("got %+v, %v of %d bytes", got, err, len(box))
	}
}

func TestDamagedBoxesAreErrors(t *testing.T) {
	whole := layout.AppendIdentity(nil, identity())
	for name, box := range map[string][]byte{
		"empty":             nil,
		"torn":              whole[:len(whole)-1],
		"longer":            append(bytes.Clone(whole), 0),
		"a mark":            layout.AppendMark(nil, mark()),
		"a path for an id":  layout.AppendIdentity(nil, layout.Identity{Camera: "..", Source: "main"}),
		"an id of nothing":  layout.AppendIdentity(nil, layout.Identity{Source: "main"}),
		"an endless id":     layout.AppendIdentity(nil, layout.Identity{Camera: strings.Repeat("a", 64), Source: "main"}),
		"a year of dreams":  layout.AppendIdentity(nil, layout.Identity{Camera: "a", Source: "main", Start: time.Date(29999, 1, 1, 0, 0, 0, 0, time.UTC)}),
		"a negative number": layout.AppendIdentity(nil, layout.Identity{Camera: "a", Source: "main", Number: -1}),
	} {
		if got, err := layout.ParseIdentity(box); !errors.Is(err, layout.ErrBox) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	change := func(do func(*layout.Mark)) []byte {
		m := mark()
		do(&m)
		return layout.AppendMark(nil, m)
	}
	for name, box := range map[string][]byte{
		"empty":                       nil,
		"an identity":                 whole,
		"no room for a moof":          change(func(m *layout.Mark) { m.Bytes = 15 }),
		"a keyframe without a head":   change(func(m *layout.Mark) { m.Head = 0 }),
		"a head within its mark":      change(func(m *layout.Mark) { m.Head = layout.MarkBytes - 1 }),
		"a head without a picture":    change(func(m *layout.Mark) { m.Head = layout.MarkBytes + 15 }),
		"a head beyond the fragment":  change(func(m *layout.Mark) { m.Head = m.Bytes + 65 }),
		"a negative duration":         change(func(m *layout.Mark) { m.Duration = -1 }),
		"a duration of many lives":    change(func(m *layout.Mark) { m.Duration = 1 << 60 }),
		"a head where no keyframe is": change(func(m *layout.Mark) { m.Keyframe = false }),
	} {
		if got, err := layout.ParseMark(box); !errors.Is(err, layout.ErrBox) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func FuzzBoxes(f *testing.F) {
	f.Add(layout.AppendIdentity(nil, identity()))
	f.Add(layout.AppendMark(nil, mark()))
	f.Fuzz(func(t *testing.T, box []byte) {
		if id, err := layout.ParseIdentity(box); err == nil && !bytes.Equal(layout.AppendIdentity(nil, id), box) {
			t.Errorf("a second way to write %+v", id)
		}
		if m, err := layout.ParseMark(box); err == nil && !bytes.Equal(layout.AppendMark(nil, m), box) {
			t.Errorf("a second way to write %+v", m)
		}
	})
}
