//go:build !linux

package session

import "net"

// tune gives a socket room for bursts, and says how many bytes were granted;
// 0 is unknown.
func tune(conn *net.UDPConn, bytes int) (granted int) {
	if conn.SetReadBuffer(bytes) != nil {
		return 0
	}
	return bytes
}

// ownGroupsOnly is how other systems do it anyway.
func ownGroupsOnly(*net.UDPConn) {}
