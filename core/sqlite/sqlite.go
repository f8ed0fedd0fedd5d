// Package sqlite opens Drover's SQLite files: for one process at a time, readable
// for their owner only, brought up to date, and with errors that say what to do. It
// is the only importer of the database driver.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What is wrong with a database that cannot be used.
var (
	ErrDamaged = errors.New("the database is damaged: put a backup in its place, or move it away to start without one")
	ErrNewer   = errors.New("the database was written by a newer Drover: start that one, or put a backup in its place")
	ErrInUse   = errors.New("another Drover runs on this directory: end it, or choose a directory of its own")
	ErrForeign = errors.New("this is not Drover's database: choose a directory of its own")
	ErrFull    = fmt.Errorf("the disk is full (%w)", syscall.ENOSPC) // also for those who know files alone
)

// Options say which file is opened, and how.
type Options struct {
	Path string // its directory is made where it is missing
	Lock string // file that says that a server is at work on the directory

	// ApplicationID marks the file as the kind of Drover's that it is.
	ApplicationID int32

	// Migrations lead from each version of the schema to the next; the version is
	// the number of those applied. One that has been released is never changed.
	Migrations []string

	// Check has the whole file read for damage first: for small ones.
	Check bool

	// Readers is how many connections only read, beside the one that writes, each
	// of the state of the last commit. 0: that one reads, too.
	Readers int
}

// DB is an open file. Its methods may be called by all.
//
// There is one connection that writes. A write that has returned is on disk.
type DB struct {
	writer, reader *sql.DB
	lock           *os.File
	path           string
	failing        atomic.Bool // the last write failed, and not for what was written
}

// Open opens a database and brings it up to date. It makes it where it is missing.
func Open(ctx context.Context, o Options) (*DB, error) {
	if err := prepare(o.Path); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", o.Path, err)
	}
	lock, err := lock(o.Lock)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", filepath.Dir(o.Lock), err)
	}
	d := &DB{lock: lock, path: o.Path}
	if err := d.open(ctx, o); err != nil {
		_ = d.Close() // The first error says what is wrong.
		return nil, fmt.Errorf("open %s: %w", o.Path, Explain(err))
	}
	return d, nil
}

func (d *DB) open(ctx context.Context, o Options) error {
	var err error
	if d.writer, err = sql.Open("sqlite", dataSource(o.Path, false)); err != nil {
		return err
	}
	d.writer.SetMaxOpenConns(1)
	if err := migrate(ctx, d.writer, o); err != nil {
		return err
	}
	d.reader = d.writer
	if o.Readers > 0 {
		if d.reader, err = sql.Open("sqlite", dataSource(o.Path, true)); err != nil {
			return err
		}
		d.reader.SetMaxOpenConns(o.Readers)
		d.reader.SetMaxIdleConns(o.Readers)
	}
	return nil
}

// prepare makes directory and file, so that SQLite does not make them readable
// for all. SQLite gives its -wal and -shm files the mode of the database.
func prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
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
		return errors.New("it is no regular file")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return file.Chmod(info.Mode().Perm() & 0o700)
	}
	return nil
}

// dataSource asks for a log that is synced at each commit. Writes take their
// lock at the beginning, so that none fails for having read first.
func dataSource(path string, readOnly bool) string {
	pragmas := []string{"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "trusted_schema(OFF)"}
	options := url.Values{"_txlock": {"immediate"}}
	if readOnly {
		pragmas = append(pragmas, "query_only(ON)")
		options = url.Values{}
	}
	options["_pragma"] = pragmas
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: options.Encode()}).String()
}

// Close closes the database.
func (d *DB) Close() error {
	var errs []error
	if d.reader != nil && d.reader != d.writer {
		errs = append(errs, d.reader.Close())
	}
	if d.writer != nil {
		errs = append(errs, d.writer.Close())
	}
	if err := d.lock.Close(); !errors.Is(err, os.ErrClosed) {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", d.path, err)
	}
	return nil
}

// Reader returns what reads are asked of.
func (d *DB) Reader() *sql.DB { return d.reader }

// Ready says why nothing can be read or written now; nil if it can. It writes only
// where the last write has failed: anybody may ask.
func (d *DB) Ready(ctx context.Context) error {
	var version int
	if err := d.reader.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the database: %w", Explain(err))
	}
	if free, known := freeBytes(filepath.Dir(d.path)); known && free < leastFree {
		return fmt.Errorf("%w: there are %d bytes left for %s", ErrFull, free, d.path)
	}
	if !d.failing.Load() {
		return nil
	}
	return d.Write(ctx, "try to write", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// leastFree is what a few writes and their log take.
const leastFree = 1 << 20

// Write runs do in a transaction; step is what it is for, in errors. ctx ends the
// wait for other writers, but not a write that has begun: who is gone does not
// learn whether it was done, so it is better done.
func (d *DB) Write(ctx context.Context, step string, do func(context.Context, *sql.Tx) error) error {
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", step, Explain(err))
	}
	defer conn.Close()
	err = write(context.WithoutCancel(ctx), conn, do)
	var failure *sqlite.Error
	d.failing.Store(errors.As(err, &failure) && failure.Code()&0xff != sqlite3.SQLITE_CONSTRAINT)
	if err != nil {
		return fmt.Errorf("%s: %w", step, Explain(err))
	}
	return nil
}

func write(ctx context.Context, conn *sql.Conn, do func(context.Context, *sql.Tx) error) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // After a commit it does nothing.
	if err := do(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Explain turns what SQLite says into what to do about it.
func Explain(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	if failure.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // of the log's index: there is no room for it
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	switch failure.Code() & 0xff { // The rest is detail.
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w (%w)", ErrDamaged, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another program holds the database: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("cannot write here (%w): %w", fs.ErrPermission, err)
	default:
		return err
	}
}
