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

// ReadFrom implements io.ReaderFrom. net/http gives it the body of an answer,
// once it has sent the header.
func (c *Conn) ReadFrom(source io.Reader) (int64, error) {
	n, ok := kernelBytes(source)
	if !ok {
		return c.tcp.ReadFrom(source)
	}
	limited, ok := source.(*io.LimitedReader)
	if !ok {
		return c.send(source.(*memfile.Reader), n)
	}
	n, err := c.send(limited.R.(*memfile.Reader), n)
	limited.N -= n
	return n, err
}

// kernelBytes returns how many bytes the kernel can send of what a reader reads, if
// that is a memory file, or some of one.
func kernelBytes(source io.Reader) (n int64, ok bool) {
	switch from := source.(type) {
	case *memfile.Reader:
		return from.Len(), true
	case *io.LimitedReader:
		if file, ok := from.R.(*memfile.Reader); ok {
			return max(0, min(from.N, file.Len())), true
		}
	}
	return 0, false
}
