package events

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// pruneRows is how many rows are deleted at once: who writes meanwhile waits.
const pruneRows = 2000

// Prune deletes some of what is too old or too much, and returns how many rows that
// were: 0 when there is no more of it.
func (s *Store) Prune(ctx context.Context, now time.Time) (rows int64, err error) {
	seen, err := s.cutoff(ctx, "detections", "time", now.Add(-s.limits.DetectionAge), s.detections.Load()-s.limits.DetectionRows)
	if err != nil {
		return 0, err
	}
	happened, err := s.cutoff(ctx, "events", "start", now.Add(-s.limits.EventAge), s.events.Load()-s.limits.EventRows)
	if err != nil {
		return 0, err
	}
	var detections, frames, events int64
	err = s.db.Write(ctx, "forget old detections", func(ctx context.Context, tx *sql.Tx) error {
		var err error
		if detections, err = remove(ctx, tx, "DELETE FROM detections WHERE id IN (SELECT id FROM detections WHERE time < ? ORDER BY time LIMIT ?)", seen); err != nil {
			return err
		}
		// A frame goes after what was seen in it: those that are of the same time as
		// the oldest that stay, stay.
		if frames, err = remove(ctx, tx, `
			DELETE FROM frames WHERE id IN (SELECT id FROM frames
			WHERE time < min(?1, (SELECT coalesce(min(time), ?1) FROM detections)) ORDER BY time LIMIT ?2)`, seen); err != nil {
			return err
		}
		events, err = remove(ctx, tx, "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE start < ? AND open = 0 ORDER BY start LIMIT ?)", happened)
		return err
	})
	if err != nil {
		return 0, err
	}
	s.detections.Add(-detections)
	s.events.Add(-events)
	return detections + frames + events, nil
}

// cutoff returns the time before which rows go, in Unix microseconds.
func (s *Store) cutoff(ctx context.Context, table, column string, oldest time.Time, tooMany int64) (int64, error) {
	micros := oldest.UnixMicro()
	if tooMany <= 0 {
		return micros, nil
	}
	var at sql.NullInt64
	// Some at a time: what is skipped over is read.
	offset := min(tooMany, pruneRows)
	err := s.db.Reader().QueryRowContext(ctx, fmt.Sprintf("SELECT max(%[1]s) FROM (SELECT %[1]s FROM %[2]s ORDER BY %[1]s LIMIT ?)", column, table), offset).Scan(&at)
	if err != nil {
		return 0, fmt.Errorf("find what is too much: %w", sqlite.Explain(err))
	}
	return max(micros, at.Int64+1), nil
}

func remove(ctx context.Context, tx *sql.Tx, statement string, before int64) (int64, error) {
	result, err := tx.ExecContext(ctx, statement, before, pruneRows)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
