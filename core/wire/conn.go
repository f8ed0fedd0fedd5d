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
	patience time.Duration
	counters *Counters
	closed   atomic.Bool

	out outgoing
}

func newConn(tcp *net.TCPConn, patience time.Duration, counters *Counters) (*Conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	counters.open.Add(1)
	return &Conn{Conn: tcp, tcp: tcp, raw: raw, patience: patience, counters: counters}, nil
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.counters.open.Add(-1)
	}
	return c.tcp.Close()
}

// CloseWrite lets net/http end its side first, so that a client that is still
// sending sees the answer and not a reset.
func (c *Conn) CloseWrite() error { return c.tcp.CloseWrite() }

// SetLinger says what becomes of unsent bytes at Close.
func (c *Conn) SetLinger(seconds int) error { return c.tcp.SetLinger(seconds) }

// ReadFrom implements io.ReaderFrom. net/http gives it the body of an answer,
// once it has sent the header.
func (c *Conn) ReadFrom(source io.Reader) (int64, error) {
	switch from := source.(type) {
	case *memfile.Reader:
		return c.send(from, from.Len())
	case *io.LimitedReader:
		if file, ok := from.R.(*memfile.Reader); ok {
			n, err := c.send(file, min(from.N, file.Len()))
			from.N -= n
			return n, err
		}
	}
	return c.tcp.ReadFrom(source)
}
