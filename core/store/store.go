// Package store keeps what must survive a restart in one SQLite file: the
// cameras made by the API, with their passwords, the highest HLS epoch of each
// camera, and the links that were given away with the key that signs them. It is the only importer of the database driver.
//
// A write that has returned is on disk. There is one connection, so one writer;
// reads are few, since the registry keeps cameras in memory.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// fileName is the database below the data directory, lockName what says that a
// server is at work there.
const (
	fileName = "drover.db"
	lockName = "drover.lock"
)

// What is wrong with a database that cannot be used.
var (
	ErrDamaged = errors.New("the database is damaged: put a backup in its place, or move it away to start without cameras")
	ErrNewer   = errors.New("the database was written by a newer Drover: start that one, or put a backup in its place")
	ErrInUse   = errors.New("another Drover runs on this directory: end it, or set data.dir to a directory of its own")
	ErrForeign = errors.New("this is not a database of Drover: set data.dir to a directory of its own")
)

// Store is an open database. Its methods may be called by all.
type Store struct {
	db   *sql.DB
	lock *os.File
	path string
	now  func() time.Time
}

// Open opens the database in dir and brings it up to date. It makes both where
// they are missing, for their owner's eyes only. now is the clock of epochs.
func Open(ctx context.Context, dir string, now func() time.Time) (*Store, error) {
	path := filepath.Join(dir, fileName)
	if err := prepare(dir, path); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", path, err)
	}
	lock, err := lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		_ = lock.Close() // The first error says what is wrong.
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db); err != nil {
		_, _ = db.Close(), lock.Close() // The first error says what is wrong.
		return nil, fmt.Errorf("open %s: %w", path, explain(err))
	}
	return &Store{db: db, lock: lock, path: path, now: now}, nil
}

// prepare makes directory and file, so that SQLite does not make them readable
// for all. SQLite gives its -wal and -shm files the mode of the database.
func prepare(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is no regular file")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return file.Chmod(info.Mode().Perm() & 0o700)
	}
	return nil
}

// dataSource asks for a log that is synced at each commit. Writes take their
// lock at the beginning, so that none fails for having read first.
func dataSource(path string) string {
	options := url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "trusted_schema(OFF)"},
		"_txlock": {"immediate"},
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: options.Encode()}).String()
}

// Close closes the database.
func (s *Store) Close() error {
	err := s.db.Close()
	if lockErr := s.lock.Close(); err == nil && !errors.Is(lockErr, os.ErrClosed) {
		err = lockErr
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	return nil
}

// Ready says why nothing can be stored now; nil if it can.
func (s *Store) Ready(ctx context.Context) error {
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the database: %w", explain(err))
	}
	return nil
}

// write runs do in a transaction. ctx ends the wait for other writers, but not
// a write that has begun: who is gone does not learn whether it was done, so it
// is better done.
func (s *Store) write(ctx context.Context, step string, do func(context.Context, *sql.Tx) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", step, explain(err))
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", step, explain(err))
	}
	defer tx.Rollback() //nolint:errcheck // After a commit it does nothing.
	if err := do(ctx, tx); err != nil {
		return fmt.Errorf("%s: %w", step, explain(err))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", step, explain(err))
	}
	return nil
}

// explain turns what SQLite says into what to do about it.
func explain(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() & 0xff { // The rest is detail.
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w (%w)", ErrDamaged, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full: %w", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another program holds the database: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("cannot write here (%w): %w", fs.ErrPermission, err)
	default:
		return err
	}
}
