package wire

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/drover-video/drover/core/memfile"
)

// outgoing is what a connection is sending. It is part of the connection, as is
// the function that sends: a send allocates nothing.
type outgoing struct {
	step    func(socket uintptr) bool
	file    *memfile.Reader
	left    int64 // of the file, still to be sent
	moved   bool  // something has gone since the deadline was set
	blocked int64 // what the socket held when it would take no more; -1: it is not waited for
	err     error
}

// send has the kernel send so many bytes of a file, and returns how many it took.
// The connection's write deadline moves on as long as the client reads.
func (c *Conn) send(file *memfile.Reader, n int64) (int64, error) {
	o := &c.out
	if o.step == nil {
		o.step = c.sendSome
	}
	o.file, o.left, o.moved, o.blocked, o.err = file, n, true, -1, nil
	err := c.raw.Write(o.step)
	c.unblock() // the wait may have ended by its deadline
	if err == nil {
		err = o.err
	}
	sent := n - o.left
	o.file = nil
	c.counters.kernelSends.Add(1)
	c.counters.kernelBytes.Add(uint64(sent))
	return sent, err
}

// sendSome sends until nothing is left, and reports false when the socket is to be
// waited for.
func (c *Conn) sendSome(socket uintptr) (done bool) {
	o := &c.out
	c.unblock()
	for o.left > 0 {
		n, err := o.file.SendTo(int(socket), o.left)
		o.left -= int64(n)
		o.moved = o.moved || n > 0
		switch {
		case n > 0, errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			c.block(socket)
			return false
		case err != nil:
			o.err = os.NewSyscallError("sendfile", err)
			return true
		default: // nothing, and no reason: the file is shorter than it said
			o.err = io.ErrUnexpectedEOF
			return true
		}
	}
	return true
}

// block begins a wait for the client, who has its patience from now on if it took
// anything in the last one. Writability is told late, when a third of what is
// queued has gone: patience of less than ten seconds cuts off clients that read.
func (c *Conn) block(socket uintptr) {
	o := &c.out
	if o.moved {
		o.moved = false
		_ = c.tcp.SetWriteDeadline(time.Now().Add(c.patience)) // a closed connection shows at once
	}
	o.blocked = queued(int(socket))
	c.counters.blocked.Add(1)
	c.counters.blockedBytes.Add(o.blocked)
}

func (c *Conn) unblock() {
	o := &c.out
	if o.blocked < 0 {
		return
	}
	c.counters.blocked.Add(-1)
	c.counters.blockedBytes.Add(-o.blocked)
	o.blocked = -1
}
