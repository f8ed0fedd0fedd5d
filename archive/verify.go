package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// A Problem is where an archive is not what it should be.
type Problem struct {
	Where string // a path below the archive's directory, or a camera's source
	What  string
}

// Report is what verifying an archive found.
type Report struct {
	Streams, Files, Fragments int
	Bytes                     int64
	Frames                    [2]int64 // of leading tracks, and of the others
	Unfinished                int      // files that were being written when Drover ended: the next start sees to them
	Doomed                    int      // files that were being deleted
	Problems                  []Problem
	Cut                       bool // there are more problems than are told
}

// maxProblems bounds a report.
const maxProblems = 1000

func (r *Report) problem(where, format string, args ...any) {
	if len(r.Problems) >= maxProblems {
		r.Cut = true
		return
	}
	r.Problems = append(r.Problems, Problem{where, fmt.Sprintf(format, args...)})
}

// verifyPage is how many files are asked of the index at once.
const verifyPage = 500

// Verify holds an archive's files and its index against each other, and against what
// always holds (docs/format/archive.md). No Drover may be at work on it. sums says
// whether all media is read for its checksums.
func Verify(ctx context.Context, dir string, sums bool) (*Report, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	x, err := index.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	v := &verifier{index: x, files: disk.NewDir(dir), check: layout.CheckNone, known: map[string]bool{}, report: &Report{}}
	if sums {
		v.check = layout.CheckAll
	}
	open, err := x.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	v.report.Unfinished = len(open)
	streams := x.Streams()
	v.report.Streams = len(streams)
	for _, s := range streams {
		for i := range open {
			if open[i].Stream == s.ID {
				v.known[pathOf(s, &open[i])] = true
			}
		}
		if err := v.stream(ctx, s, open); err != nil {
			return nil, err
		}
	}
	doomed, err := x.Doomed(ctx, "", 1<<30)
	if err != nil {
		return nil, err
	}
	v.report.Doomed = len(doomed)
	for _, path := range doomed {
		v.known[path] = true
	}
	return v.report, v.strays(ctx, dir)
}

type verifier struct {
	index  *index.Index
	files  disk.FS
	check  layout.Check
	known  map[string]bool
	report *Report
}

// stream verifies the files of a stream, and that each moment is told of.
func (v *verifier) stream(ctx context.Context, s index.Stream, open []index.File) error {
	told := coverage{}
	var before *index.File
	for number := int64(0); ; {
		page, err := v.index.Oldest(ctx, s.ID, number, index.Here|index.SecondHome, verifyPage)
		if err != nil {
			return err
		}
		for i := range page {
			f, ok, err := v.index.FileByNumber(ctx, page[i].Key())
			if err != nil || !ok {
				return errors.Join(err, ctx.Err())
			}
			v.file(s, &f)
			v.sequence(s, before, &f)
			told.file(&f)
			f.Fragments = f.Fragments[:len(f.Fragments):len(f.Fragments)]
			before = &f
		}
		if len(page) < verifyPage {
			break
		}
		number = page[len(page)-1].Number + 1
	}
	gaps, err := v.index.Gaps(ctx, s.ID, time.Time{}, time.Time{}, 0, 1<<30)
	if err != nil {
		return err
	}
	for _, g := range gaps {
		told.gap(&g)
	}
	for i := range open {
		if open[i].Stream == s.ID {
			told.until(open[i].Start) // what is behind it is told of at the next start
		}
	}
	for _, hole := range told.holes() {
		v.report.problem(s.Camera+"/"+s.Source, "from %s to %s there is neither footage nor a gap", stamp(hole.from), stamp(hole.to))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// file holds a file against its row.
func (v *verifier) file(s index.Stream, f *index.File) {
	path := pathOf(s, f)
	v.known[path] = true
	r := v.report
	r.Files++
	r.Fragments += len(f.Fragments)
	r.Bytes += f.Bytes
	r.Frames[0] += f.Frames[0]
	r.Frames[1] += f.Frames[1]
	if f.Places&index.Here == 0 {
		return
	}
	scanned, size, err := v.scan(path)
	if err != nil {
		r.problem(path, "%v", err)
		return
	}
	id := scanned.Identity
	switch {
	case id.Camera != s.Camera || id.Source != s.Source || id.Number != f.Number || id.Run != f.Run || id.Epoch != f.Epoch || !id.Start.Equal(f.Start):
		r.problem(path, "it says of itself that it is another file: %s/%s number %d of %s", id.Camera, id.Source, id.Number, stamp(id.Start))
	case id.Sequence != f.Sequence || id.Discontinuity != f.Discontinuity:
		r.problem(path, "its first segment is number %d (discontinuity %d), in the index %d (%d)", id.Sequence, id.Discontinuity, f.Sequence, f.Discontinuity)
	case size != f.Bytes:
		r.problem(path, "it has %d bytes, in the index %d", size, f.Bytes)
	case scanned.Header != f.Header || scanned.Init != f.Init:
		r.problem(path, "its header ends at %d, in the index at %d", scanned.Header, f.Header)
	case scanned.Frames != f.Frames:
		r.problem(path, "it has %d and %d frames, in the index %d and %d", scanned.Frames[0], scanned.Frames[1], f.Frames[0], f.Frames[1])
	case !slices.EqualFunc(scanned.Fragments, f.Fragments, alike):
		r.problem(path, "its %d fragments are not the %d of the index", len(scanned.Fragments), len(f.Fragments))
	case len(f.Fragments) == 0 || !f.Fragments[0].Keyframe:
		r.problem(path, "it does not begin with a keyframe")
	}
	for _, n := range scanned.Damaged {
		r.problem(path, "fragment %d at byte %d is damaged: its checksum is another", n, scanned.Fragments[n].Offset)
	}
}

// alike reports whether two fragments are one, but for rounding.
func alike(a, b layout.Fragment) bool {
	near := a.Shift-b.Shift >= -2 && a.Shift-b.Shift <= 2
	a.Shift, b.Shift = 0, 0
	return near && a == b
}

func (v *verifier) scan(path string) (*layout.Scanned, int64, error) {
	file, err := v.files.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return nil, 0, err
	}
	scanned, err := layout.Scan(file, size, v.check)
	return scanned, size, err
}

// sequence verifies that the numbers of segments grow from file to file.
func (v *verifier) sequence(s index.Stream, before, f *index.File) {
	if before == nil {
		return
	}
	next := before.Sequence + uint64(len(layout.AppendSegments(nil, before.Fragments)))
	switch follows := f.Number == before.Number+1; {
	case before.Thinned: // it had more segments once
	case f.Sequence < next, follows && f.Sequence != next:
		v.report.problem(pathOf(s, f), "its first segment is number %d and should be %d", f.Sequence, next)
	}
	if f.Discontinuity < before.Discontinuity {
		v.report.problem(pathOf(s, f), "its discontinuity sequence is %d and was %d before", f.Discontinuity, before.Discontinuity)
	}
}

// strays finds files that are named as Drover's and are in no row.
func (v *verifier) strays(ctx context.Context, dir string) error {
	return walk(ctx, dir, func(path string, _ layout.Name) error {
		if !v.known[path] {
			v.report.problem(path, "it is not in the index")
		}
		return nil
	})
}

// walk calls do for each file below dir that is named as one of the archive's.
func walk(ctx context.Context, dir string, do func(path string, name layout.Name) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return errors.Join(err, ctx.Err())
		}
		path, err = filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		name, err := layout.ParsePath(path)
		if err != nil || !entry.Type().IsRegular() {
			return nil // not Drover's
		}
		return do(path, name)
	})
}

// A coverage gathers which moments of a stream are told of.
type coverage struct {
	spans []span
	end   time.Time
}

type span struct {
	from, to time.Time
	slack    time.Duration // what may be missing before it
	number   int64         // of the file; 0: a gap
}

func (c *coverage) file(f *index.File) {
	slack := 150 * time.Millisecond
	if n := f.Frames[0]; n > 0 {
		slack = max(slack, 2*layout.Time(f.Duration)/time.Duration(n), 2*layout.Time(f.Duration)/time.Duration(len(f.Fragments))/slewShare)
	}
	c.spans = append(c.spans, span{f.Start, f.End(), slack, f.Number})
}

func (c *coverage) gap(g *index.Gap) {
	to := g.To
	if to.IsZero() {
		to = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	c.spans = append(c.spans, span{from: g.From, to: to})
}

// until says that what begins later is not to be told of yet.
func (c *coverage) until(t time.Time) {
	if c.end.IsZero() || t.Before(c.end) {
		c.end = t
	}
}

// holes returns what is between the spans. What lies between footage and older footage
// is none: that was recorded by a clock that was ahead, and time has not come there yet.
func (c *coverage) holes() []span {
	slices.SortFunc(c.spans, func(a, b span) int { return a.from.Compare(b.from) })
	var holes []span
	var reached time.Time
	var slack time.Duration
	var newest int64
	for i, s := range c.spans {
		ahead := s.number > 0 && s.number < newest
		newest = max(newest, s.number)
		if i > 0 && !ahead && s.from.Sub(reached) > max(slack, s.slack, 150*time.Millisecond) && (c.end.IsZero() || s.from.Before(c.end)) {
			holes = append(holes, span{from: reached, to: s.from})
		}
		if i == 0 || s.to.After(reached) {
			reached, slack = s.to, s.slack
		}
	}
	return holes
}
