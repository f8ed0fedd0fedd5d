package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/share"
	"github.com/drover-video/drover/core/sqlite"
)

// ShareKey implements share.Store.
func (s *Store) ShareKey(ctx context.Context) (share.Key, error) {
	var key share.Key
	err := s.db.Write(ctx, "key of shares", func(ctx context.Context, tx *sql.Tx) error {
		fresh := share.NewKey()
		if _, err := tx.ExecContext(ctx, "INSERT INTO keys (name, value) VALUES ('shares', ?) ON CONFLICT (name) DO NOTHING", fresh[:]); err != nil {
			return err
		}
		var stored []byte
		if err := tx.QueryRowContext(ctx, "SELECT value FROM keys WHERE name = 'shares'").Scan(&stored); err != nil {
			return err
		}
		if len(stored) != len(key) {
			return fmt.Errorf("%w (the key of shares has %d bytes)", sqlite.ErrDamaged, len(stored))
		}
		copy(key[:], stored)
		return nil
	})
	return key, err
}

// Shares implements share.Store.
func (s *Store) Shares(ctx context.Context) ([]share.Share, error) {
	rows, err := s.db.Reader().QueryContext(ctx, "SELECT id, camera, action, name, created, expires, max_viewers, revoked FROM shares")
	if err != nil {
		return nil, fmt.Errorf("read shares: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	var shares []share.Share
	for rows.Next() {
		var each share.Share
		var created, expires int64
		if err := rows.Scan(&each.ID, &each.Camera, &each.Action, &each.Name, &created, &expires, &each.MaxViewers, &each.Revoked); err != nil {
			return nil, fmt.Errorf("read shares: %w", sqlite.Explain(err))
		}
		each.Created, each.Expires = time.UnixMilli(created), time.Unix(expires, 0)
		shares = append(shares, each)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read shares: %w", sqlite.Explain(err))
	}
	return shares, nil
}

// AddShare implements share.Store.
func (s *Store) AddShare(ctx context.Context, each share.Share) error {
	return s.db.Write(ctx, "store share "+string(each.ID), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO shares (id, camera, action, name, created, expires, max_viewers, revoked) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			string(each.ID), each.Camera, string(each.Action), each.Name, each.Created.UnixMilli(), each.Expires.Unix(), each.MaxViewers, each.Revoked)
		return err
	})
}

// RevokeShare implements share.Store.
func (s *Store) RevokeShare(ctx context.Context, id share.ID) error {
	return s.db.Write(ctx, "revoke share "+string(id), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE shares SET revoked = 1 WHERE id = ?", string(id))
		return err
	})
}

// RevokeSharesOf implements share.Store.
func (s *Store) RevokeSharesOf(ctx context.Context, camera string) error {
	return s.db.Write(ctx, "revoke shares of "+camera, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE shares SET revoked = 1 WHERE camera = ?", camera)
		return err
	})
}

// ForgetShares implements share.Store.
func (s *Store) ForgetShares(ctx context.Context, expiredBefore time.Time) error {
	return s.db.Write(ctx, "forget expired shares", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM shares WHERE expires <= ?", expiredBefore.Unix())
		return err
	})
}
