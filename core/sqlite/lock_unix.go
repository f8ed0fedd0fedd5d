//go:build unix

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the lock of a data directory, which ends with the process however
// that ends. The file itself stays: whoever removed it would let a third one in.
func lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return file, nil
	}
	_ = file.Close() // The first error says what is wrong.
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, ErrInUse
	}
	return nil, err
}
