package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/wire"
)

// Bounds of refusing connections: what a flood costs beyond the connections that
// are served.
const (
	maxRefusals    = 64              // at once; more are closed without a word
	refusalTime    = 2 * time.Second // for one, TLS included
	maxRefusedRead = 64 << 10        // of a request that is not wanted
	retryRefused   = 5               // seconds
)

// ConnectionCounters is what has come of connections.
type ConnectionCounters struct {
	Wire wire.Counters

	All     atomic.Uint64 // refused because there were as many in all as may be
	Address atomic.Uint64 // refused because there were as many of one address
}

// connections is a listener that hands out only so many connections at once. It is
// told of each one's end.
type connections struct {
	net.Listener
	most, mostPerAddress int // 0: no limit
	tls                  *tls.Config
	counters             *ConnectionCounters

	mu        sync.Mutex
	open      map[net.Conn]netip.Prefix
	byAddress map[netip.Prefix]int

	refusals sync.WaitGroup
	slots    chan struct{}
	stopped  context.Context
}

// newConnections returns a listener over inner. tls is what a refusal is said in;
// nil for plain HTTP.
func newConnections(stopped context.Context, inner net.Listener, most, mostPerAddress int, tls *tls.Config, counters *ConnectionCounters) *connections {
	return &connections{
		Listener: inner, most: most, mostPerAddress: mostPerAddress, tls: refusalTLS(tls), counters: counters,
		open: map[net.Conn]netip.Prefix{}, byAddress: map[netip.Prefix]int{},
		slots: make(chan struct{}, maxRefusals), stopped: stopped,
	}
}

// refusalTLS is the configuration for those who are refused: HTTP/1.1, in which it
// takes one write.
func refusalTLS(config *tls.Config) *tls.Config {
	if config == nil {
		return nil
	}
	config = config.Clone()
	config.NextProtos = []string{"http/1.1"}
	return config
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		status := c.enter(conn)
		if status == 0 {
			return conn, nil
		}
		c.refuse(conn, status)
	}
}

// enter counts a connection, or returns the status to refuse it with.
func (c *connections) enter(conn net.Conn) (status int) {
	client := clientOf(conn.RemoteAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.mostPerAddress > 0 && c.byAddress[client] >= c.mostPerAddress:
		c.counters.Address.Add(1)
		return http.StatusTooManyRequests
	case c.most > 0 && len(c.open) >= c.most:
		c.counters.All.Add(1)
		return http.StatusServiceUnavailable
	}
	c.open[conn] = client
	c.byAddress[client]++
	return 0
}

// leave counts a connection that has ended.
func (c *connections) leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	client, known := c.open[conn]
	if !known {
		return
	}
	delete(c.open, conn)
	if c.byAddress[client]--; c.byAddress[client] <= 0 {
		delete(c.byAddress, client)
	}
}

// clientOf returns whose connection it is: an address, or of IPv6 the /64 that one
// household has.
func clientOf(address net.Addr) netip.Prefix {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	if err != nil { // There is no address without one.
		return netip.Prefix{}
	}
	return prefix
}

// refuse answers with a status and closes, in bounded time and number.
func (c *connections) refuse(conn net.Conn, status int) {
	select {
	case c.slots <- struct{}{}:
	default:
		abort(conn)
		return
	}
	c.refusals.Go(func() {
		defer func() { <-c.slots }()
		defer conn.Close()
		unwatch := context.AfterFunc(c.stopped, func() { _ = conn.SetDeadline(time.Now()) })
		defer unwatch()
		_ = conn.SetDeadline(time.Now().Add(refusalTime))
		c.answer(conn, status)
	})
}

// abort closes a connection with a reset, which leaves nothing behind here.
func abort(conn net.Conn) {
	if tcp, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// answer writes the refusal. Whatever fails, the connection is closed next.
func (c *connections) answer(conn net.Conn, status int) {
	out := conn
	if c.tls != nil {
		out = tls.Server(conn, c.tls)
	}
	if _, err := out.Write(refusal(status)); err != nil {
		return
	}
	// Closed with something unread, the client would see a reset, not the answer.
	if half, ok := out.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(out, maxRefusedRead))
	}
}

// refusal is a whole answer.
func refusal(status int) []byte {
	k, detail := problemConnections, "as many connections are open as may be"
	if status == http.StatusTooManyRequests {
		k, detail = problemClientConnections, "as many connections are open from this address as may be"
	}
	body, err := json.Marshal(problem(k, fmt.Sprintf("%s: try again in %d s", detail, retryRefused)))
	if err != nil { // A struct of texts and numbers has no way to fail.
		body = nil
	}
	head := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: Retry-After\r\nRetry-After: %d\r\nConnection: close\r\n\r\n",
		k.status, http.StatusText(k.status), len(body), retryRefused)
	return append(head, body...)
}
