// Package store keeps what must survive a restart in one SQLite file: the
// cameras made by the API, with their passwords, the highest HLS epoch of each
// camera, and the links that were given away with the key that signs them.
//
// A write that has returned is on disk. There is one connection, so one writer;
// reads are few, since the registry keeps cameras in memory.
package store

import (
	"context"
	"path/filepath"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// fileName is the database below the data directory, lockName what says that a
// server is at work there.
const (
	fileName = "drover.db"
	lockName = "drover.lock"
)

// Store is an open database. Its methods may be called by all.
type Store struct {
	db  *sqlite.DB
	now func() time.Time
}

// Open opens the database in dir and brings it up to date. It makes both where
// they are missing, for their owner's eyes only. now is the clock of epochs.
// Errors are those of sqlite.
func Open(ctx context.Context, dir string, now func() time.Time) (*Store, error) {
	db, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(dir, fileName), Lock: filepath.Join(dir, lockName),
		ApplicationID: applicationID, Migrations: migrations(), Check: true,
	})
	if err != nil {
		return nil, err
	}
	return &Store{db: db, now: now}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Ready says why nothing can be stored now; nil if it can.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }
