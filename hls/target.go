package hls

import "time"

// A target duration grows at once where a segment outgrows it, and for good, were it
// not let go of again: viewers stay three of them behind, and one picture that took a
// minute, on a bad night, would keep them there for months. So where much less has been
// enough for long, a new life of the playlist begins with that.

// targetCalm is for how long less must have been enough, at least; twice that at most.
const targetCalm = 20 * time.Minute

// partCalm is the same of part targets, which say how far behind the picture of low
// latency is.
const partCalm = 2 * time.Minute

// A need is what target duration a source's segments have needed of late.
type need struct {
	began       time.Time // when now began to be counted
	now, before int       // seconds
}

// note takes in what a segment needs, and returns what is needed of late.
func (n *need) note(seconds int, at time.Time) int {
	if elapsed := at.Sub(n.began); elapsed >= targetCalm || elapsed < 0 {
		n.began, n.before, n.now = at, n.now, 0
	}
	n.now = max(n.now, seconds)
	return max(n.now, n.before)
}

// A sharedTarget is the target duration that all playlists of a camera have alike (RFC
// 8216 6.2.4): that of the source which needs the longest.
type sharedTarget struct {
	seconds int
	needs   map[string]int // of sources
}

// cover takes a source's need, and returns the target of all. It grows to what is
// needed, and becomes less only where half of it is enough.
func (t *sharedTarget) cover(source string, seconds int) int {
	if t.needs == nil {
		t.needs = map[string]int{}
	}
	t.needs[source] = seconds
	most := 0
	for _, n := range t.needs {
		most = max(most, n)
	}
	if most > t.seconds || 2*most <= t.seconds {
		t.seconds = most
	}
	return t.seconds
}
