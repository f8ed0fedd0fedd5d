package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/sqlite"
)

// ErrUnknownFile is returned for a file that is not being written.
var ErrUnknownFile = errors.New("no such file is being written")

// Key names a file.
type Key struct{ Stream, Number int64 }

// Key returns the file's name in the index.
func (f *File) Key() Key { return Key{f.Stream, f.Number} }

// Begin makes rows for files that are to be written, in one transaction, and sets
// their Number, Sequence and Discontinuity. It comes before a file exists, and after
// the last Append to the file before it of the same stream.
func (x *Index) Begin(ctx context.Context, files ...*File) error {
	err := x.db.Write(ctx, "begin files", func(ctx context.Context, tx *sql.Tx) error {
		for _, f := range files {
			if err := x.begin(ctx, tx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range files {
		kept := *f
		kept.Open, kept.Places, kept.Fragments = true, Here, nil
		s := x.streams[f.Stream]
		s.open = append(s.open, &kept)
	}
	return nil
}

func (x *Index) begin(ctx context.Context, tx *sql.Tx, f *File) error {
	format, err := formatID(ctx, tx, f.Format)
	if err != nil {
		return err
	}
	err = tx.QueryRowContext(ctx, `
		UPDATE streams SET next_number = next_number + 1 WHERE id = ?
		RETURNING next_number - 1, next_sequence, next_discontinuity`, f.Stream).Scan(&f.Number, &f.Sequence, &f.Discontinuity)
	if err != nil {
		return fmt.Errorf("number a file of stream %d: %w", f.Stream, err)
	}
	// The file before may not have been finished yet: what it holds is known here. But
	// it may also be a broken one, long before others that are finished.
	if before, ok := x.newestOpen(f.Stream); ok {
		sequence, discontinuity := before.after()
		f.Sequence, f.Discontinuity = max(f.Sequence, sequence), max(f.Discontinuity, discontinuity)
	}
	if f.Discontinuous {
		f.Discontinuity++
	}
	f.Open = true
	return insertFile(ctx, tx, f, format)
}

// after returns the sequences of the segment that follows a file's last.
func (f *File) after() (sequence, discontinuity uint64) {
	return f.Sequence + uint64(len(layout.AppendSegments(nil, f.Fragments))), f.Discontinuity
}

func (x *Index) newestOpen(streamID int64) (File, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.streams[streamID]
	if !ok || len(s.open) == 0 {
		return File{}, false
	}
	f := *s.open[len(s.open)-1]
	f.Fragments = slices.Clone(f.Fragments)
	return f, true
}

func formatID(ctx context.Context, tx *sql.Tx, f Format) (int64, error) {
	var id int64
	err := tx.QueryRowContext(ctx, `
		INSERT INTO formats (codecs, width, height, fps) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET codecs = excluded.codecs RETURNING id`, f.Codecs, f.Width, f.Height, f.FPS).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("keep a format: %w", err)
	}
	return id, nil
}

// States of files.
const (
	stateOpen     = 0
	stateFinished = 1
)

const insertFileRow = `
	INSERT OR REPLACE INTO files (stream, number, state, places, thinned, start, span, duration, init, header, bytes, run, epoch,
		sequence, discontinuity, format, frames, other_frames, fragments)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// fileRow is what insertFileRow takes.
func fileRow(f *File, format int64, state int, table []byte) []any {
	return []any{f.Stream, f.Number, state, Here, f.Thinned, f.Start.UnixMicro(), f.Span.Microseconds(), f.Duration, f.Init, f.Header, f.Bytes, f.Run, f.Epoch,
		f.Sequence, f.Discontinuity, format, f.Frames[0], f.Frames[1], table}
}

// insertFile makes the row of a file of which nothing is known yet.
func insertFile(ctx context.Context, tx *sql.Tx, f *File, format int64) error {
	if _, err := tx.ExecContext(ctx, insertFileRow, fileRow(f, format, stateOpen, []byte{})...); err != nil {
		return fmt.Errorf("keep file %d of stream %d: %w", f.Number, f.Stream, err)
	}
	return nil
}

// Append tells that a fragment was written to a file that was begun, and how many
// frames of the leading track and of the other are in it. Readers see it at once.
func (x *Index) Append(key Key, fragment layout.Fragment, frames [2]int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	f, s := x.findOpen(key)
	if f == nil {
		return ErrUnknownFile
	}
	f.add(fragment, frames)
	s.version++
	return nil
}

func (x *Index) findOpen(key Key) (*File, *stream) {
	s, ok := x.streams[key.Stream]
	if !ok {
		return nil, nil
	}
	for _, f := range s.open {
		if f.Number == key.Number {
			return f, s
		}
	}
	return nil, nil
}

// Finish tells that files are complete and synced to disk, in one transaction. One
// without fragments is forgotten, and is for the caller to unlink. One that is not
// being written is passed over: it must not keep the others from being finished.
func (x *Index) Finish(ctx context.Context, keys ...Key) error {
	files := make([]File, 0, len(keys))
	x.mu.RLock()
	for _, key := range keys {
		if f, _ := x.findOpen(key); f != nil {
			files = append(files, *f) // nobody appends to it any more
		}
	}
	x.mu.RUnlock()
	err := x.db.Write(ctx, "finish files", func(ctx context.Context, tx *sql.Tx) error {
		for i := range files {
			if err := finish(ctx, tx, &files[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range files {
		s := x.streams[files[i].Stream]
		s.open = slices.DeleteFunc(s.open, func(f *File) bool { return f.Number == files[i].Number })
		s.version++
	}
	return nil
}

// GiveUp tells that nothing more is written to a file, which could not be synced.
// What is in it keeps its numbers, and what follows is played behind it. Its row stays
// one that the next start looks at.
func (x *Index) GiveUp(key Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f, s := x.findOpen(key); f != nil {
		f.Broken = true
		s.version++
	}
}

func finish(ctx context.Context, tx *sql.Tx, f *File) error {
	if len(f.Fragments) == 0 {
		_, err := tx.ExecContext(ctx, "DELETE FROM files WHERE stream = ? AND number = ?", f.Stream, f.Number)
		return err
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE files SET state = 1, span = ?, duration = ?, bytes = ?, frames = ?, other_frames = ?, fragments = ?
		WHERE stream = ? AND number = ?`,
		f.Span.Microseconds(), f.Duration, f.Bytes, f.Frames[0], f.Frames[1], layout.AppendTable(nil, f.Fragments), f.Stream, f.Number)
	if err != nil {
		return fmt.Errorf("finish file %d of stream %d: %w", f.Number, f.Stream, err)
	}
	sequence, discontinuity := f.after()
	_, err = tx.ExecContext(ctx, `
		UPDATE streams SET next_sequence = max(next_sequence, ?), next_discontinuity = max(next_discontinuity, ?) WHERE id = ?`,
		sequence, discontinuity, f.Stream)
	if err != nil {
		return fmt.Errorf("number what follows file %d of stream %d: %w", f.Number, f.Stream, err)
	}
	if err := enqueue(ctx, tx, f.Key()); err != nil {
		return err
	}
	return addHours(ctx, tx, f, 1)
}

// Unfinished returns the files that were being written when the process before this
// ended, without fragments.
func (x *Index) Unfinished(ctx context.Context) ([]File, error) {
	rows, err := x.db.Reader().QueryContext(ctx, selectFiles+" WHERE f.state = 0 ORDER BY f.stream, f.number")
	if err != nil {
		return nil, fmt.Errorf("read unfinished files: %w", sqlite.Explain(err))
	}
	files, err := scanFiles(rows, nil)
	return slices.DeleteFunc(files, func(f File) bool {
		x.mu.RLock()
		defer x.mu.RUnlock()
		open, _ := x.findOpen(f.Key())
		return open != nil
	}), err
}

// Recover finishes such a file with what was found in it: Fragments and Frames. One
// without fragments is forgotten.
func (x *Index) Recover(ctx context.Context, f File) error {
	found, frames := f.Fragments, f.Frames
	f.Fragments, f.Frames, f.Bytes, f.Duration, f.Span = nil, [2]int64{}, f.Header, 0, 0
	for _, fragment := range found {
		f.add(fragment, [2]int64{})
	}
	f.Frames = frames
	defer x.reshaped(f.Stream)
	return x.db.Write(ctx, "recover a file", func(ctx context.Context, tx *sql.Tx) error { return finish(ctx, tx, &f) })
}

// write is db.Write for what readers of one stream will see.
func (x *Index) write(ctx context.Context, step string, streamID int64, do func(context.Context, *sql.Tx) error) error {
	err := x.db.Write(ctx, step, do)
	if err == nil {
		x.changed(streamID)
	}
	return err
}
