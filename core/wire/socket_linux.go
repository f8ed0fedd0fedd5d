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
