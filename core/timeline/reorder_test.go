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
	deepest := make([]int64, MaxReorder+2) // the last to be shown comes right after the first
	for i := range deepest {
		deepest[i] = int64(len(deepest)-i) % int64(len(deepest))
	}
	for name, c := range map[string]struct {
		gop   []int64
		depth int
	}{
		"a B-frame":  {[]int64{0, 2, 1, 4, 3, 6, 5}, 1},
		"a pyramid":  {[]int64{0, 4, 2, 1, 3, 8, 6, 5, 7}, 2},
		"twelve":     {[]int64{0, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 12},
		"as allowed": {deepest, MaxReorder},
		"late":       {[]int64{0, 1, 2, 3, 4, 9, 8, 7, 6, 5}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var r Reorder
			lost := 0
			for n := range int64(6) {
				r.Reset(-1)
				dropping := false
				for _, pts := range c.gop {
					pts += n * int64(len(c.gop))
					if dropping {
						r.Learn(pts)
					} else if _, err := r.DTS(pts, 1); errors.Is(err, ErrReorder) {
						lost++
						dropping = true
					}
				}
			}
			if lost != 1 || r.Depth() != c.depth {
				t.Errorf("%d GOPs lost to learn a depth of %d, want 1 and %d", lost, r.Depth(), c.depth)
			}
		})
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
				r.Learn(int64(b))
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
