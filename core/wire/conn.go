package wire

import (
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/drover-video/drover/core/memfile"
)

// A Conn is one client's connection.
type Conn struct {
	net.Conn
	tcp      *net.TCPConn // the same
	raw      syscall.RawConn
	listener *Listener
	closed   atomic.Bool

	out outgoing

	// Of the time ahead of net/http.
	in        reading
	client    string    // its address, once a request was answered
	until     time.Time // when it has been idle too long
	ahead     []byte    // read already, for net/http
	departure uint64    // 0: nobody watches whether the client leaves
	departed  atomic.Bool
	waiting   atomic.Pointer[clientContext] // of the request being answered, if it asks
}

func newConn(tcp *net.TCPConn, l *Listener) (*Conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	l.options.Counters.open.Add(1)
	return &Conn{Conn: tcp, tcp: tcp, raw: raw, listener: l}, nil
}

// Read implements net.Conn.
func (c *Conn) Read(into []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(into, c.ahead)
		if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
			c.ahead = nil
		}
		return n, nil
	}
	return c.tcp.Read(into)
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	err := c.tcp.Close()
	if c.listener.isAhead() {
		c.listener.departures.forget(c)
	}
	if c.closed.CompareAndSwap(false, true) {
		c.listener.options.Counters.open.Add(-1)
		c.listener.options.Closed(c.tcp)
	}
	return err
}

// CloseWrite lets net/http end its side first, so that a client that is still
// sending sees the answer and not a reset.
func (c *Conn) CloseWrite() error { return c.tcp.CloseWrite() }

// A Sendable is bytes that the kernel can send by itself: those of a memory file, or
// of one on disk. Where it is copied into an answer over plain HTTP/1.1, it does.
type Sendable interface {
	io.Reader
	Len() int64 // bytes that are left
	// SendTo has at most limit bytes sent to a socket that does not block. The error
	// may be EAGAIN or EINTR; no bytes without an error, and there are none to come.
	SendTo(socket int, limit int64) (int, error)
}

// ReadFrom implements io.ReaderFrom. net/http gives it the body of an answer,
// once it has sent the header.
func (c *Conn) ReadFrom(source io.Reader) (int64, error) {
	file, n := sendable(source)
	if file == nil {
		return c.tcp.ReadFrom(source)
	}
	n, err := c.send(file, n)
	if limited, ok := source.(*io.LimitedReader); ok {
		limited.N -= n
	}
	return n, err
}

// sendable returns what the kernel can send of what a reader reads, and how much of
// it that is; nil where it cannot.
func sendable(source io.Reader) (file Sendable, n int64) {
	if !memfile.Sendable {
		return nil, 0
	}
	switch from := source.(type) {
	case Sendable:
		return from, from.Len()
	case *io.LimitedReader:
		if file, ok := from.R.(Sendable); ok {
			return file, max(0, min(from.N, file.Len()))
		}
	}
	return nil, 0
}
