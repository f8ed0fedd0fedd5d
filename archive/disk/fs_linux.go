package disk

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxBuffers is how many buffers one system call takes.
const maxBuffers = 1024

// WriteBuffers implements File. What it has to write in several calls is few: frames
// that lie side by side in memory are one buffer.
func (f osFile) WriteBuffers(buffers [][]byte, offset int64) (int64, error) {
	written := int64(0)
	for len(buffers) > 0 {
		n, err := f.write(buffers[:min(len(buffers), maxBuffers)], offset+written)
		written += int64(n)
		if err != nil {
			return written, err
		}
		if n == 0 {
			return written, io.ErrShortWrite
		}
		for len(buffers) > 0 && n >= len(buffers[0]) {
			n -= len(buffers[0])
			buffers = buffers[1:]
		}
		if n > 0 {
			buffers = append([][]byte{buffers[0][n:]}, buffers[1:]...)
		}
	}
	return written, nil
}

func (f osFile) write(buffers [][]byte, offset int64) (int, error) {
	for {
		n, err := unix.Pwritev(int(f.Fd()), buffers, offset)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return max(n, 0), &os.PathError{Op: "write", Path: f.Name(), Err: err}
		}
		return n, nil
	}
}

// Begin implements File.
func (f osFile) Begin(offset, bytes int64) {
	// A hint. What cannot be written is told by Sync.
	_ = unix.SyncFileRange(int(f.Fd()), offset, bytes, unix.SYNC_FILE_RANGE_WRITE)
}

// Sync implements File.
func (f osFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
		}
		return nil
	}
}

// Forget implements File.
func (f osFile) Forget(offset, bytes int64) {
	_ = unix.Fadvise(int(f.Fd()), offset, bytes, unix.FADV_DONTNEED) // A hint.
}

func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func space(root string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(root, &s); err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: root, Err: err}
	}
	block := int64(s.Bsize)
	return Space{Total: int64(s.Blocks) * block, Free: int64(s.Bavail) * block}, nil
}
