package feed_test

import (
	"bytes"
	"testing"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/core/media"
)

func TestNALUnitsOfADamagedFrameEndWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		want    []string
	}{
		"two":           {"\x00\x00\x00\x02ab\x00\x00\x00\x01c", []string{"ab", "c"}},
		"none":          {"", nil},
		"an empty one":  {"\x00\x00\x00\x00\x00\x00\x00\x01c", []string{"c"}},
		"too long":      {"\x00\x00\x00\x09ab", []string{"ab"}},
		"huge":          {"\xff\xff\xff\xffab", []string{"ab"}},
		"half a length": {"\x00\x00\x00\x01a\x00\x00", []string{"a"}},
	} {
		var got []string
		for nal := range feed.NALUnits([]byte(c.payload)) {
			got = append(got, string(nal))
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
	}
}

// FuzzAppendData gives a camera's bytes out: never more than was said, which room is
// taken for.
func FuzzAppendData(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02ab"), true)
	f.Add([]byte("\xff\xff\xff\xff"), false)
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"), true)
	pool := media.NewPool()
	f.Fuzz(func(t *testing.T, payload []byte, key bool) {
		arena := media.NewArena(pool, 1)
		defer arena.Close()
		arena.Begin()
		if err := arena.Append(payload); err != nil {
			return // larger than frames are
		}
		frame, err := arena.Finish()
		if err != nil {
			t.Fatal(err)
		}
		defer frame.Release()
		frame.Track = &media.Track{Codec: media.CodecH264, ClockRate: 90000}
		frame.Params, frame.Keyframe = &media.Params{SPS: []byte("sps"), PPS: []byte("pps")}, key
		for _, annexB := range []bool{true, false} {
			out := feed.Frame{Frame: frame, AnnexB: annexB}
			data := out.AppendData([]byte("x"))
			if len(data)-1 > out.DataSize() || data[0] != 'x' {
				t.Errorf("%d bytes, of at most %d", len(data)-1, out.DataSize())
			}
			if !annexB && !bytes.Equal(data[1:], payload) {
				t.Error("other bytes than the frame has")
			}
		}
	})
}
