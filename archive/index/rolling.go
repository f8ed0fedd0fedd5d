package index

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// factRolling is before a camera's id. No id has a slash.
const factRolling = "rolling/"

// Rolling returns what SetRolling was told last.
func (x *Index) Rolling(ctx context.Context) (map[string]time.Time, error) {
	rows, err := x.db.Reader().QueryContext(ctx, "SELECT name, value FROM facts WHERE name >= ?1 AND name < ?2", factRolling, "rolling0")
	if err != nil {
		return nil, fmt.Errorf("read since when cameras are recorded for their events alone: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	since := map[string]time.Time{}
	for rows.Next() {
		var name string
		var at int64
		if err := rows.Scan(&name, &at); err != nil {
			return nil, fmt.Errorf("read since when cameras are recorded for their events alone: %w", sqlite.Explain(err))
		}
		since[strings.TrimPrefix(name, factRolling)] = fromMicros(at)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read since when cameras are recorded for their events alone: %w", sqlite.Explain(err))
	}
	return since, nil
}

// SetRolling keeps since when cameras are recorded always for their events' sake, of
// which all else goes soon: what was recorded before was meant to stay.
func (x *Index) SetRolling(ctx context.Context, since map[string]time.Time) error {
	return x.db.Write(ctx, "keep since when cameras are recorded for their events alone", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM facts WHERE name >= ?1 AND name < ?2", factRolling, "rolling0"); err != nil {
			return err
		}
		for camera, at := range since {
			if _, err := tx.ExecContext(ctx, "INSERT INTO facts (name, value) VALUES (?, ?)", factRolling+camera, at.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
}
