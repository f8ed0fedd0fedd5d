package memfile

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// Sendable reports whether there are such files on this system.
const Sendable = true

// seals make sure that what was sent is never changed. They are put on while no
// socket holds a page yet: later it would block, and fail.
const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// maxPieces is how many pieces one call takes (IOV_MAX).
const maxPieces = 1024

func create(pieces [][]byte, size int64) (int, error) {
	descriptor, err := unix.MemfdCreate("drover", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("make a memory file: %w", err)
	}
	if err := fill(descriptor, pieces, size); err != nil {
		release(descriptor)
		return -1, fmt.Errorf("write a memory file: %w", err)
	}
	if _, err := unix.FcntlInt(uintptr(descriptor), unix.F_ADD_SEALS, seals); err != nil {
		release(descriptor)
		return -1, fmt.Errorf("seal a memory file: %w", err)
	}
	return descriptor, nil
}

// fill writes all pieces.
func fill(descriptor int, pieces [][]byte, size int64) error {
	written := int64(0)
	for skip := 0; len(pieces) > 0; {
		some := pieces[:min(len(pieces), maxPieces)]
		if skip > 0 { // the first piece is written in part
			some = append([][]byte{some[0][skip:]}, some[1:]...)
		}
		n, err := unix.Writev(descriptor, some)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return io.ErrShortWrite
		}
		written += int64(n)
		n += skip
		for len(pieces) > 0 && n >= len(pieces[0]) {
			n -= len(pieces[0])
			pieces = pieces[1:]
		}
		skip = n
	}
	if written != size {
		return fmt.Errorf("%d bytes instead of %d", written, size)
	}
	return nil
}

func release(descriptor int) {
	// Of a file in memory, nothing can fail that close could tell.
	_ = unix.Close(descriptor)
}

func readAt(descriptor int, into []byte, offset int64) (int, error) {
	for {
		n, err := unix.Pread(descriptor, into, offset)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// sendFile is sendfile(2) with an offset that leaves the descriptor's own alone:
// many send one file at once.
func sendFile(socket, descriptor int, offset, n int64) (int, error) {
	sent, err := unix.Sendfile(socket, descriptor, &offset, int(n))
	return max(sent, 0), err
}
