package timeline

import (
	"errors"
	"slices"
	"testing"
)

func TestDecodingTimesOfReorderedPictures(t *testing.T) {
	cases := []struct {
		name  string
		depth int
		pts   []int64
		want  []int64
	}{
		{"none", 0, []int64{10, 11, 12}, []int64{10, 11, 12}},
		{"two B-frames", 1, []int64{0, 3, 1, 2, 6, 4, 5}, []int64{-1, 0, 1, 2, 3, 4, 5}},
		{"a pyramid", 2, []int64{0, 4, 2, 1, 3, 8, 6, 5, 7}, []int64{-2, -1, 0, 1, 2, 3, 4, 5, 6}},
		{"promised and not used", 2, []int64{0, 1, 2, 3}, []int64{-2, -1, 0, 1}},
		{"uneven", 1, []int64{0, 7, 2, 5, 11}, []int64{-1, 0, 2, 5, 7}},
		{"a hole", 1, []int64{0, 3, 1, 2, 30, 28, 29}, []int64{-1, 0, 1, 2, 3, 28, 29}},
		{"standing still", 0, []int64{5, 5, 5, 6}, []int64{5, 5, 5, 6}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var r Reorder
			r.Reset(c.depth)
			var got []int64
			for _, pts := range c.pts {
				dts, err := r.DTS(pts, 1)
				if err != nil {
					t.Fatal(err)
				}
				if dts > pts {
					t.Errorf("picture shown at %d is decoded at %d", pts, dts)
				}
				got = append(got, dts)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestUnknownReorderingIsLearntAtTheCostOfAGOP(t *testing.T) {
	gop := []int64{0, 4, 2, 1, 3, 8, 6, 5, 7}
	var r Reorder
	lost := 0
	for n := range int64(6) {
		r.Reset(-1)
		for _, pts := range gop {
			if _, err := r.DTS(n*9+pts, 1); errors.Is(err, ErrReorder) {
				lost++
				break
			}
		}
	}
	if lost != 2 || r.Depth() != 2 {
		t.Errorf("%d GOPs lost to learn a depth of %d, want 2 and 2", lost, r.Depth())
	}
}

func FuzzDecodingIsBeforeDisplay(f *testing.F) {
	f.Add(uint8(1), []byte{0, 3, 1, 2, 6, 4, 5})
	f.Fuzz(func(t *testing.T, depth uint8, data []byte) {
		var r Reorder
		r.Reset(int(depth))
		var last int64 = -1 << 60
		for _, b := range data {
			dts, err := r.DTS(int64(b), 1)
			if err != nil {
				r.Reset(-1)
				last = -1 << 60
				continue
			}
			if dts > int64(b) {
				t.Fatalf("shown at %d, decoded at %d", b, dts)
			}
			if dts < last && r.Depth() < MaxReorder {
				t.Fatalf("decoding time went from %d to %d", last, dts)
			}
			last = dts
		}
	})
}
