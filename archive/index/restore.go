package index

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/drover-video/drover/archive/layout"
)

// Restore puts finished files that were found on disk into an index that does not have
// them, in one transaction. Their numbers are those that they say themselves. What
// several of them have in common is written once: there may be half a million.
func (x *Index) Restore(ctx context.Context, files ...File) error {
	err := x.db.Write(ctx, "restore files", func(ctx context.Context, tx *sql.Tx) error {
		r, err := newRestorer(ctx, tx)
		if err != nil {
			return err
		}
		defer r.insert.Close()
		for i := range files {
			if err := r.file(ctx, files[i]); err != nil {
				return err
			}
		}
		return r.finish(ctx)
	})
	for i := range files {
		if i == 0 || files[i].Stream != files[i-1].Stream {
			x.reshaped(files[i].Stream)
		}
	}
	return err
}

type restorer struct {
	tx      *sql.Tx
	insert  *sql.Stmt
	formats map[Format]int64
	hours   map[streamHour]hourSum
	next    map[int64]nextNumbers // by stream
}

type streamHour struct{ stream, hour int64 }

type hourSum struct{ bytes, covered int64 }

type nextNumbers struct {
	number                  int64
	sequence, discontinuity uint64
}

func newRestorer(ctx context.Context, tx *sql.Tx) (*restorer, error) {
	insert, err := tx.PrepareContext(ctx, insertFileRow)
	if err != nil {
		return nil, err
	}
	return &restorer{tx: tx, insert: insert, formats: map[Format]int64{}, hours: map[streamHour]hourSum{}, next: map[int64]nextNumbers{}}, nil
}

func (r *restorer) file(ctx context.Context, f File) error {
	if len(f.Fragments) == 0 {
		return nil
	}
	found := f.Fragments
	f.Fragments, f.Bytes, f.Duration, f.Span = make([]layout.Fragment, 0, len(found)), f.Header, 0, 0
	for _, fragment := range found {
		f.add(fragment, [2]int64{})
	}
	format, ok := r.formats[f.Format]
	if !ok {
		var err error
		if format, err = formatID(ctx, r.tx, f.Format); err != nil {
			return err
		}
		r.formats[f.Format] = format
	}
	if _, err := r.insert.ExecContext(ctx, fileRow(&f, format, stateFinished, layout.AppendTable(nil, f.Fragments))...); err != nil {
		return fmt.Errorf("restore file %d of stream %d: %w", f.Number, f.Stream, err)
	}
	sequence, discontinuity := f.after()
	n := r.next[f.Stream]
	r.next[f.Stream] = nextNumbers{max(n.number, f.Number+1), max(n.sequence, sequence), max(n.discontinuity, discontinuity)}
	eachHour(&f, func(hour, bytes, covered int64) error {
		key := streamHour{f.Stream, hour}
		sum := r.hours[key]
		r.hours[key] = hourSum{sum.bytes + bytes, sum.covered + covered}
		return nil
	}) //nolint:errcheck // It returns no other than what the function does.
	return nil
}

func (r *restorer) finish(ctx context.Context) error {
	for key, sum := range r.hours {
		if err := addHour(ctx, r.tx, key.stream, key.hour, sum.bytes, sum.covered); err != nil {
			return err
		}
	}
	for stream, n := range r.next {
		_, err := r.tx.ExecContext(ctx, `
			UPDATE streams SET next_number = max(next_number, ?), next_sequence = max(next_sequence, ?),
				next_discontinuity = max(next_discontinuity, ?) WHERE id = ?`, n.number, n.sequence, n.discontinuity, stream)
		if err != nil {
			return fmt.Errorf("number what follows in stream %d: %w", stream, err)
		}
	}
	return nil
}
