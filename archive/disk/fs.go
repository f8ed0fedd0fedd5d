package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/sqlite"
)

// FS is the directory that the archive lies in. Paths are below it, with slashes.
// Tests have others that are slow, full or broken.
type FS interface {
	// Create makes a file that must not be there, and its directories.
	Create(path string) (File, error)
	// Open opens a file for reading, and for cutting its end.
	Open(path string) (File, error)
	// SyncDir makes sure of the names in the directory of a file.
	SyncDir(path string) error
	// Remove unlinks a file; one that is not there is no error.
	Remove(path string) error
	// Space tells how much there is on the disk.
	Space() (Space, error)
}

// File is a file of the archive.
type File interface {
	io.ReaderAt
	io.Closer
	// WriteBuffers writes buffers one behind the other.
	WriteBuffers(buffers [][]byte, offset int64) (int64, error)
	// Begin tells the kernel to begin writing a range to disk.
	Begin(offset, bytes int64)
	// Sync returns when the file's data, and its length, are on disk.
	Sync() error
	// Forget tells that nobody will read a range soon.
	Forget(offset, bytes int64)
	Truncate(size int64) error
	Size() (int64, error)
}

// Space is how much a disk holds, in bytes.
type Space struct {
	Total int64
	Free  int64 // for Drover
}

// ErrTimeout is returned where a disk did not answer in time.
var ErrTimeout = errors.New("the disk does not answer")

// CauseOf says which gap an error of the disk or of the index leaves.
func CauseOf(err error) index.Cause {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, sqlite.ErrFull):
		return index.CauseDiskFull
	case errors.Is(err, ErrTimeout):
		return index.CauseDiskSlow
	default:
		return index.CauseDiskError
	}
}

// Dir is the file system below a directory.
type Dir struct{ root string }

// NewDir returns the file system below root.
func NewDir(root string) Dir { return Dir{root: root} }

func (d Dir) join(path string) string { return filepath.Join(d.root, filepath.FromSlash(path)) }

// Create implements FS.
func (d Dir) Create(path string) (File, error) {
	name := d.join(path)
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.makeDir(filepath.Dir(name)); err != nil {
			return nil, err
		}
		file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return osFile{file}, nil
}

// makeDir makes a directory and those above it, and makes sure of their names.
func (d Dir) makeDir(name string) error {
	err := os.Mkdir(name, 0o700)
	switch {
	case err == nil:
		return syncDir(filepath.Dir(name))
	case errors.Is(err, fs.ErrExist):
		return nil
	case !errors.Is(err, fs.ErrNotExist), filepath.Clean(name) == filepath.Clean(d.root), name == filepath.Dir(name):
		return err
	}
	if err := d.makeDir(filepath.Dir(name)); err != nil {
		return err
	}
	return d.makeDir(name)
}

// Open implements FS.
func (d Dir) Open(path string) (File, error) {
	file, err := os.OpenFile(d.join(path), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{file}, nil
}

// SyncDir implements FS.
func (d Dir) SyncDir(path string) error { return syncDir(filepath.Dir(d.join(path))) }

// Remove implements FS. Directories that became empty go with the file.
func (d Dir) Remove(path string) error {
	name := d.join(path)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(name); len(dir) > len(filepath.Clean(d.root)); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break // there is something in it
		}
	}
	return nil
}

// Space implements FS.
func (d Dir) Space() (Space, error) { return space(d.root) }

type osFile struct{ *os.File }

// Size implements File.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
