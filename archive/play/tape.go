package play

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/m3u8"
)

// A tape is a playlist that grows. It belongs to whose turn it is in its slot.
type tape struct {
	style
	shift time.Duration // how far it reaches back; 0: it begins at style.from

	ready          bool
	shape, version uint64  // of the stream, before it was read
	reels          []*reel // of finished files
	tips           []*reel // of those being written
	next           int64   // number of the first file that is not in reels
	target         int     // seconds; RFC 8216 6.2.1 has it stay: it never shrinks
	joints         []joint // before each of reels and tips
	ranges         []byte  // what happened; of a tape that slides

	full, delta *document // delta: nil where nothing could be skipped
}

func newTape(s style, shift time.Duration) *tape {
	t := &tape{style: s}
	if s.from.IsZero() {
		t.shift = shift
	}
	return t
}

// current reports whether nothing of the stream has changed since it was read.
func (t *tape) current(x *index.Index) bool { return t.ready && t.version == x.Version(t.stream.ID) }

// document returns the newest version: a delta update, if that will do and there is one.
func (t *tape) document(skip bool) *document {
	if skip && t.delta != nil {
		return t.delta
	}
	return t.full
}

// refresh brings the tape up to date, and reports whether it has become another.
func (t *tape) refresh(ctx context.Context, x *index.Index, now time.Time, happened func(ctx context.Context, camera string, from, to time.Time) []byte) (changed bool, problem *problem, err error) {
	version := x.Version(t.stream.ID)
	shape := x.Shape(t.stream.ID)
	if t.ready && t.shape == shape {
		err = t.grow(ctx, x)
	} else {
		problem, err = t.load(ctx, x, now)
	}
	if err != nil || problem != nil {
		return false, problem, err
	}
	t.ready, t.shape, t.version = true, shape, version
	t.slide(now)
	if len(t.reels)+len(t.tips) == 0 {
		return false, noRecording("Nothing was recorded since then."), nil
	}
	// RFC 8216 6.2.1: what is in a playlist of type EVENT stays where it is, so that
	// what is found out later has no place there.
	if t.shift > 0 && !t.pictures {
		t.ranges = happened(ctx, t.stream.Camera, t.all()[0].start, now.Add(time.Hour))
	}
	return t.render(), nil, nil
}

// load reads all from the index.
func (t *tape) load(ctx context.Context, x *index.Index, now time.Time) (*problem, error) {
	from := t.from
	if t.shift > 0 {
		from = now.Add(-t.shift)
	}
	most := int(max(t.shift, DefaultTimeShift)/time.Minute)*2 + 120 // files are shorter where a camera comes and goes
	n, err := x.CountFiles(ctx, t.stream.ID, from, time.Time{}, most+1)
	if err != nil {
		return nil, err
	}
	if n > most {
		return badRange(fmt.Errorf("a playlist that grows begins at most %v ago: say where it ends, by to", max(t.shift, DefaultTimeShift))), nil
	}
	files, err := x.Files(ctx, t.stream.ID, from, time.Time{})
	if err != nil {
		return nil, err
	}
	known := map[int64]*reel{}
	for _, r := range t.reels {
		known[r.number] = r
	}
	t.reels, t.tips, t.next = nil, nil, 0
	t.take(files, known)
	return nil, t.mend(ctx, x)
}

// mend finds out how the first reel relates to what was recorded before it. A tape
// that does not slide begins with nothing before it.
func (t *tape) mend(ctx context.Context, x *index.Index) error {
	all := t.all()
	if t.shift == 0 || len(all) == 0 {
		return nil
	}
	before, found, err := x.FileBefore(ctx, index.Key{Stream: t.stream.ID, Number: all[0].number})
	if err != nil {
		return err
	}
	if found {
		all[0].fresh = before.Discontinuity < all[0].discontinuity
	}
	return nil
}

// grow reads what is new.
func (t *tape) grow(ctx context.Context, x *index.Index) error {
	files, err := x.FilesFrom(ctx, t.stream.ID, t.next)
	if err != nil {
		return err
	}
	t.tips = nil
	t.take(files, nil)
	return nil
}

// take appends the entries of files. Those behind a file that is being written are not
// taken up for good: it is not known yet how many entries come before them.
func (t *tape) take(files []index.File, known map[int64]*reel) {
	if t.next == 0 && len(files) > 0 {
		t.next = files[0].Number
	}
	for i := range files {
		f := &files[i]
		r := known[f.Number]
		if r == nil || f.Growing() || r.bytes != f.Bytes {
			r = t.reel(f, nil)
		}
		if !f.Growing() && len(t.tips) == 0 {
			t.next = f.Number + 1
			if r != nil {
				t.reels = append(t.reels, r)
			}
			continue
		}
		if r != nil {
			t.tips = append(t.tips, r)
		}
		if f.Growing() {
			break // what is behind it has its numbers when it is finished
		}
	}
}

func (t *tape) all() []*reel { return slices.Concat(t.reels, t.tips) }

// slide leaves out files whose time is over, but for the newest.
func (t *tape) slide(now time.Time) {
	if t.shift == 0 {
		return
	}
	over := now.Add(-t.shift)
	n := 0
	for n < len(t.reels) && n+1 < len(t.reels)+len(t.tips) && !t.reels[n].end.After(over) {
		n++
	}
	t.reels = slices.Delete(t.reels, 0, n)
}

// bytes is how much the tape holds, about.
func (t *tape) bytes() int64 {
	n := int64(4096)
	for _, r := range t.reels {
		n += int64(len(r.text))*5/4 + 300
	}
	return n
}

// roomyTarget leaves room for segments to come that are longer, as where a camera
// leaves a keyframe out: the target duration of a playlist is not to change.
func roomyTarget(longest time.Duration) int { return max(4, targetOf(longest*5/4)) }

// skipTargets is how many target durations from its end a playlist is told anew (RFC
// 8216bis 4.4.3.8: at least six).
const skipTargets = 6

// render makes the documents of this version, and reports whether they are others
// than those of the one before.
func (t *tape) render() bool {
	all := t.join()
	longest := time.Duration(0)
	for _, r := range all {
		longest = max(longest, r.longest)
	}
	if targetOf(longest) > t.target {
		t.target = roomyTarget(longest)
	}
	head := &m3u8.Head{
		Version: 9, TargetDuration: t.target, MediaSequence: all[0].sequence, DiscontinuitySequence: all[0].discontinuity,
		IndependentSegments: true, IFramesOnly: t.pictures,
	}
	if all[0].fresh {
		head.DiscontinuitySequence--
	}
	if t.shift == 0 {
		head.Type = m3u8.TypeEvent
	}
	head.CanSkipUntil = skipTargets * time.Duration(t.target) * time.Second
	tail, skipped := tailOf(all, t.joints, head.CanSkipUntil)
	top := append(m3u8.AppendHead(nil, head), t.ranges...)
	tag := newTag()
	for _, b := range t.ranges {
		tag.add(uint64(b))
	}
	for i, r := range all {
		tag.add(uint64(r.sum))
		tag.add(uint64(t.joints[i].gaps))
	}
	tag.add(all[0].sequence)
	tag.add(uint64(t.target))
	if t.full != nil && t.full.tag == tag.String() {
		return false
	}
	cache := fmt.Sprintf("public, max-age=%d, stale-if-error=%d", max(1, t.target/2), t.target)
	t.full = newStrip(top, all, t.joints).document(tag.String(), cache)
	t.delta = nil
	if skipped > 0 {
		t.delta = newStrip(m3u8.AppendSkip(top, skipped), all[tail:], t.joints[tail:]).document(tag.String()+".delta", cache)
	}
	return true
}

// tailOf returns from which reel on a playlist is told anew, so that it is so much of
// its end, and how many entries are before it. It is where a file begins, so that the
// map is told with it.
func tailOf(all []*reel, joints []joint, until time.Duration) (tail, skipped int) {
	told := time.Duration(0)
	for tail = len(all); tail > 0 && told < until; tail-- {
		told += all[tail-1].lasts
	}
	for i := range tail {
		skipped += all[i].entries + joints[i].gaps
	}
	return tail, skipped
}
