package index

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// kindEvent is the kind of bookmarks that nobody made.
const kindEvent = "event"

// Bookmark is a time of a camera that somebody wants to find again.
type Bookmark struct {
	ID       int64
	Camera   string
	From, To time.Time
	Kind     string // who made it: "user" or "event"
	Name     string
	Keep     bool // what it spans is kept: see Kept and KeptByUser
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

// Kept reports whether a bookmark or a Hold keeps something of a camera's time from
// being thinned, from being deleted by request, and from going because no event was
// in it.
func (x *Index) Kept(ctx context.Context, camera string, from, to time.Time) (bool, error) {
	return x.kept(ctx, camera, from, to, nil)
}

// KeptByUser reports whether a bookmark that somebody made, or a Hold, keeps something
// of a camera's time from going for its age or for want of room. An event does not: there
// is always another one, and what may never go would fill the disk.
func (x *Index) KeptByUser(ctx context.Context, camera string, from, to time.Time) (bool, error) {
	return x.kept(ctx, camera, from, to, kindEvent)
}

// kept is for Kept, by bookmarks of all kinds but one; nil: of all.
func (x *Index) kept(ctx context.Context, camera string, from, to time.Time, but any) (bool, error) {
	if x.held(camera, from, to) {
		return true, nil
	}
	var n int
	err := x.db.Reader().QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM bookmarks WHERE camera = ? AND end > ? AND start < ? AND keep = 1 AND kind IS NOT ?)`,
		camera, from.UnixMicro(), micros(to), but).Scan(&n)
	if err != nil {
		return true, fmt.Errorf("read bookmarks: %w", sqlite.Explain(err))
	}
	return n > 0, nil
}

// ForgetEvents forgets the bookmarks of a camera's events that were over before a time,
// as far as nothing is left that is as old: what an event left goes by itself, but there
// are those of which nothing was recorded.
func (x *Index) ForgetEvents(ctx context.Context, camera string, before time.Time) error {
	return x.db.Write(ctx, "forget events", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			DELETE FROM bookmarks WHERE camera = ?1 AND kind = ?2 AND end <= min(?3, coalesce((
				SELECT min((SELECT min(start) FROM files WHERE stream = streams.id)) FROM streams WHERE camera = ?1), ?3))`,
			camera, kindEvent, before.UnixMicro())
		return err
	})
}

// forgetEventsOf forgets the bookmarks of the events that a file was the last to hold
// something of, whichever stream's. The file is gone already.
func forgetEventsOf(ctx context.Context, tx *sql.Tx, f *File) error {
	const longest = 48 * time.Hour // of events; of those that are longer, ForgetEvents looks
	_, err := tx.ExecContext(ctx, `
		DELETE FROM bookmarks WHERE camera = (SELECT camera FROM streams WHERE id = ?1)
			AND end > ?2 AND end < ?3 + ?4 AND start < ?3 AND kind = ?5 AND NOT EXISTS (
				SELECT 1 FROM streams s JOIN files f INDEXED BY files_by_time ON f.stream = s.id
				WHERE s.camera = bookmarks.camera AND f.start < bookmarks.end AND f.start >= bookmarks.start - ?6
					AND (f.start + f.span > bookmarks.start OR f.state = ?7))`,
		f.Stream, f.Start.UnixMicro(), f.End().UnixMicro(), longest.Microseconds(), kindEvent, MaxFileSpan.Microseconds(), stateOpen)
	return err
}
