package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *DB {
	t.Helper()
	folder := t.TempDir()
	d, err := Open(t.Context(), Options{Path: filepath.Join(folder, "x.db"), Lock: filepath.Join(folder, "lock"),
		ApplicationID: 7, Migrations: []string{"CREATE TABLE notes (text TEXT UNIQUE)"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *DB) note(ctx context.Context, text string) error {
	return d.Write(ctx, "note", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO notes (text) VALUES (?)", text)
		return err
	})
}

// maxPages makes the file of so many pages the largest that there can be, as a full
// disk does.
func (d *DB) maxPages(t *testing.T, n int) {
	t.Helper()
	if _, err := d.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
		t.Fatal(err)
	}
}

func TestAFullDiskIsNamedAndNotReadyUntilThereIsRoom(t *testing.T) {
	d := open(t)
	if err := d.Ready(t.Context()); err != nil {
		t.Fatalf("at first: %v", err)
	}
	d.maxPages(t, 1)
	err := d.note(t.Context(), strings.Repeat("x", 1<<20))
	if !errors.Is(err, ErrFull) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a write said %v", err)
	}
	d.maxPages(t, 1<<20)
	if err := d.Ready(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if d.failing.Load() {
		t.Error("it did not find out by a write")
	}
}

func TestWhatCannotBeWrittenIsNotReady(t *testing.T) {
	d := open(t)
	if _, err := d.writer.ExecContext(t.Context(), "PRAGMA query_only = ON"); err != nil {
		t.Fatal(err)
	}
	if err := d.note(t.Context(), "x"); err == nil {
		t.Fatal("it was written")
	}
	if err := d.Ready(t.Context()); err == nil {
		t.Error("it is said to be ready")
	}
	if _, err := d.writer.ExecContext(t.Context(), "PRAGMA query_only = OFF"); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(t.Context()); err != nil {
		t.Errorf("once it can be written: %v", err)
	}
}

func TestAWriteThatIsWrongByItselfSaysNothingOfTheDisk(t *testing.T) {
	d := open(t)
	refused := errors.New("there is one")
	for _, write := range []func() error{
		func() error { return d.note(t.Context(), "a") },
		func() error { return d.note(t.Context(), "a") },
		func() error {
			return d.Write(t.Context(), "x", func(context.Context, *sql.Tx) error { return refused })
		},
	} {
		_ = write() // the second and the third fail
		if d.failing.Load() {
			t.Error("it counts as a failure of the disk")
		}
	}
}

func TestThereIsRoomInATestsFolder(t *testing.T) {
	if free, known := freeBytes(t.TempDir()); known && free < leastFree {
		t.Errorf("%d bytes are free", free)
	}
	if _, known := freeBytes(filepath.Join(t.TempDir(), "not there")); known {
		t.Error("a folder that is not there has room")
	}
}
