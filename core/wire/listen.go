package wire

import (
	"context"
	"net"
	"syscall"
	"time"
)

// Listen opens a TCP socket. congestion is the congestion control of its
// connections; empty: the system's. patience is how long a client may leave what
// was sent to it unread.
func Listen(ctx context.Context, address, congestion string, patience time.Duration) (*net.TCPListener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if controlErr := raw.Control(func(socket uintptr) { err = prepare(int(socket), congestion, patience) }); controlErr != nil {
			return controlErr
		}
		return err
	}}
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener), nil
}

// A Listener hands out connections that send from the kernel.
type Listener struct {
	*net.TCPListener
	patience time.Duration
	counters *Counters
}

// NewListener returns a listener over tcp, which it owns. A client that takes no
// byte of a memory file for as long as patience is cut off.
func NewListener(tcp *net.TCPListener, patience time.Duration, counters *Counters) *Listener {
	return &Listener{TCPListener: tcp, patience: patience, counters: counters}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	c, err := newConn(tcp, l.patience, l.counters)
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	return c, nil
}
