package archive

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/core/sqlite"
)

// reserveName is a file of nothing, which is given up where a disk is so full that
// not even the index could write down what is to be deleted.
const reserveName = "archive.reserve"

// A reserve is room on the disk for that case.
type reserve struct {
	files disk.FS
	held  bool
}

func reserveBytes(s disk.Space) int64 { return min(4<<20, s.Total/64) }

// hold makes the reserve, where there is none and the disk has room for it.
func (r *reserve) hold(s disk.Space, floor int64) error {
	n := reserveBytes(s)
	if r.held || s.Free < floor+n {
		return nil
	}
	file, err := r.files.Create(reserveName)
	if errors.Is(err, fs.ErrExist) {
		r.held = true // of the process before
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteBuffers([][]byte{make([]byte, n)}, 0)
	err = errors.Join(err, file.Close())
	if err != nil {
		return errors.Join(err, r.files.Remove(reserveName))
	}
	r.held = true
	return nil
}

// spend gives the reserve up.
func (r *reserve) spend() error {
	r.held = false
	return r.files.Remove(reserveName)
}

func isFull(err error) bool { return errors.Is(err, sqlite.ErrFull) || errors.Is(err, syscall.ENOSPC) }
