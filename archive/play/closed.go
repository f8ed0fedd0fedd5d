package play

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/m3u8"
)

// Bounds of a closed range.
const (
	// fineRange is up to which range all segments are listed; beyond, those of a file
	// are gathered into longer ones, for players read every line.
	fineRange   = 25 * time.Hour
	coarseTicks = 10 * layout.TicksPerSecond

	// maxFiles is how many files a playlist spans at most: those of a week.
	maxFiles = 7*24*60 + 60

	// settledAfter is how long after a moment nothing is written of it any more.
	settledAfter = 15 * time.Second
)

const (
	settledCache = "public, max-age=300"
	movingCache  = "public, max-age=1, stale-if-error=4"
)

// closed is a closed range as it is asked for.
type closed struct {
	style
	now time.Time
}

// A recorded is what there is of a closed range.
type recorded struct {
	reels   []*reel
	settled bool   // it will not become more
	ranges  []byte // what happened
}

// read finds what there is.
func (c *closed) read(ctx context.Context, x *index.Index) (*recorded, *problem, error) {
	if !c.from.Before(c.now) {
		return nil, noRecording("The range begins in the future."), nil
	}
	if c.to.Sub(c.from) > fineRange {
		n, err := x.CountFiles(ctx, c.stream.ID, c.from, c.to, maxFiles+1)
		switch {
		case err != nil:
			return nil, nil, err
		case n > maxFiles:
			return nil, badRange(fmt.Errorf("one playlist spans at most a week of footage (%d files of a minute): ask for less", maxFiles)), nil
		case n > int(fineRange/time.Minute):
			c.coarse = coarseTicks
		}
	}
	files, err := x.Files(ctx, c.stream.ID, c.from, c.to)
	if err != nil {
		return nil, nil, err
	}
	r := &recorded{settled: c.now.Sub(c.to) > settledAfter}
	var before *kinship
	for i := range files {
		f := &files[i]
		if f.Open && len(f.Fragments) > 0 {
			segments := layout.AppendSegments(nil, f.Fragments)
			r.settled = r.settled && !f.StartOf(&segments[len(segments)-1]).Before(c.to)
		}
		if reel := c.reel(f, before); reel != nil {
			r.reels = append(r.reels, reel)
			before = &reel.kin
		}
	}
	if len(r.reels) == 0 {
		return nil, noRecording("There is no footage in this range. /api/v1/cameras/{id}/recordings says where there is."), nil
	}
	return r, nil, nil
}

// document writes the playlist.
func (c *closed) document(r *recorded) *document {
	longest := time.Duration(0)
	size := 200 + len(r.ranges)
	for _, reel := range r.reels {
		longest = max(longest, reel.longest)
		size += len(reel.text) + 25
	}
	text := m3u8.AppendHead(make([]byte, 0, size), &m3u8.Head{
		Version: 7, TargetDuration: targetOf(longest), MediaSequence: 0, IndependentSegments: !c.boxes, Type: m3u8.TypeVOD, IFramesOnly: c.pictures,
	})
	text = append(text, r.ranges...)
	tag := newTag()
	for _, b := range r.ranges {
		tag.add(uint64(b))
	}
	for i, reel := range r.reels {
		if i > 0 && !follows(r.reels[i-1], reel) {
			text = m3u8.AppendDiscontinuity(text)
			tag.add(1)
		}
		text = append(text, reel.text...)
		tag.add(uint64(reel.sum))
	}
	cache := movingCache
	if r.settled {
		cache = settledCache
	}
	return newDocument(m3u8.AppendEnd(text), tag.String(), cache)
}

// follows reports whether a reel goes on where another has ended.
func follows(before, r *reel) bool {
	return before.kin == r.kin && before.sequence+uint64(before.entries) <= r.sequence && !missing(before, r)
}

// missing reports whether a file between two was deleted: then their times do not join.
func missing(before, r *reel) bool {
	return r.start.Sub(before.end).Abs() > 1500*time.Millisecond
}

// targetOf is the least target duration: RFC 8216 4.3.3.1 rounds to the nearest second.
func targetOf(longest time.Duration) int { return max(1, int(math.Round(longest.Seconds()))) }

// A tag names a version of a playlist by what it consists of.
type tag uint64

func newTag() tag { return 14695981039346656037 } // FNV-1a

func (t *tag) add(v uint64) {
	for range 8 {
		*t = (*t ^ tag(v&0xff)) * 1099511628211
		v >>= 8
	}
}

func (t tag) String() string { return strconv.FormatUint(uint64(t), 16) }
