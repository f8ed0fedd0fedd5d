// Package memfile holds files in memory that the kernel sends to sockets itself:
// bytes that many ask for are copied into one once, and from then on never pass
// through the process again.
//
// # What must hold
//
// A file is written whole and sealed before its first byte is sent, and is never
// written again: sockets hold its pages, not copies of them, so that a change
// would reach those who have been served the old bytes. It is closed by its owner
// when nobody sends it any more: a descriptor that is closed and taken again
// between two sends would send somebody else's bytes. What sockets still hold
// then stays with the kernel until it has been read.
//
// Its pages belong to no process: they count neither as resident memory nor as
// Go's. A Budget bounds and counts them.
//
// Elsewhere than on Linux there are no such files: Budget.New says so, and the
// caller goes on with the bytes it has.
package memfile

import (
	"errors"
	"io"
	"sync/atomic"
)

// Errors of Budget.New that no one need hear of: the bytes are sent as they are.
var (
	ErrFull        = errors.New("memory files: the budget is used up")
	ErrUnsupported = errors.New("memory files: not on this system")
)

// A Budget bounds how many files there are, each of which takes a descriptor, and
// how many bytes are in them. All methods may be called from any goroutine.
type Budget struct {
	maxFiles, maxBytes int64
	files, bytes       atomic.Int64
}

// NewBudget returns a budget of so many files and bytes.
func NewBudget(maxFiles int, maxBytes int64) *Budget {
	return &Budget{maxFiles: int64(maxFiles), maxBytes: maxBytes}
}

// Used returns how many files there are, and the bytes in them.
func (b *Budget) Used() (files int, bytes int64) {
	return int(b.files.Load()), b.bytes.Load()
}

// New makes a file of the pieces one after another, of size bytes in all.
func (b *Budget) New(pieces [][]byte, size int64) (*File, error) {
	// Taken first, so that two at once cannot both fit.
	files, bytes := b.files.Add(1), b.bytes.Add(size)
	if files > b.maxFiles || bytes > b.maxBytes {
		b.giveBack(size)
		return nil, ErrFull
	}
	descriptor, err := create(pieces, size)
	if err != nil {
		b.giveBack(size)
		return nil, err
	}
	return &File{budget: b, descriptor: descriptor, size: size}, nil
}

func (b *Budget) giveBack(size int64) {
	b.files.Add(-1)
	b.bytes.Add(-size)
}

// A File is bytes that never change. It may be read by many at once.
type File struct {
	budget     *Budget
	descriptor int
	size       int64
}

// Size returns how many bytes are in the file.
func (f *File) Size() int64 { return f.size }

// Close gives the file up. Its owner calls it once, when no Reader of it is in
// use any more.
func (f *File) Close() {
	release(f.descriptor)
	f.descriptor = -1 // whoever sends it all the same gets an error, not another file
	f.budget.giveBack(f.size)
}

// Reader returns n bytes from an offset, which must lie within the file.
func (f *File) Reader(offset, n int64) *Reader {
	if offset < 0 || n < 0 || offset > f.size-n {
		panic("memfile: a range outside the file")
	}
	return &Reader{file: f, offset: offset, left: n}
}

// A Reader reads a range of a file. Each has a position of its own, and belongs to
// one goroutine.
type Reader struct {
	file         *File
	offset, left int64
}

// Len returns how many bytes are left.
func (r *Reader) Len() int64 { return r.left }

// Read implements io.Reader, for whatever cannot be sent to by the kernel.
func (r *Reader) Read(into []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := readAt(r.file.descriptor, into[:min(int64(len(into)), r.left)], r.offset)
	r.advance(n)
	if err == nil && n == 0 && len(into) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// SendTo hands at most limit bytes to the kernel, which sends them to a socket
// that does not block: as many as there is room for. The error may be EAGAIN or
// EINTR. No bytes without an error, and the socket takes none: nobody should ask
// again.
func (r *Reader) SendTo(socket int, limit int64) (int, error) {
	n, err := sendFile(socket, r.file.descriptor, r.offset, min(r.left, limit))
	r.advance(n)
	return n, err
}

func (r *Reader) advance(n int) {
	r.offset += int64(n)
	r.left -= int64(n)
}
