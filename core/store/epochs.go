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
	err := s.db.Write(ctx, "next epoch of "+camera, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO epochs (camera, epoch) VALUES (?, ?)
			ON CONFLICT (camera) DO UPDATE SET epoch = max(excluded.epoch, epoch + 1)
			RETURNING epoch`, camera, s.now().UnixMilli()).Scan(&epoch)
	})
	return epoch, err
}

// ReserveDiscontinuities returns the first of count numbers for a camera's HLS
// discontinuity sequences, all of them higher than any before, over restarts too.
// That is on disk when they are returned.
func (s *Store) ReserveDiscontinuities(ctx context.Context, camera string, count int64) (first int64, err error) {
	err = s.db.Write(ctx, "discontinuities of "+camera, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO epochs (camera, epoch, discontinuity) VALUES (?1, 0, ?2)
			ON CONFLICT (camera) DO UPDATE SET discontinuity = discontinuity + ?2
			RETURNING discontinuity - ?2`, camera, count).Scan(&first)
	})
	return first, err
}
