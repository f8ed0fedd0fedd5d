package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// doomedAtOnce is how many files are unlinked between two looks at the index.
const doomedAtOnce = 500

// refusedInterval is how often it is told that files cannot be unlinked.
const refusedInterval = time.Minute

// putInOrder finishes what a process that ended in mid-work began: files that were
// being written, and files that were being deleted. No other file is looked at, so
// that it takes as long as there are streams, however much there is.
func (r *Recorder) putInOrder(ctx context.Context) error {
	alive, err := r.index.LastAlive(ctx)
	if err != nil {
		return err
	}
	open, err := r.index.Unfinished(ctx)
	if err != nil {
		return err
	}
	names := map[int64]index.Stream{}
	for _, s := range r.index.Streams() {
		names[s.ID] = s
	}
	for i := range open {
		if err := recoverFile(ctx, r.index, r.options.FS, names[open[i].Stream], open[i]); err != nil {
			r.options.Log.Error("a file of the archive cannot be put in order", "path", pathOf(names[open[i].Stream], &open[i]), "err", err)
		}
	}
	if len(open) > 0 {
		r.options.Log.Info("archive put in order", "files", len(open))
	}
	if err := r.unlinkDoomed(ctx); err != nil {
		r.options.Log.Error("the archive's index does not tell of deleted files", "err", err)
	}
	if err := r.tellHoles(ctx, names, alive); err != nil {
		return err
	}
	if r.rolling.since, err = r.index.Rolling(ctx); err != nil {
		return err
	}
	return r.openLedgers(ctx, names, alive)
}

// untold is how long before and after the last sign of life a gap may not have been
// written down.
const untold = time.Minute

// tellHoles tells of gaps that the process before this one knew of and did not come to
// write down.
func (r *Recorder) tellHoles(ctx context.Context, names map[int64]index.Stream, alive time.Time) error {
	var missing []index.Gap
	for id := range names {
		files, err := r.index.Files(ctx, id, alive.Add(-untold), time.Time{})
		if err != nil {
			return err
		}
		gaps, err := r.index.Gaps(ctx, id, alive.Add(-untold), time.Time{}, 0, 1<<20)
		if err != nil {
			return err
		}
		told := coverage{}
		if !alive.IsZero() {
			told.until(alive.Add(untold)) // what is later is of a clock that was ahead
		}
		for i := range files {
			told.file(&files[i])
		}
		for i := range gaps {
			told.gap(&gaps[i])
		}
		for _, hole := range told.holes() {
			g := index.Gap{Stream: id, From: hole.from, To: hole.to, Cause: index.CauseUnknown, Detail: "Drover ended before it could say why"}
			if otherRun(files, hole) {
				g.Cause, g.Detail = index.CauseProcessDown, "Drover did not run"
			}
			missing = append(missing, g)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return r.index.AddGaps(ctx, missing...)
}

// otherRun reports whether the files on both sides of a hole are of different runs.
func otherRun(files []index.File, hole span) bool {
	for i := range files {
		if files[i].Start.Equal(hole.to) {
			return i == 0 || files[i-1].Run != files[i].Run
		}
	}
	return false
}

// pathOf is where a file of a stream lies.
func pathOf(s index.Stream, f *index.File) string {
	return string(layout.AppendPath(nil, layout.Name{Camera: s.Camera, Source: s.Source, Start: f.Start, Number: f.Number, Thinned: f.Thinned}))
}

// recoverFile finishes a file that was being written: with what is whole of it.
func recoverFile(ctx context.Context, x *index.Index, files disk.FS, s index.Stream, f index.File) error {
	path := pathOf(s, &f)
	file, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return x.Recover(ctx, f) // the row came first
	}
	if err != nil {
		return err
	}
	scanned, err := cutTorn(file, layout.CheckTail)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if errors.Is(err, layout.ErrFile) || err == nil && (len(scanned.Fragments) == 0 || scanned.Identity.Number != f.Number) {
		// Not even its header is whole, or nothing was added to it.
		f.Fragments = nil
		if _, err := disk.Unlink(files, path); err != nil {
			return err
		}
		return x.Recover(ctx, f)
	}
	if err != nil {
		return err
	}
	if err := files.SyncDir(path); err != nil {
		return err // it may have ended before its name was on disk
	}
	f.Fragments, f.Frames, f.Header, f.Init = scanned.Fragments, scanned.Frames, scanned.Header, scanned.Init
	return x.Recover(ctx, f)
}

// cutTorn scans a file and cuts off what is not whole at its end.
func cutTorn(file disk.File, check layout.Check) (*layout.Scanned, error) {
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	scanned, err := layout.Scan(file, size, check)
	if err != nil {
		return nil, err
	}
	if scanned.End < size {
		if err := file.Truncate(scanned.End); err != nil {
			return nil, fmt.Errorf("cut the torn end off: %w", err)
		}
	}
	if err := file.Sync(); err != nil {
		return nil, err
	}
	return scanned, nil
}

// unlinkDoomed unlinks files that are out of the index. What a folder refuses is told
// of and keeps nobody from anything: it is tried again with what is deleted next.
func (r *Recorder) unlinkDoomed(ctx context.Context) error {
	refused, err := unlinkDoomed(ctx, r.index, r.options.FS)
	if now := r.now(); refused != nil && now.Sub(r.refusedSaid).Abs() >= refusedInterval {
		r.refusedSaid = now
		r.options.Log.Error("deleted files of the archive cannot be unlinked", "err", refused)
	}
	return err
}

// unlinkDoomed unlinks all that can be, and returns what kept others from it.
func unlinkDoomed(ctx context.Context, x *index.Index, files disk.FS) (refused, err error) {
	for after := ""; ; {
		paths, err := x.Doomed(ctx, after, doomedAtOnce)
		if err != nil || len(paths) == 0 {
			return refused, err
		}
		after = paths[len(paths)-1]
		paths = slices.DeleteFunc(paths, func(path string) bool {
			_, err := layout.ParsePath(path)
			if err != nil {
				refused = fmt.Errorf("%q: %w", path, err) // nothing else is ever unlinked
			}
			return err != nil
		})
		gone, err := disk.Unlink(files, paths...)
		if err != nil {
			refused = err
		}
		if len(gone) == 0 {
			continue
		}
		if err := x.Forget(ctx, gone...); err != nil {
			return refused, err
		}
	}
}

// openLedgers tells each stream's ledger up to where all is told: from there on,
// Drover did not run.
func (r *Recorder) openLedgers(ctx context.Context, names map[int64]index.Stream, alive time.Time) error {
	gaps, err := r.index.OpenGaps(ctx)
	if err != nil {
		return err
	}
	covered := map[int64]time.Time{}
	for id := range names {
		// The newest as it was recorded: the clock may have been ahead once.
		newest, ok, err := r.index.FileBefore(ctx, index.Key{Stream: id, Number: math.MaxInt64})
		if err != nil {
			return err
		}
		if ok {
			covered[id] = newest.End()
		}
	}
	for _, g := range gaps {
		end := alive
		if end.Before(g.From) {
			end = g.From
		}
		if err := r.index.CloseGap(ctx, g.Stream, end); err != nil {
			return err
		}
		if end.After(covered[g.Stream]) {
			covered[g.Stream] = end
		}
	}
	usage, err := r.index.Usage(ctx)
	if err != nil {
		return err
	}
	r.lastSign = alive
	for _, u := range usage {
		r.lastSign = later(r.lastSign, u.To)
	}
	now := r.now()
	for id, s := range names {
		l := r.ledger(sourceKey{s.Camera, s.Source})
		if to, ok := covered[id]; ok {
			l.begin(to)
		}
		l.absent(index.CauseProcessDown, "Drover did not run", now)
	}
	return nil
}
