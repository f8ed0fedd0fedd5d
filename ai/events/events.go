// Package events keeps what AI workers saw, what rules made of it, and the rules, in
// one SQLite file beside the archive's. Detections are many and cheap, events few:
// each have a retention of their own.
package events

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// Limits say what is kept.
type Limits struct {
	DetectionAge  time.Duration
	DetectionRows int64
	EventAge      time.Duration
	EventRows     int64
}

// DefaultLimits are what is kept where nothing is said.
func DefaultLimits() Limits {
	return Limits{DetectionAge: 7 * 24 * time.Hour, DetectionRows: 2_000_000, EventAge: 90 * 24 * time.Hour, EventRows: 100_000}
}

// Store is the open file. Its methods may be called by all.
type Store struct {
	db     *sqlite.DB
	limits Limits

	// About how many rows there are: counted once, and kept up by those who write.
	detections, events atomic.Int64
}

// Open opens the store in a directory, and makes it where it is missing.
func Open(ctx context.Context, dir string, limits Limits) (*Store, error) {
	db, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(dir, "events.db"), Lock: filepath.Join(dir, "events.lock"),
		ApplicationID: applicationID, Migrations: migrations(), Readers: 4,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, limits: limits}
	if err := s.count(ctx); err != nil {
		_ = db.Close() // The first error says what is wrong.
		return nil, err
	}
	return s, nil
}

func (s *Store) count(ctx context.Context) error {
	var detections, events int64
	err := s.db.Reader().QueryRowContext(ctx, "SELECT (SELECT count(*) FROM detections), (SELECT count(*) FROM events)").Scan(&detections, &events)
	if err != nil {
		return fmt.Errorf("count what is kept: %w", sqlite.Explain(err))
	}
	s.detections.Store(detections)
	s.events.Store(events)
	return nil
}

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// Ready says why nothing can be read now; nil if it can.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }

// Rows returns about how many detections and events are kept.
func (s *Store) Rows() (detections, events int64) { return s.detections.Load(), s.events.Load() }

func fromMicros(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
