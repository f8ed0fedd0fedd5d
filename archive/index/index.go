package index

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/drover-video/drover/core/sqlite"
)

// fileName is the index below the archive's directory, lockName what says that
// somebody is at work there.
const (
	fileName = "archive.db"
	lockName = "archive.lock"
)

// readers is how many ask the index at once; more wait. Each keeps a cache.
const readers = 4

// Index is an open index. Its methods may be called by all. Errors are those of
// core/sqlite.
type Index struct {
	db *sqlite.DB

	mu      sync.RWMutex
	streams map[int64]*stream // by Stream.ID
	byName  map[Stream]*stream
	holds   map[*hold]struct{}
	// byCamera is by camera's id, in the order in which they were made.
	byCamera map[string][]Stream
}

// Open opens the index in an archive's directory, for one process at a time, and
// makes both where they are missing.
func Open(ctx context.Context, dir string) (*Index, error) {
	db, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(dir, fileName), Lock: filepath.Join(dir, lockName),
		ApplicationID: applicationID, Migrations: migrations(), Readers: readers,
	})
	if err != nil {
		return nil, err
	}
	x := &Index{
		db: db, streams: make(map[int64]*stream), byName: make(map[Stream]*stream), byCamera: make(map[string][]Stream),
		holds: make(map[*hold]struct{}),
	}
	if err := x.loadStreams(ctx); err != nil {
		_ = db.Close() // The first error says what is wrong.
		return nil, err
	}
	return x, nil
}

// Close closes the index.
func (x *Index) Close() error { return x.db.Close() }

// Ready says why the index cannot be asked now; nil if it can.
func (x *Index) Ready(ctx context.Context) error { return x.db.Ready(ctx) }
