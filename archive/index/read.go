package index

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/sqlite"
)

const selectFiles = `
	SELECT f.stream, f.number, f.state, f.places, f.thinned, f.start, f.span, f.duration, f.init, f.header, f.bytes, f.run, f.epoch,
		f.sequence, f.discontinuity, m.codecs, m.width, m.height, m.fps, f.frames, f.other_frames, f.fragments
	FROM files f JOIN formats m ON m.id = f.format`

// Files returns the files of a stream that hold something of the time from (including)
// to (excluding), with their fragments, in the order in which they were recorded: by
// time, unless the clock went back. A zero to is for ever.
func (x *Index) Files(ctx context.Context, streamID int64, from, to time.Time) ([]File, error) {
	// Those being written are looked at first: what is finished meanwhile is found twice.
	open := x.openFiles(streamID, from, to)
	earliest, latest := from.UnixMicro(), micros(to)
	rows, err := x.db.Reader().QueryContext(ctx, selectFiles+`
		WHERE f.stream = ?1 AND f.state = 1 AND f.number IN (
			SELECT number FROM files INDEXED BY files_by_time
			WHERE stream = ?1 AND start >= ?2 - ?4 AND start < ?3 AND start + span > ?2)
		ORDER BY f.number`, streamID, earliest, latest, MaxFileSpan.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("read files: %w", sqlite.Explain(err))
	}
	files, err := scanFiles(rows, nil)
	if err != nil {
		return nil, err
	}
	return insertOpen(files, open), nil
}

func byNumber(f File, number int64) int { return int(f.Number - number) }

// openFiles returns copies of the files being written that hold something of a time.
func (x *Index) openFiles(streamID int64, from, to time.Time) []File {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.streams[streamID]
	if !ok {
		return nil
	}
	var files []File
	for _, f := range s.open {
		if len(f.Fragments) == 0 || !f.End().After(from) || !to.IsZero() && !f.Start.Before(to) {
			continue
		}
		kept := *f
		// What is appended later lies behind what this slice sees.
		kept.Fragments = f.Fragments[:len(f.Fragments):len(f.Fragments)]
		files = append(files, kept)
	}
	return files
}

// FileByNumber returns a file with its fragments; false where there is none.
func (x *Index) FileByNumber(ctx context.Context, key Key) (File, bool, error) {
	x.mu.RLock()
	if f, _ := x.findOpen(key); f != nil {
		kept := *f
		kept.Fragments = f.Fragments[:len(f.Fragments):len(f.Fragments)]
		x.mu.RUnlock()
		return kept, true, nil
	}
	x.mu.RUnlock()
	rows, err := x.db.Reader().QueryContext(ctx, selectFiles+" WHERE f.stream = ? AND f.number = ? AND f.state = 1", key.Stream, key.Number)
	if err != nil {
		return File{}, false, fmt.Errorf("read a file: %w", sqlite.Explain(err))
	}
	files, err := scanFiles(rows, nil)
	if err != nil || len(files) == 0 {
		return File{}, false, err
	}
	return files[0], true, nil
}

// scanFiles appends the rows of selectFiles and closes them.
func scanFiles(rows *sql.Rows, dst []File) ([]File, error) {
	defer rows.Close()
	var table sql.RawBytes
	for rows.Next() {
		var f File
		var start, span int64
		var state int
		err := rows.Scan(&f.Stream, &f.Number, &state, &f.Places, &f.Thinned, &start, &span, &f.Duration, &f.Init, &f.Header, &f.Bytes, &f.Run, &f.Epoch,
			&f.Sequence, &f.Discontinuity, &f.Format.Codecs, &f.Format.Width, &f.Format.Height, &f.Format.FPS, &f.Frames[0], &f.Frames[1], &table)
		if err != nil {
			return dst, fmt.Errorf("read files: %w", sqlite.Explain(err))
		}
		f.Start, f.Span, f.Open = fromMicros(start), time.Duration(span)*time.Microsecond, state == 0
		if len(table) > 0 {
			if f.Fragments, err = layout.ParseTable(make([]layout.Fragment, 0, len(table)/7), table, f.Header); err != nil {
				return dst, fmt.Errorf("file %d of stream %d: %w", f.Number, f.Stream, err)
			}
		}
		dst = append(dst, f)
	}
	if err := rows.Err(); err != nil {
		return dst, fmt.Errorf("read files: %w", sqlite.Explain(err))
	}
	return dst, nil
}
