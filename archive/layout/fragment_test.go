package layout_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/drover-video/drover/archive/layout"
)

func tables() map[string][]layout.Fragment {
	return map[string][]layout.Fragment{
		"none": nil,
		"a minute of steady GOPs": {
			{Offset: 900, Bytes: 500_000, Head: 60_000, Duration: 180_000, Keyframe: true},
			{Offset: 500_900, Bytes: 480_000, Head: 61_000, Duration: 180_000, Keyframe: true},
		},
		"a long GOP in pieces, with a hole and a shift": {
			{Offset: 1, Bytes: 1 << 31, Head: 16 << 20, Duration: 180_000, Keyframe: true, Hole: true},
			{Offset: 1 + 1<<31, Bytes: 9, Duration: 180_000},
			{Offset: 10 + 1<<31, Bytes: 9, Duration: 3_600, Shift: -40_000_000},
		},
	}
}

func TestTableReadsBackWhatItWasMadeOf(t *testing.T) {
	for name, fragments := range tables() {
		t.Run(name, func(t *testing.T) {
			prefix := []byte("before")
			table := layout.AppendTable(prefix, fragments)
			if !bytes.HasPrefix(table, prefix) {
				t.Fatal("what stood before is gone")
			}
			header := int64(0)
			if len(fragments) > 0 {
				header = fragments[0].Offset
			}
			got, err := layout.ParseTable(nil, table[len(prefix):], header)
			if err != nil || !reflect.DeepEqual(got, fragments) {
				t.Errorf("got %+v, %v, want %+v", got, err, fragments)
			}
		})
	}
}

func TestDamagedTablesAreErrors(t *testing.T) {
	for name, table := range map[string][]byte{
		"torn":                      layout.AppendTable(nil, tables()["a minute of steady GOPs"])[:3],
		"unknown flag":              {0x10, 1, 1},
		"no bytes":                  {0, 0, 1},
		"same duration as of none":  {8, 1},
		"head beyond the fragment":  {1, 5, 6, 1},
		"number that never ends":    append([]byte{0}, bytes.Repeat([]byte{0xff}, 20)...),
		"more than a file may have": bytes.Repeat([]byte{0, 1, 1}, layout.MaxFragments+1),
	} {
		if got, err := layout.ParseTable(nil, table, 0); !errors.Is(err, layout.ErrTable) {
			t.Errorf("%s: got %d fragments, %v, want ErrTable", name, len(got), err)
		}
	}
}

func FuzzParseTable(f *testing.F) {
	for _, fragments := range tables() {
		f.Add(layout.AppendTable(nil, fragments))
	}
	f.Fuzz(func(t *testing.T, table []byte) {
		fragments, err := layout.ParseTable(nil, table, 7)
		if err != nil {
			return
		}
		again, err := layout.ParseTable(nil, layout.AppendTable(nil, fragments), 7)
		if err != nil || !reflect.DeepEqual(again, fragments) {
			t.Errorf("got %+v, %v, want %+v", again, err, fragments)
		}
	})
}
