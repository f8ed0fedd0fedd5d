package session

import (
	"net"

	"golang.org/x/sys/unix"
)

// tune gives a socket room for bursts, asks the kernel to count what it has no
// room for, and says how many bytes were granted: the kernel's count, of which
// its own bookkeeping takes about half. A failure leaves the socket usable.
func tune(conn *net.UDPConn, bytes int) (granted int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		s := int(fd)
		// The first goes beyond net.core.rmem_max, for those who may.
		if unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bytes) != nil {
			_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
		}
		_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
		granted, err = unix.GetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF)
	})
	if err != nil {
		return 0
	}
	return granted
}

// ownGroupsOnly keeps datagrams of groups away that others on this machine
// have joined: the kernel would hand them to every socket of the port.
func ownGroupsOnly(conn *net.UDPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		// Each is for the other family's sockets an error, and no harm.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0)
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_ALL, 0)
	})
}
