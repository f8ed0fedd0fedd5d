package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// What is kept of whether files are copied to a second home.
const (
	factCopying = "copying"

	copyingOff   = 0
	copyingBegun = 1 // what was recorded before is not all queued yet
	copyingAll   = 2
)

// queuedAtOnce is how many files one transaction queues, for writers behind it not to
// wait.
const queuedAtOnce = 5000

// Copying tells whether finished files are to be copied to the second home from now
// on, and what was recorded before as well. It outlives the process.
func (x *Index) Copying(ctx context.Context, on bool) error {
	state, _, err := x.fact(ctx, factCopying)
	if err != nil {
		return err
	}
	if !on {
		if state == copyingOff {
			return nil
		}
		return x.db.Write(ctx, "stop copying", func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "DELETE FROM uncopied"); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "DELETE FROM facts WHERE name = ?", factCopying)
			return err
		})
	}
	if state == copyingAll {
		return nil
	}
	if err := x.setFact(ctx, factCopying, copyingBegun); err != nil {
		return err
	}
	for _, s := range x.Streams() {
		if err := x.queueAll(ctx, s.ID); err != nil {
			return err
		}
	}
	return x.setFact(ctx, factCopying, copyingAll)
}

// queueAll queues the finished files of a stream that lie here alone and never were
// in the second home.
func (x *Index) queueAll(ctx context.Context, streamID int64) error {
	for after := int64(-1); after != far; {
		err := x.db.Write(ctx, "queue files to copy", func(ctx context.Context, tx *sql.Tx) error {
			var end int64
			err := tx.QueryRowContext(ctx, "SELECT number FROM files WHERE stream = ? AND number > ? ORDER BY number LIMIT 1 OFFSET ?",
				streamID, after, queuedAtOnce-1).Scan(&end)
			if errors.Is(err, sql.ErrNoRows) {
				end, err = far, nil
			}
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `
				INSERT OR IGNORE INTO uncopied SELECT stream, number, start, bytes FROM files
				WHERE stream = ? AND number > ? AND number <= ? AND state = 1 AND places = ?`, streamID, after, end, Here)
			after = end
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// enqueue queues a finished file, if files are copied.
func enqueue(ctx context.Context, tx *sql.Tx, key Key) error {
	_, err := tx.ExecContext(ctx, `
		INSERT OR REPLACE INTO uncopied SELECT stream, number, start, bytes FROM files
		WHERE stream = ? AND number = ? AND EXISTS (SELECT 1 FROM facts WHERE name = ? AND value <> ?)`,
		key.Stream, key.Number, factCopying, copyingOff)
	if err != nil {
		return fmt.Errorf("queue file %d of stream %d to be copied: %w", key.Number, key.Stream, err)
	}
	return nil
}

// Uncopied returns the files of a stream that are to be copied, with their fragments,
// in the order in which they were recorded, at most limit.
func (x *Index) Uncopied(ctx context.Context, streamID int64, limit int) ([]File, error) {
	rows, err := x.db.Reader().QueryContext(ctx, selectFiles+`
		WHERE f.stream = ?1 AND f.state = 1 AND f.number IN (
			SELECT number FROM uncopied WHERE stream = ?1 ORDER BY number LIMIT ?2)
		ORDER BY f.number`, streamID, limit)
	if err != nil {
		return nil, fmt.Errorf("read what is to be copied: %w", sqlite.Explain(err))
	}
	return scanFiles(rows, nil)
}

// Unqueue tells that a file cannot be copied, since it is not there. It does nothing,
// and is false, where the file was deleted or became another since it was looked for.
func (x *Index) Unqueue(ctx context.Context, f *File) (was bool, err error) {
	part := PartOf(f, 0)
	err = x.db.Write(ctx, "unqueue a file", func(ctx context.Context, tx *sql.Tx) error {
		if was, err = part.still(ctx, tx, f.Stream); err != nil || !was {
			return err
		}
		return unqueue(ctx, tx, f.Key())
	})
	return was, err
}

func unqueue(ctx context.Context, tx *sql.Tx, key Key) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM uncopied WHERE stream = ? AND number = ?", key.Stream, key.Number)
	return err
}

// Backlog is how much is to be copied.
type Backlog struct {
	Files  int64
	Bytes  int64
	Oldest time.Time // the beginning of the one recorded first; zero without files
}

// Backlog returns how much is to be copied.
func (x *Index) Backlog(ctx context.Context) (Backlog, error) {
	var b Backlog
	var oldest sql.NullInt64
	err := x.db.Reader().QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(bytes), 0), min(start) FROM uncopied`).Scan(&b.Files, &b.Bytes, &oldest)
	if err != nil {
		return b, fmt.Errorf("read how much is to be copied: %w", sqlite.Explain(err))
	}
	if oldest.Valid {
		b.Oldest = fromMicros(oldest.Int64)
	}
	return b, nil
}
