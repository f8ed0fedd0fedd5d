package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestConnectionsInheritWhatTheListenerSays(t *testing.T) {
	tcp, err := Listen(t.Context(), "127.0.0.1:0", "reno", 7*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var counters Counters
	listener := NewListener(tcp, Options{Patience: 7 * time.Second, Counters: &counters})
	defer listener.Close()
	client, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.(*Conn).raw.Control(func(socket uintptr) {
		if congestion, err := unix.GetsockoptString(int(socket), unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || congestion != "reno" {
			t.Errorf("congestion control %q, %v", congestion, err)
		}
		if patience, err := unix.GetsockoptInt(int(socket), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); err != nil || patience != 7000 {
			t.Errorf("time-out of unread data: %d ms, %v", patience, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// The server has nothing more to send and waits for the next request: no deadline of
// its own runs, and yet the answer is not kept for ever.
func TestAnAnswerLeftUnreadInItsSocketEndsTheConnection(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		b := newBench(t, way, 128<<10, 100*time.Millisecond)
		small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(socket uintptr) {
				if err := unix.SetsockoptInt(int(socket), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096); err != nil {
					t.Error(err)
				}
			})
		}}
		conn, err := small.DialContext(t.Context(), "tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		b.sent()
	})
}

func TestChurnLeavesNoDescriptorBehind(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		b := newBench(t, way, 64<<10, longPatience)
		b.get("GET", "/", "") // whatever is made once
		b.sent()
		before := descriptors(t)
		for i := range 300 {
			if i%3 == 0 { // one that leaves early
				conn, err := net.Dial("tcp", b.address)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
				conn.Close()
				continue
			}
			b.get("GET", "/", "")
		}
		stats := b.sent()
		if after := descriptors(t); after != before {
			t.Errorf("%d descriptors, %d before", after, before)
		}
		if stats.Blocked != 0 || stats.BlockedBytes != 0 {
			t.Errorf("nobody is waited for, and yet %+v", stats)
		}
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
