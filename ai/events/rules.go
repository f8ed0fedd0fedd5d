package events

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/sqlite"
)

// Rules returns all rules, by camera and then as they were made.
func (s *Store) Rules(ctx context.Context) ([]detection.Rule, error) {
	rows, err := s.db.Reader().QueryContext(ctx, "SELECT camera, id, created, rule FROM rules ORDER BY camera, created, id")
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	var all []detection.Rule
	for rows.Next() {
		var camera, id, text string
		var created int64
		if err := rows.Scan(&camera, &id, &created, &text); err != nil {
			return nil, fmt.Errorf("read rules: %w", sqlite.Explain(err))
		}
		var r detection.Rule
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("read rule %s of camera %s: %w", id, camera, err)
		}
		r.Camera, r.ID, r.Created = camera, id, fromMicros(created)
		if err := r.Normalize(); err != nil {
			return nil, fmt.Errorf("read rule %s of camera %s: %w", id, camera, err)
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read rules: %w", sqlite.Explain(err))
	}
	return all, nil
}

// SetRule keeps a normalized rule, in the place of the one that has its ID.
func (s *Store) SetRule(ctx context.Context, r detection.Rule) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep a rule: %w", err)
	}
	return s.db.Write(ctx, "keep a rule", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO rules (camera, id, created, rule) VALUES (?, ?, ?, ?)",
			r.Camera, r.ID, r.Created.UnixMicro(), string(text))
		return err
	})
}

// RemoveRule forgets a rule; "" for all of a camera.
func (s *Store) RemoveRule(ctx context.Context, camera, id string) error {
	return s.db.Write(ctx, "forget a rule", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM rules WHERE camera = ?1 AND (id = ?2 OR ?2 = '')", camera, id)
		return err
	})
}
