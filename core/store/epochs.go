package store

import (
	"context"
	"database/sql"
)

// NextEpoch returns a number for a camera's HLS names that is higher than all
// before it, over restarts and clock changes too: the time in milliseconds, or
// one more than the highest so far. It is on disk when it is returned.
func (s *Store) NextEpoch(ctx context.Context, camera string) (int64, error) {
	var epoch int64
	err := s.write(ctx, "next epoch of "+camera, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO epochs (camera, epoch) VALUES (?, ?)
			ON CONFLICT (camera) DO UPDATE SET epoch = max(excluded.epoch, epoch + 1)
			RETURNING epoch`, camera, s.now().UnixMilli()).Scan(&epoch)
	})
	return epoch, err
}
