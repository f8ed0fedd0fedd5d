package index

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// Shape grows when files of a stream have gone or become others, within one run of
// the process. As long as it stays, files are only added, behind all others, and the
// newest grow.
func (x *Index) Shape(streamID int64) uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if s, ok := x.streams[streamID]; ok {
		return s.shape
	}
	return 0
}

// reshaped tells that files of a stream have gone or become others.
func (x *Index) reshaped(streamID int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s, ok := x.streams[streamID]; ok {
		s.version++
		s.shape++
	}
}

// FilesFrom returns the files of a stream from a number on, with their fragments, in
// the order in which they were recorded.
func (x *Index) FilesFrom(ctx context.Context, streamID, number int64) ([]File, error) {
	open := x.openFiles(streamID, time.Time{}, time.Time{})
	rows, err := x.db.Reader().QueryContext(ctx, selectFiles+`
		WHERE f.stream = ? AND f.number >= ? AND f.state = 1 ORDER BY f.number`, streamID, number)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", sqlite.Explain(err))
	}
	files, err := scanFiles(rows, nil)
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(f File) bool { return f.Number < number })
	return insertOpen(files, open), nil
}

// insertOpen puts files that were being written among finished ones, unless they have
// become such meanwhile.
func insertOpen(files, open []File) []File {
	for _, f := range open {
		if i, found := slices.BinarySearchFunc(files, f.Number, byNumber); !found {
			files = slices.Insert(files, i, f)
		}
	}
	return files
}

// FileBefore returns the file of a stream that was recorded before one, without
// fragments; false where there is none.
func (x *Index) FileBefore(ctx context.Context, key Key) (File, bool, error) {
	return x.one(ctx, selectFilesOnly+" WHERE f.stream = ? AND f.number < ? ORDER BY f.number DESC LIMIT 1", key.Stream, key.Number)
}

func (x *Index) one(ctx context.Context, query string, arguments ...any) (File, bool, error) {
	rows, err := x.db.Reader().QueryContext(ctx, query, arguments...)
	if err != nil {
		return File{}, false, fmt.Errorf("read a file: %w", sqlite.Explain(err))
	}
	files, err := scanFiles(rows, nil)
	if err != nil || len(files) == 0 {
		return File{}, false, err
	}
	return files[0], true, nil
}

// FileAt returns the file of a stream, with its fragments, that begins last at or
// before a time; false where there is none.
func (x *Index) FileAt(ctx context.Context, streamID int64, at time.Time) (File, bool, error) {
	open := x.openFiles(streamID, time.Time{}, at.Add(time.Microsecond))
	file, found, err := x.one(ctx, selectFiles+` WHERE f.stream = ?1 AND f.state = 1 AND f.number = (
			SELECT number FROM files INDEXED BY files_by_time WHERE stream = ?1 AND start <= ?2 AND state = 1 ORDER BY start DESC LIMIT 1)`,
		streamID, at.UnixMicro())
	if err != nil {
		return File{}, false, err
	}
	for _, f := range open {
		if !found || f.Start.After(file.Start) {
			file, found = f, true
		}
	}
	return file, found, nil
}

// CountFiles returns how many finished files of a stream hold something of the time
// from (including) to (excluding), and looks at no more than most.
func (x *Index) CountFiles(ctx context.Context, streamID int64, from, to time.Time, most int) (int, error) {
	var n int
	err := x.db.Reader().QueryRowContext(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM files INDEXED BY files_by_time
			WHERE stream = ?1 AND start >= ?2 - ?4 AND start < ?3 AND start + span > ?2 AND state = 1 LIMIT ?5)`,
		streamID, from.UnixMicro(), micros(to), MaxFileSpan.Microseconds(), most).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count files: %w", sqlite.Explain(err))
	}
	return n, nil
}

// UsageOf returns how much there is of one stream.
func (x *Index) UsageOf(ctx context.Context, streamID int64) (Usage, error) {
	return x.usageOf(ctx, streamID)
}

// CountBookmarks returns how many bookmarks somebody made of a camera: those of its
// events come and go with them.
func (x *Index) CountBookmarks(ctx context.Context, camera string) (int, error) {
	var n int
	if err := x.db.Reader().QueryRowContext(ctx, "SELECT count(*) FROM bookmarks WHERE camera = ? AND kind <> ?", camera, kindEvent).Scan(&n); err != nil {
		return 0, fmt.Errorf("count bookmarks: %w", sqlite.Explain(err))
	}
	return n, nil
}
