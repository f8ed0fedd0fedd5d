package index

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// Bookmark is a time of a camera that somebody wants to find again.
type Bookmark struct {
	ID       int64
	Camera   string
	From, To time.Time
	Kind     string // who made it: "user" or "event"
	Name     string
	Keep     bool // what it spans is not deleted by age or size
	Created  time.Time
}

// AddBookmark keeps a bookmark and returns its ID.
func (x *Index) AddBookmark(ctx context.Context, b Bookmark) (int64, error) {
	var id int64
	err := x.db.Write(ctx, "keep a bookmark", func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO bookmarks (camera, start, end, kind, name, keep, created) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			b.Camera, b.From.UnixMicro(), micros(b.To), b.Kind, b.Name, b.Keep, b.Created.UnixMicro()).Scan(&id)
	})
	return id, err
}

// ExtendBookmark moves both ends of a bookmark; false where there is none of the ID.
func (x *Index) ExtendBookmark(ctx context.Context, id int64, from, to time.Time) (bool, error) {
	return x.changeBookmark(ctx, "UPDATE bookmarks SET start = ?2, end = ?3 WHERE id = ?1", id, from.UnixMicro(), micros(to))
}

// RemoveBookmark forgets a bookmark of a camera; false where there is none of the ID.
func (x *Index) RemoveBookmark(ctx context.Context, camera string, id int64) (bool, error) {
	return x.changeBookmark(ctx, "DELETE FROM bookmarks WHERE id = ?1 AND camera = ?2", id, camera)
}

func (x *Index) changeBookmark(ctx context.Context, statement string, arguments ...any) (found bool, err error) {
	err = x.db.Write(ctx, "change a bookmark", func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, arguments...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		found = n > 0
		return err
	})
	return found, err
}

// Bookmarks returns the bookmarks of a camera that touch the time from (including) to
// (excluding), by their end, at most limit. A zero to is for ever.
func (x *Index) Bookmarks(ctx context.Context, camera string, from, to time.Time, limit int) ([]Bookmark, error) {
	rows, err := x.db.Reader().QueryContext(ctx, `
		SELECT id, camera, start, end, kind, name, keep, created FROM bookmarks
		WHERE camera = ? AND end > ? AND start < ? ORDER BY end, start, id LIMIT ?`, camera, from.UnixMicro(), micros(to), limit)
	if err != nil {
		return nil, fmt.Errorf("read bookmarks: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	var all []Bookmark
	for rows.Next() {
		var b Bookmark
		var start, end, created int64
		if err := rows.Scan(&b.ID, &b.Camera, &start, &end, &b.Kind, &b.Name, &b.Keep, &created); err != nil {
			return nil, fmt.Errorf("read bookmarks: %w", sqlite.Explain(err))
		}
		b.From, b.To, b.Created = fromMicros(start), fromMicros(end), fromMicros(created)
		all = append(all, b)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read bookmarks: %w", sqlite.Explain(err))
	}
	return all, nil
}

// Kept reports whether a bookmark or a Hold keeps something of a camera's time.
func (x *Index) Kept(ctx context.Context, camera string, from, to time.Time) (bool, error) {
	if x.held(camera, from, to) {
		return true, nil
	}
	var n int
	err := x.db.Reader().QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM bookmarks WHERE camera = ? AND end > ? AND start < ? AND keep = 1)`,
		camera, from.UnixMicro(), micros(to)).Scan(&n)
	if err != nil {
		return true, fmt.Errorf("read bookmarks: %w", sqlite.Explain(err))
	}
	return n > 0, nil
}
