package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// Usage is how much there is of a stream.
type Usage struct {
	Stream   int64
	Files    int64
	Bytes    int64
	From, To time.Time // of the oldest file's beginning and the newest's end; zero without files
}

// Usage returns how much there is of each stream that has anything, finished or not,
// in the archive's own directory.
func (x *Index) Usage(ctx context.Context) ([]Usage, error) {
	var all []Usage
	for _, s := range x.Streams() {
		u, err := x.usageOf(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		if u.Files > 0 {
			all = append(all, u)
		}
	}
	return all, nil
}

func (x *Index) usageOf(ctx context.Context, streamID int64) (Usage, error) {
	u := Usage{Stream: streamID}
	var from, to sql.NullInt64
	err := x.db.Reader().QueryRowContext(ctx, `
		SELECT (SELECT coalesce(sum(bytes), 0) FROM hours WHERE stream = ?1),
			(SELECT min(start) FROM files WHERE stream = ?1 AND state = 1),
			(SELECT start + span FROM files INDEXED BY files_by_time WHERE stream = ?1 AND state = 1 ORDER BY start DESC LIMIT 1),
			(SELECT next_number FROM streams WHERE id = ?1) - coalesce((SELECT min(number) FROM files WHERE stream = ?1), 0)`,
		streamID).Scan(&u.Bytes, &from, &to, &u.Files)
	if err != nil {
		return u, fmt.Errorf("read what there is: %w", sqlite.Explain(err))
	}
	if from.Valid {
		u.From, u.To = fromMicros(from.Int64), fromMicros(to.Int64)
	} else {
		u.Files = 0
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, f := range x.streams[streamID].open {
		if len(f.Fragments) == 0 {
			continue
		}
		if u.From.IsZero() {
			u.From = f.Start
		}
		if u.To.Before(f.End()) {
			u.To = f.End()
		}
		u.Files++
		u.Bytes += f.Bytes
	}
	return u, nil
}

// Oldest returns the finished files of a stream that were recorded first, at most
// limit from a number on, without fragments: those that lie in one of places.
func (x *Index) Oldest(ctx context.Context, streamID, fromNumber int64, places Places, limit int) ([]File, error) {
	rows, err := x.db.Reader().QueryContext(ctx, selectFilesOnly+" WHERE f.places & ? <> 0 AND f.stream = ? AND f.state = 1 AND f.number >= ? ORDER BY f.number LIMIT ?",
		places, streamID, fromNumber, limit)
	if err != nil {
		return nil, fmt.Errorf("read the oldest files: %w", sqlite.Explain(err))
	}
	return scanFiles(rows, nil)
}

// A Moment is where a file is among those of its stream by their times, which is not
// how they were recorded where a clock went back.
type Moment struct {
	Start  time.Time
	Number int64
}

// Moment returns where the file is.
func (f *File) Moment() Moment { return Moment{f.Start, f.Number} }

// Earliest returns the finished files of a stream that lie in the archive's own
// directory and begin first, at most limit behind a moment, without fragments.
func (x *Index) Earliest(ctx context.Context, streamID int64, after Moment, limit int) ([]File, error) {
	// By this index, a year of what lies in the second home alone is stepped over.
	rows, err := x.db.Reader().QueryContext(ctx, selectColumnsOnly+`FROM files f INDEXED BY files_here JOIN formats m ON m.id = f.format
		WHERE f.places & 1 <> 0 AND f.stream = ?1 AND f.state = 1 AND (f.start, f.number) > (?2, ?3) ORDER BY f.start, f.number LIMIT ?4`,
		streamID, after.Start.UnixMicro(), after.Number, limit)
	if err != nil {
		return nil, fmt.Errorf("read the earliest files: %w", sqlite.Explain(err))
	}
	return scanFiles(rows, nil)
}

const (
	selectColumnsOnly = `
	SELECT f.stream, f.number, f.state, f.places, f.thinned, f.start, f.span, f.duration, f.init, f.header, f.bytes, f.run, f.epoch,
		f.sequence, f.discontinuity, m.codecs, m.width, m.height, m.fps, f.frames, f.other_frames, x'' `
	selectFilesOnly = selectColumnsOnly + "FROM files f JOIN formats m ON m.id = f.format"
)

// A Victim is a file that is to be deleted, and its path below the archive's
// directory, with slashes.
type Victim struct {
	File File
	Path string
}

// Doom takes files out of the archive and leaves a gap of a cause in their place, in
// one transaction. Their paths are doomed from then on, to be unlinked.
//
// What CauseDeleted takes and has a copy in the second home leaves the archive's
// directory and nothing else: it can be played as before, and there is no gap.
func (x *Index) Doom(ctx context.Context, cause Cause, victims ...Victim) error {
	err := x.db.Write(ctx, "take files out", func(ctx context.Context, tx *sql.Tx) error {
		for i := range victims {
			if err := doom(ctx, tx, cause, &victims[i]); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range victims {
		x.reshaped(victims[i].File.Stream)
	}
	return err
}

func doom(ctx context.Context, tx *sql.Tx, cause Cause, v *Victim) error {
	f := &v.File
	var places Places
	switch err := tx.QueryRowContext(ctx, "SELECT places FROM files WHERE stream = ? AND number = ? AND state = 1", f.Stream, f.Number).Scan(&places); err {
	case nil:
	case sql.ErrNoRows:
		return nil // somebody was faster
	default:
		return err
	}
	if places&Here != 0 {
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO doomed VALUES (?)", v.Path); err != nil {
			return err
		}
	}
	if places&SecondHome != 0 && cause == CauseDeleted {
		return leave(ctx, tx, f, places, Here)
	}
	return remove(ctx, tx, f, places, cause)
}

// leave takes a file out of one of its places, of which it has another.
func leave(ctx context.Context, tx *sql.Tx, f *File, places, place Places) error {
	if places&place&Here != 0 {
		if err := addHourBytes(ctx, tx, f, -f.Bytes); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE files SET places = ? WHERE stream = ? AND number = ?", places&^place, f.Stream, f.Number)
	return err
}

// remove takes a file out of the archive.
func remove(ctx context.Context, tx *sql.Tx, f *File, places Places, cause Cause) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM files WHERE stream = ? AND number = ?", f.Stream, f.Number); err != nil {
		return err
	}
	if err := forgetCopy(ctx, tx, f.Key()); err != nil {
		return err
	}
	counted := *f
	if places&Here == 0 {
		counted.Bytes = 0 // they were taken off the hour when it left
	}
	if err := addHours(ctx, tx, &counted, -1); err != nil {
		return err
	}
	if err := forgetEventsOf(ctx, tx, f); err != nil {
		return err
	}
	return joinGap(ctx, tx, &Gap{Stream: f.Stream, From: f.Start, To: f.End(), Cause: cause})
}

// joinGap keeps a gap, as part of one of the same cause where they touch: a year that
// is deleted minute by minute is one gap. Holes that lay between are within it then.
func joinGap(ctx context.Context, tx *sql.Tx, g *Gap) error {
	touching := (2 * time.Second).Microseconds()
	from, to := g.From.UnixMicro(), g.To.UnixMicro()
	joined, err := tx.ExecContext(ctx, `
		UPDATE gaps SET start = min(start, ?2), end = max(end, ?3)
		WHERE id = (SELECT id FROM gaps WHERE stream = ?1 AND cause = ?4 AND end >= ?2 - ?5 AND end < ?6 AND start <= ?3 + ?5 ORDER BY end LIMIT 1)`,
		g.Stream, from, to, g.Cause, touching, far)
	if err != nil {
		return err
	}
	if n, err := joined.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return insertGap(ctx, tx, g)
}

// Doomed returns paths that are to be unlinked, in their order from behind one on, at
// most limit.
func (x *Index) Doomed(ctx context.Context, after string, limit int) ([]string, error) {
	rows, err := x.db.Reader().QueryContext(ctx, "SELECT path FROM doomed WHERE path > ? ORDER BY path LIMIT ?", after, limit)
	if err != nil {
		return nil, fmt.Errorf("read the doomed files: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	var paths []string
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			return nil, fmt.Errorf("read the doomed files: %w", sqlite.Explain(err))
		}
		paths = append(paths, path)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the doomed files: %w", sqlite.Explain(err))
	}
	return paths, nil
}

// Forget tells that doomed files are gone.
func (x *Index) Forget(ctx context.Context, paths ...string) error {
	return x.db.Write(ctx, "forget doomed files", func(ctx context.Context, tx *sql.Tx) error {
		for _, path := range paths {
			if _, err := tx.ExecContext(ctx, "DELETE FROM doomed WHERE path = ?", path); err != nil {
				return err
			}
		}
		return nil
	})
}

// Promise dooms the path of a file that is to be written in the place of another: until
// Replace it is one that a crash leaves behind.
func (x *Index) Promise(ctx context.Context, path string) error {
	return x.db.Write(ctx, "promise a file", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO doomed VALUES (?)", path)
		return err
	})
}

// Replace puts another file in the place of one, as thinning does: it has the same
// number, and a path of its own. The old path is doomed, and so is its copy in the
// second home, which gets one of the new file unless the copy was let go of there.
func (x *Index) Replace(ctx context.Context, old, new Victim) error {
	by := new.File
	defer x.reshaped(by.Stream)
	return x.db.Write(ctx, "replace a file", func(ctx context.Context, tx *sql.Tx) error {
		format, err := formatID(ctx, tx, by.Format)
		if err != nil {
			return err
		}
		var evicted Places
		err = tx.QueryRowContext(ctx, "SELECT places & ? FROM files WHERE stream = ? AND number = ?", Evicted, by.Stream, by.Number).Scan(&evicted)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := addHours(ctx, tx, &old.File, -1); err != nil {
			return err
		}
		if err := forgetCopy(ctx, tx, old.File.Key()); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO doomed VALUES (?)", old.Path); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM doomed WHERE path = ?", new.Path); err != nil {
			return err
		}
		if err := insertFile(ctx, tx, &by, format); err != nil {
			return err
		}
		if err := finish(ctx, tx, &by); err != nil || evicted == 0 {
			return err
		}
		if err := unqueue(ctx, tx, by.Key()); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE files SET places = places | ? WHERE stream = ? AND number = ?", evicted, by.Stream, by.Number)
		return err
	})
}
