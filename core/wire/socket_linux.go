package wire

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// queued returns how many bytes a socket holds that its client has not taken yet.
func queued(socket int) int64 {
	n, err := unix.IoctlGetInt(socket, unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return int64(n)
}

// sendBytes sends what a socket has room for. more says that other bytes follow.
func sendBytes(socket int, data []byte, more bool) (int, error) {
	var n int
	var err error
	if more {
		n, err = unix.SendmsgN(socket, data, nil, nil, unix.MSG_MORE)
	} else {
		n, err = unix.Write(socket, data)
	}
	return max(n, 0), err
}

// receive reads what a socket holds.
func receive(socket int, into []byte) (int, error) {
	for {
		n, err := unix.Read(socket, into)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// canAnswer reports whether requests can be answered ahead of net/http here.
const canAnswer = true

// prepare sets what all connections of a listening socket inherit.
func prepare(socket int, congestion string, patience time.Duration) error {
	if congestion != "" {
		if err := unix.SetsockoptString(socket, unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion); err != nil {
			offered, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
			return fmt.Errorf("congestion control %q: %w (this system offers: %s)", congestion, err, strings.TrimSpace(string(offered)))
		}
	}
	// The kernel itself ends a connection whose client leaves what was sent to it
	// unread for so long. A deadline only runs while Drover has more to send: an
	// answer that fits into the socket would stay until the connection is idle too
	// long, and after that in a socket that nobody owns any more.
	if err := unix.SetsockoptInt(socket, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(patience.Milliseconds())); err != nil {
		return fmt.Errorf("time-out of unread data: %w", err)
	}
	return nil
}
