package layout_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
)

// appendFragment appends a fragment of two pictures, of which the second has n bytes.
func appendFragment(dst []byte, m layout.Mark, n int) []byte {
	run := fmp4.Run{TrackID: 1, Samples: []fmp4.Sample{{Duration: 90_000, Size: 3, Sync: m.Keyframe}, {Duration: 90_000, Size: uint32(n)}}}
	body := fmp4.AppendFragment(nil, 1, []fmp4.Run{run})
	if m.Keyframe {
		m.Head = uint32(layout.MarkBytes + len(body) + 3)
	} else {
		m.Head = 0
	}
	body = append(body, bytes.Repeat([]byte{7}, n+3)...)
	m.Bytes, m.Duration, m.Frames, m.CRC = uint32(len(body)), 180_000, [2]uint32{2, 1}, layout.CRC(0, body)
	return append(layout.AppendMark(dst, m), body...)
}

func file(fragments int) []byte {
	data := append([]byte{0, 0, 0, 8}, "ftyp"...)
	data = append(data, 0, 0, 0, 12)
	data = append(data, "moov____"...)
	data = layout.AppendIdentity(data, identity())
	clock := layout.NewClock(identity().Start)
	for i := range fragments {
		m := layout.Mark{Keyframe: i%2 == 0, Start: clock.Due()}
		data = appendFragment(data, m, 1000+i)
		clock.Next(&layout.Fragment{Duration: 180_000})
	}
	return data
}

func scan(t *testing.T, data []byte, check layout.Check) *layout.Scanned {
	t.Helper()
	s, err := layout.Scan(bytes.NewReader(data), int64(len(data)), check)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAScanFindsAllThatIsWhole(t *testing.T) {
	data := file(5)
	s := scan(t, data, layout.CheckAll)
	if s.Identity != identity() || s.Init != 20 || s.End != int64(len(data)) || s.Duration != 5*180_000 || s.Frames != [2]int64{10, 5} || len(s.Damaged) != 0 {
		t.Errorf("got %+v", s)
	}
	at := s.Header
	for i, f := range s.Fragments {
		if f.Offset != at || f.Keyframe != (i%2 == 0) || f.Shift != 0 || f.Keyframe != (f.Head > 0) {
			t.Errorf("fragment %d: got %+v", i, f)
		}
		at += f.Bytes
	}
	if got := s.Ends().Sub(identity().Start).Seconds(); got != 10 {
		t.Errorf("it lasts %v s", got)
	}
}

func TestAFileTornAnywhereKeepsWhatIsWhole(t *testing.T) {
	data := file(3)
	all := scan(t, data, layout.CheckNone)
	for size := all.Header; size < int64(len(data)); size++ {
		want := 0
		for want < 3 && all.Fragments[want].Offset+all.Fragments[want].Bytes <= size {
			want++
		}
		s := scan(t, data[:size], layout.CheckTail)
		if len(s.Fragments) != want || s.End > size || s.Frames[0] != int64(2*want) {
			t.Fatalf("of %d bytes: got %d fragments up to %d, want %d", size, len(s.Fragments), s.End, want)
		}
	}
}

func TestAFileTornInItsHeaderIsNone(t *testing.T) {
	data := file(1)
	header := scan(t, data, layout.CheckNone).Header
	for size := range header {
		if _, err := layout.Scan(bytes.NewReader(data), size, layout.CheckNone); !errors.Is(err, layout.ErrFile) {
			t.Fatalf("of %d bytes: got %v", size, err)
		}
	}
}

func TestBlocksThatNeverReachedTheDiskAreCutOff(t *testing.T) {
	data := file(6)
	all := scan(t, data, layout.CheckNone)
	clear(data[all.Fragments[4].Offset+500 : all.Fragments[4].Offset+600]) // in mid-media: only the checksum tells
	s := scan(t, data, layout.CheckTail)
	if len(s.Fragments) != 4 || s.End != all.Fragments[4].Offset || s.Frames != [2]int64{8, 4} || s.Duration != 4*180_000 {
		t.Errorf("got %d fragments, %+v", len(s.Fragments), s)
	}
	if s := scan(t, data, layout.CheckAll); !reflect.DeepEqual(s.Damaged, []int{4}) || len(s.Fragments) != 6 {
		t.Errorf("got %d fragments, of them damaged %v", len(s.Fragments), s.Damaged)
	}
}

type broken struct{ bytes.Reader }

var errBroken = errors.New("the disk is broken")

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

func TestADiskThatCannotBeReadIsNoTornFile(t *testing.T) {
	if _, err := layout.Scan(broken{}, 1000, layout.CheckNone); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(file(0))
	f.Add(file(3))
	f.Add(file(3)[:2000])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, check := range []layout.Check{layout.CheckNone, layout.CheckTail, layout.CheckAll} {
			s, err := layout.Scan(bytes.NewReader(data), int64(len(data)), check)
			if err != nil {
				continue
			}
			if s.End > int64(len(data)) || s.Header > s.End {
				t.Errorf("ends at %d of %d", s.End, len(data))
			}
			table := layout.AppendTable(nil, s.Fragments)
			back, err := layout.ParseTable(nil, table, s.Header)
			if err != nil || !reflect.DeepEqual(back, append([]layout.Fragment(nil), s.Fragments...)) {
				t.Errorf("the table says %+v, %v, the file %+v", back, err, s.Fragments)
			}
		}
	})
}
