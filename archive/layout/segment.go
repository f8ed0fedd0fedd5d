package layout

// SegmentTicks is the least duration of a segment that is not a file's last.
const SegmentTicks = 2 * TicksPerSecond

// A Segment is what a playlist lists: whole fragments of one file, side by side.
type Segment struct {
	First, Count int   // fragments
	Offset       int64 // in the file
	Bytes        int64
	Head         int64 // to the end of its first sample; 0 where it begins with no keyframe
	Start        int64 // ticks from the file's first picture, by durations alone
	Duration     int64 // ticks
	Shift        int64 // microseconds that its wall-clock time is off Start
}

// AppendSegments appends the segments of a file: each from a fragment that begins
// with a keyframe to before the next such that is at least SegmentTicks later. While
// the file grows, the last is not complete.
func AppendSegments(dst []Segment, fragments []Fragment) []Segment {
	start := int64(0)
	begun := len(dst)
	for i := range fragments {
		f := &fragments[i]
		if n := len(dst); n == begun || f.Keyframe && dst[n-1].Duration >= SegmentTicks-tolerance {
			dst = append(dst, Segment{First: i, Offset: f.Offset, Head: f.Head, Start: start, Shift: f.Shift})
		}
		s := &dst[len(dst)-1]
		s.Count++
		s.Bytes += f.Bytes
		s.Duration += f.Duration
		start += f.Duration
	}
	return dst
}

// tolerance lets a keyframe that comes a little early, by jitter, begin a segment.
const tolerance = SegmentTicks / 20
