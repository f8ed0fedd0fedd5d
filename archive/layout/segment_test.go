package layout_test

import (
	"reflect"
	"testing"

	"github.com/drover-video/drover/archive/layout"
)

func TestSegmentsBeginWithKeyframesTwoSecondsApart(t *testing.T) {
	key, rest := layout.Fragment{Bytes: 10, Head: 5, Keyframe: true, Duration: 90_000}, layout.Fragment{Bytes: 3, Duration: 180_000}
	early := key
	early.Duration = 88_000
	for name, c := range map[string]struct {
		fragments []layout.Fragment
		counts    []int
		durations []int64
	}{
		"nothing":                       {nil, nil, nil},
		"GOPs of a second":              {[]layout.Fragment{key, key, key, key, key}, []int{2, 2, 1}, []int64{180_000, 180_000, 90_000}},
		"a little early, by jitter":     {[]layout.Fragment{key, early, key}, []int{2, 1}, []int64{178_000, 90_000}},
		"a long GOP in pieces":          {[]layout.Fragment{key, rest, rest, key}, []int{3, 1}, []int64{450_000, 90_000}},
		"a file that begins without":    {[]layout.Fragment{rest, key}, []int{1, 1}, []int64{180_000, 90_000}},
		"a keyframe too soon is inside": {[]layout.Fragment{key, key}, []int{2}, []int64{180_000}},
	} {
		t.Run(name, func(t *testing.T) {
			offset := int64(100)
			for i := range c.fragments {
				c.fragments[i].Offset = offset
				offset += c.fragments[i].Bytes
			}
			var counts []int
			var durations []int64
			next, start := int64(100), int64(0)
			for _, s := range layout.AppendSegments(nil, c.fragments) {
				counts, durations = append(counts, s.Count), append(durations, s.Duration)
				if s.Offset != next || s.Start != start {
					t.Errorf("segment at byte %d and tick %d, want %d and %d", s.Offset, s.Start, next, start)
				}
				next, start = next+s.Bytes, start+s.Duration
			}
			if !reflect.DeepEqual(counts, c.counts) || !reflect.DeepEqual(durations, c.durations) {
				t.Errorf("got %v of %v, want %v of %v", counts, durations, c.counts, c.durations)
			}
		})
	}
}
