package play

import (
	"slices"
	"strconv"
	"time"

	"github.com/drover-video/drover/core/m3u8"
)

// A joint is what stands between two reels: discontinuities, and gaps in the place of
// entries that were deleted.
type joint struct {
	text []byte
	gaps int // entries
}

// maxGaps bounds how many entries may be missing at one place. Where more are, what is
// before them is not listed.
const maxGaps = 50_000

// join works the joints out, and returns all reels. Where numbers do not go on, which
// is damage, the playlist begins behind.
func (t *tape) join() []*reel {
	all := t.all()
	for i := len(all) - 1; i > 0; i-- {
		if !joinable(all[i-1], all[i]) {
			t.reels = slices.Delete(t.reels, 0, min(i, len(t.reels)))
			all = all[i:]
			break
		}
	}
	t.joints = make([]joint, len(all))
	for i, r := range all {
		if i > 0 {
			t.joints[i], r.fresh = t.jointOf(all[i-1], r)
		} else if r.fresh {
			t.joints[0].text = m3u8.AppendDiscontinuity(nil)
		}
	}
	return all
}

func joinable(before, r *reel) bool {
	next := before.sequence + uint64(before.entries)
	return next <= r.sequence && r.sequence-next <= maxGaps && before.discontinuity <= r.discontinuity && r.discontinuity-before.discontinuity <= maxGaps
}

// jointOf writes what stands between two, and reports whether the second begins with a
// discontinuity.
func (t *tape) jointOf(before, r *reel) (j joint, fresh bool) {
	next := before.sequence + uint64(before.entries)
	discontinuities := r.discontinuity - before.discontinuity
	j.gaps = int(r.sequence - next)
	for i := range j.gaps {
		e := m3u8.Segment{
			URI: t.stream.Source + "/deleted-" + strconv.FormatUint(next+uint64(i), 10) + ".mp4", Gap: true, Short: true,
			Duration: min(max(0, r.start.Sub(before.end))/time.Duration(j.gaps), time.Duration(max(t.target, 4))*time.Second),
		}
		if i == 0 {
			e.ProgramDateTime = before.end
		}
		if discontinuities > 0 {
			discontinuities--
			e.Discontinuity = true
		}
		j.text = m3u8.AppendSegment(j.text, &e)
	}
	fresh = discontinuities > 0
	for range discontinuities {
		j.text = m3u8.AppendDiscontinuity(j.text)
	}
	return j, fresh
}
