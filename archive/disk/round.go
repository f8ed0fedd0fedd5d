package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// markFlagsAt is where a mark's flags lie, and flagHole which of them tells of a hole:
// whether there is one is known only when it is written.
const (
	markFlagsAt = 8 + 16 + 1
	flagHole    = 2
)

// seam is how many microseconds two fragments that lie side by side may be apart by
// rounding.
const seam = 2

// An openFile is a file that is being written. It belongs to the writing goroutine
// until it is done, but for what is said to be shared.
type openFile struct {
	row   index.File
	path  string
	file  File
	clock layout.Clock
	state syncState // shared with the goroutine that syncs
}

// round writes what waits. Files that begin in it share a transaction.
func (w *Writer) round(ctx context.Context) {
	jobs := w.take()
	begun := w.begin(ctx, jobs)
	for i, j := range jobs {
		if j.fragment == nil {
			w.endFile(j.lane)
			continue
		}
		w.one(ctx, j.lane, j.fragment, begun[i])
		w.give(j.fragment.Bytes)
	}
}

// begins returns for which of the jobs a file has to be begun.
func (w *Writer) begins(jobs []job) []int {
	var which []int
	has, awaiting := map[*Lane]bool{}, map[*Lane]bool{}
	for i, j := range jobs {
		l := j.lane
		if _, seen := has[l]; !seen {
			has[l], awaiting[l] = l.file != nil, l.awaiting
		}
		f := j.fragment
		switch {
		case f == nil:
			has[l] = false
		case awaiting[l] && !f.Entry.Keyframe:
		case f.Fresh || !has[l] || l.file != nil && w.beginsFile(l, f):
			if f.Entry.Keyframe {
				which = append(which, i)
				has[l], awaiting[l] = true, false
			} else {
				has[l], awaiting[l] = false, true
			}
		}
	}
	return which
}

// begin makes the rows of the files that begin in a round. They come before the
// files: a file without a row would never be found again. A file's number, and its
// place in the stream's playlist, depend on what the file before it holds, which is
// why only the first file of a lane is begun ahead.
func (w *Writer) begin(ctx context.Context, jobs []job) map[int]*index.File {
	rows := map[int]*index.File{}
	if _, resting := w.health.resting(); resting {
		return rows
	}
	which := w.begins(jobs)
	if len(which) == 0 {
		return rows
	}
	var all []*index.File
	ahead := map[*Lane]bool{}
	for _, i := range which {
		l := jobs[i].lane
		if ahead[l] || writesBefore(jobs[:i], l) {
			continue
		}
		ahead[l] = true
		if _, resting := w.health.laneRests(l); resting {
			continue
		}
		if err := w.resolve(ctx, l); err != nil {
			w.fail(l, err)
			return map[int]*index.File{}
		}
		row := newRow(l, jobs[i].fragment)
		rows[i] = row
		all = append(all, row)
	}
	if len(all) == 0 {
		return rows
	}
	if err := w.options.Index.Begin(ctx, all...); err != nil {
		w.fail(nil, &indexError{"begin files in the index", err})
		return map[int]*index.File{}
	}
	return rows
}

// writesBefore reports whether jobs append to the file of a lane.
func writesBefore(jobs []job, l *Lane) bool {
	for _, j := range jobs {
		if j.lane == l && j.fragment != nil {
			return true
		}
	}
	return false
}

// resolve asks the index for a lane's stream.
func (w *Writer) resolve(ctx context.Context, l *Lane) error {
	if l.stream != 0 {
		return nil
	}
	stream, err := w.options.Index.Stream(ctx, l.camera, l.source)
	if err != nil {
		return &indexError{"find the stream in the index", err}
	}
	l.stream = stream.ID
	return nil
}

func newRow(l *Lane, f *Fragment) *index.File {
	header := int64(len(f.Spec.Init)) + layout.IdentityBytes(l.camera, l.source)
	return &index.File{
		Stream: l.stream, Run: f.Spec.Run, Epoch: f.Spec.Epoch, Start: f.Start, Format: f.Spec.Format,
		Init: int64(len(f.Spec.Init)), Header: header, Bytes: header,
		Discontinuous: f.Entry.Hole || f.Breaks || !l.follows,
	}
}

// beginsFile reports whether a fragment begins a new file of its lane.
func (w *Writer) beginsFile(l *Lane, f *Fragment) bool {
	if f.Fresh || l.file == nil {
		return true
	}
	end := l.file.state.written()
	return f.Entry.Keyframe && w.options.LargestFile > 0 && end > w.options.LargestFile
}

// one writes one fragment, into the row's new file if there is one.
func (w *Writer) one(ctx context.Context, l *Lane, f *Fragment, row *index.File) {
	if state, resting := w.health.laneRests(l); resting && row == nil {
		w.lose(l, f, state.Cause, state.Detail)
		return
	}
	if l.file != nil && l.file.state.isBroken() {
		// What was lost of it is found out at the next start; what comes goes on.
		w.endFile(l)
		l.awaiting = l.awaiting || !f.Entry.Keyframe
	}
	if l.awaiting && !f.Entry.Keyframe {
		w.lose(l, f, index.CauseDiskError, "the picture before it could not be written")
		return
	}
	if w.beginsFile(l, f) || row != nil {
		if err := w.newFile(ctx, l, f, row); err != nil {
			w.lose(l, f, w.fail(l, err), err.Error())
			return
		}
	}
	if err := w.append(l.file, f); err != nil {
		w.lose(l, f, w.fail(l, err), err.Error())
		return
	}
	l.awaiting = false
	w.health.worked(l)
	w.counts.fragments.Add(1)
	w.counts.bytes.Add(uint64(f.Bytes))
	outcome := f.outcome()
	outcome.Written = true
	f.release()
	l.done(outcome)
}

// lose drops a fragment that could not be written. The file before it is complete:
// no time is missing within one.
func (w *Writer) lose(l *Lane, f *Fragment, cause index.Cause, detail string) {
	w.endFile(l)
	l.awaiting, l.follows = true, false
	w.drop(l, f, cause, detail)
}

// fail notes what the disk did to a lane, or, with an error that concerns all, to any.
func (w *Writer) fail(l *Lane, err error) index.Cause {
	cause := CauseOf(err)
	w.health.failed(l, err)
	if cause == index.CauseDiskFull {
		w.options.Full()
	}
	return cause
}

// newFile begins a file of a lane, whose row is made here where it was not made ahead.
func (w *Writer) newFile(ctx context.Context, l *Lane, f *Fragment, row *index.File) error {
	w.endFile(l)
	f.Entry.Hole = f.Entry.Hole || l.awaiting
	if row == nil {
		if err := w.resolve(ctx, l); err != nil {
			return err
		}
		row = newRow(l, f)
		if err := w.options.Index.Begin(ctx, row); err != nil {
			return &indexError{"begin a file in the index", err}
		}
	}
	o := &openFile{row: *row, clock: layout.NewClock(f.Start)}
	o.path = string(layout.AppendPath(nil, layout.Name{Camera: l.camera, Source: l.source, Start: f.Start, Number: row.Number}))
	// A row whose file cannot be made is forgotten as one that came to nothing.
	o.state.lane, o.state.row, o.state.path, o.state.end = l, row.Key(), o.path, row.Header
	file, err := w.options.FS.Create(o.path)
	if err != nil {
		w.syncs.complete(&o.state)
		return err
	}
	w.counts.open.Add(1)
	o.file, o.state.file = file, file
	header := append([]byte(nil), f.Spec.Init...)
	header = layout.AppendIdentity(header, layout.Identity{
		Camera: l.camera, Source: l.source, Number: row.Number, Run: row.Run, Epoch: row.Epoch,
		Start: f.Start, Sequence: row.Sequence, Discontinuity: row.Discontinuity,
	})
	if _, err := file.WriteBuffers([][]byte{header}, 0); err != nil {
		w.syncs.complete(&o.state)
		return err
	}
	l.file, l.follows = o, true
	w.lanes[l] = struct{}{}
	return nil
}

// append writes a fragment at a file's end. What was written of one that failed is
// cut off.
func (w *Writer) append(o *openFile, f *Fragment) error {
	end := o.state.written()
	if f.Entry.Hole {
		f.Head[markFlagsAt] |= flagHole
	}
	buffers := append(make([][]byte, 0, len(f.Body)+1), f.Head)
	buffers = append(buffers, f.Body...)
	began := time.Now()
	if n, err := o.file.WriteBuffers(buffers, end); err != nil || n != f.Bytes {
		if cutErr := o.file.Truncate(end); cutErr != nil {
			w.options.Log.Error("a torn fragment stays at the end of its file until the next start", "path", o.path, "err", cutErr)
		}
		if err == nil {
			err = fmt.Errorf("wrote %d of %d bytes", n, f.Bytes)
		}
		return err
	}
	w.counts.add(&w.counts.writes, time.Since(began))
	o.file.Begin(end, f.Bytes)
	entry := f.Entry
	entry.Offset, entry.Bytes, entry.Shift = end, f.Bytes, o.clock.Shift(f.Start)
	if entry.Shift >= -seam && entry.Shift <= seam {
		entry.Shift = 0
	}
	o.clock.Next(&entry)
	if err := w.options.Index.Append(o.row.Key(), entry, f.Counts); err != nil {
		return &indexError{"tell the index", err}
	}
	w.syncs.grown(&o.state, end+f.Bytes, w.options.Now())
	return nil
}

// endFile completes a lane's file, if it has one.
func (w *Writer) endFile(l *Lane) {
	o := l.file
	if o == nil {
		return
	}
	l.file = nil
	delete(w.lanes, l)
	w.syncs.complete(&o.state)
}
