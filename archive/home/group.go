package home

import (
	"hash/fnv"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// maxParts is how many files one object has at most.
const maxParts = 256

// A grouping decides which files become one object. It depends on the files alone, so
// that after a crash, and on another machine, the same files become the same object.
type grouping struct {
	window   time.Duration
	maxBytes int64
	grace    time.Duration
}

// window returns which window of time a file belongs to. The windows of streams end at
// different times, for not all of them to be sent at once.
func (g *grouping) windowOf(s index.Stream, start time.Time) (number int64, end time.Time) {
	hash := fnv.New64a()
	hash.Write([]byte(s.Camera + "/" + s.Source))
	shift := int64(hash.Sum64() % uint64(g.window.Microseconds()))
	at, width := start.UnixMicro()+shift, g.window.Microseconds()
	number = at / width
	if at%width < 0 {
		number--
	}
	return number, time.UnixMicro((number+1)*width - shift)
}

// first returns how many of a stream's files, in their order, make the next object;
// 0 where it has to wait for more of them, until a time.
func (g *grouping) first(s index.Stream, files []index.File, now time.Time) (n int, until time.Time) {
	if len(files) == 0 {
		return 0, time.Time{}
	}
	window, end := g.windowOf(s, files[0].Start)
	bytes := files[0].Bytes
	for n = 1; n < len(files) && n < maxParts; n++ {
		next, _ := g.windowOf(s, files[n].Start)
		if next != window || bytes+files[n].Bytes > g.maxBytes {
			return n, time.Time{}
		}
		bytes += files[n].Bytes
	}
	end = end.Add(g.grace)
	// A file from the future, as a clock makes it that went back, waits no longer than
	// any other.
	if n == maxParts || bytes >= g.maxBytes || !now.Before(end) || end.Sub(now) > g.window+g.grace {
		return n, time.Time{}
	}
	return 0, end
}
