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
func Listen(ctx context.Context, address, congestion string, patience time.Duration) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if controlErr := raw.Control(func(socket uintptr) { err = prepare(int(socket), congestion, patience) }); controlErr != nil {
			return controlErr
		}
		return err
	}}
	return config.Listen(ctx, "tcp", address)
}
