package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// What a copy cannot be read for, beside a Failure.
var (
	ErrNoCopy = fmt.Errorf("the second home has no copy of it: %w", fs.ErrNotExist)
	ErrRange  = errors.New("that is not a part of the file")
	ErrBusy   = errors.New("as much is being read from the second home as may be at once: try again in a moment")
)

const (
	// maxResumes is how often one read goes on after its connection broke.
	maxResumes = 3

	// urlValid is how long a URL made by URL can be used: as long as a player may take
	// from asking for a segment to having it.
	urlValid = 15 * time.Minute
)

// Open returns n bytes of a file from an offset on, out of its copy. What breaks on the
// way goes on where it broke. Errors before the first byte are ErrNoCopy, ErrRange,
// ErrBusy, those of ctx and of the index, or a Failure. It must be closed, and soon: it
// holds one of a few slots.
func (h *Home) Open(ctx context.Context, key index.Key, offset, n int64) (io.ReadCloser, error) {
	c, ok, err := h.index.Copy(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrNoCopy
	case offset < 0 || n <= 0 || offset > c.Bytes || n > c.Bytes-offset:
		return nil, ErrRange
	}
	if err := h.takeSlot(ctx); err != nil {
		return nil, err
	}
	r := &reading{ctx: ctx, home: h, copy: c, offset: c.Offset + offset, left: n, moved: time.Now()}
	if err := r.open(); err != nil {
		<-h.reads
		return nil, err
	}
	h.counted(func(status *Status) { status.Reads++ })
	return r, nil
}

func (h *Home) takeSlot(ctx context.Context) error {
	timer := time.NewTimer(h.options.SlotWait)
	defer timer.Stop()
	select {
	case h.reads <- struct{}{}:
		return nil
	case <-timer.C:
		h.counted(func(status *Status) { status.ReadBusy++ })
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reading is part of an object that is being read.
type reading struct {
	ctx     context.Context
	home    *Home
	copy    index.Copy
	offset  int64 // of the next byte, in the object
	left    int64
	resumes int
	moved   time.Time     // when its reader began to wait
	body    io.ReadCloser // nil while there is none
	closed  bool
}

// open asks for what is left, again where that may help.
func (r *reading) open() error {
	for {
		var err error
		if r.body, err = r.home.store.get(r.ctx, r.copy.Name, r.copy.Tag, r.offset, r.left, r.home.options.ReadStall); err == nil {
			return nil
		}
		r.body = nil
		if !r.again(err) {
			return err
		}
	}
}

// again reports whether to try once more after an error, and waits before that.
func (r *reading) again(err error) bool {
	switch ReasonOf(err) {
	case ReasonUnreachable, ReasonBusy, ReasonBroken, ReasonClock:
	default:
		return false
	}
	// A player that has waited so long has given up, or will.
	if time.Since(r.moved) >= r.home.options.ReadStall {
		return false
	}
	if r.resumes >= maxResumes || sleep(r.ctx, r.home.options.BackoffMin<<r.resumes/4) != nil {
		return false
	}
	r.resumes++
	r.home.counted(func(status *Status) { status.Resumed++ })
	return true
}

// Read implements io.Reader.
func (r *reading) Read(into []byte) (int, error) {
	r.moved = time.Now() // how long its reader took is not the store's fault
	for r.left > 0 {
		n, err := r.body.Read(into)
		r.offset += int64(n)
		r.left -= int64(n)
		r.home.counted(func(status *Status) { status.ReadBytes += uint64(n) })
		if n > 0 || err == nil || r.left == 0 {
			return n, nil // an error comes again
		}
		r.body.Close()
		if !r.again(err) {
			r.body = failedBody{err}
			return 0, err
		}
		if err := r.open(); err != nil {
			r.body = failedBody{err}
			return 0, err
		}
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (r *reading) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.body.Close()
	<-r.home.reads
	return err
}

// failedBody stands in for one that cannot be had any more.
type failedBody struct{ err error }

func (f failedBody) Read([]byte) (int, error) { return 0, f.err }
func (f failedBody) Close() error             { return nil }

// URL returns a URL by which whoever has it may read a file's copy from the store for a
// quarter of an hour; it shows the access key, but not the secret one. It is false
// where players are not sent there, and where the file is not the first of its object:
// what a player then asks for would be a range of another file.
func (h *Home) URL(ctx context.Context, key index.Key) (string, bool, error) {
	if !h.options.Redirect {
		return "", false, nil
	}
	c, ok, err := h.index.Copy(ctx, key)
	switch {
	case err != nil:
		return "", false, err
	case !ok:
		return "", false, ErrNoCopy
	case c.Offset != 0:
		return "", false, nil
	}
	url, err := h.store.url(ctx, c.Name, urlValid)
	return url, err == nil, err
}
