package wire

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// outgoing is what a connection is sending. It is part of the connection, as is
// the function that sends: a send allocates nothing.
type outgoing struct {
	step     func(socket uintptr) bool
	data     []byte   // to be sent first
	more     bool     // other bytes follow, which may go into the same packet
	file     Sendable // then this much of a file
	left     int64
	deadline time.Time // of the next wait; zero: as long as the connection has patience
	moved    bool      // something has gone since a deadline was set
	waited   bool      // one was set
	blocked  int64     // what the socket held when it would take no more; -1: it is not waited for
	err      error
}

// send has the kernel send so many bytes of a file, and returns how many it took.
func (c *Conn) send(file Sendable, n int64) (int64, error) {
	o := &c.out
	o.file, o.left = file, n
	err := c.sendAll()
	sent := n - o.left
	o.file, o.left = nil, 0
	counters := c.listener.options.Counters
	counters.kernelSends.Add(1)
	counters.kernelBytes.Add(uint64(sent))
	return sent, err
}

// write sends bytes, and returns how many were taken. more says that others follow
// at once.
func (c *Conn) write(data []byte, more bool) (int, error) {
	o := &c.out
	o.data, o.more = data, more
	err := c.sendAll()
	sent := len(data) - len(o.data)
	o.data, o.more = nil, false
	return sent, err
}

// sendAll sends what c.out holds. The client's time begins anew whenever it reads.
func (c *Conn) sendAll() error {
	o := &c.out
	if o.step == nil {
		o.step = c.sendSome
	}
	o.moved, o.waited, o.blocked, o.err = true, false, -1, nil
	err := c.raw.Write(o.step)
	c.unblock() // the wait may have ended by its deadline
	if o.waited {
		_ = c.tcp.SetWriteDeadline(time.Time{}) // a closed connection shows at once
	}
	if err == nil {
		err = o.err
	}
	return err
}

// sendSome sends until nothing is left, and reports false when the socket is to be
// waited for.
func (c *Conn) sendSome(socket uintptr) (done bool) {
	o := &c.out
	c.unblock()
	for len(o.data) > 0 || o.left > 0 {
		n, err := o.sendOnce(int(socket))
		o.moved = o.moved || n > 0
		switch {
		case n > 0, errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			c.block(socket)
			return false
		case err != nil:
			o.err = os.NewSyscallError("send", err)
			return true
		default: // nothing, and no reason: the file is shorter than it said
			o.err = io.ErrUnexpectedEOF
			return true
		}
	}
	return true
}

func (o *outgoing) sendOnce(socket int) (n int, err error) {
	if len(o.data) > 0 {
		n, err = sendBytes(socket, o.data, o.more)
		o.data = o.data[n:]
		return n, err
	}
	n, err = o.file.SendTo(socket, o.left)
	o.left -= int64(n)
	return n, err
}

// block begins a wait for the client, whose time begins anew if it took anything in
// the last one. Writability is told late, when a third of what is queued has gone:
// patience of less than ten seconds cuts off clients that read.
func (c *Conn) block(socket uintptr) {
	o := &c.out
	if o.moved {
		until := o.deadline
		if until.IsZero() {
			until = time.Now().Add(c.listener.options.Patience)
		}
		o.deadline, o.moved, o.waited = time.Time{}, false, true
		_ = c.tcp.SetWriteDeadline(until) // a closed connection shows at once
	}
	o.blocked = queued(int(socket))
	counters := c.listener.options.Counters
	counters.blocked.Add(1)
	counters.blockedBytes.Add(o.blocked)
}

func (c *Conn) unblock() {
	o := &c.out
	if o.blocked < 0 {
		return
	}
	counters := c.listener.options.Counters
	counters.blocked.Add(-1)
	counters.blockedBytes.Add(-o.blocked)
	o.blocked = -1
}
