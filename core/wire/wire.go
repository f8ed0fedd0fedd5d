// Package wire holds the connections of the HTTP server, and what can be had by
// knowing them.
//
// # From the kernel
//
// Whatever copies a Sendable into an answer over plain HTTP/1.1, such as a
// memfile.Reader, ends in sendfile(2), without knowing of it. Middleware that wraps a
// ResponseWriter has to pass ReadFrom on.
//
// # Ahead of net/http
//
// For one answer net/http takes as much CPU time again as the kernel does. So a
// Listener may answer by itself, with the same handler: requests that are simple,
// which are nearly all that players and caches ask. What is simple is narrow (see
// request.parse), and what a handler sees and says is the same by both ways. The
// first request of a connection that is anything else goes to net/http with the
// connection, byte for byte as it came, and the connection stays there. So nothing
// here has to know how to go on after what it does not understand.
package wire

import "sync/atomic"

// Counters is what has come of all connections. Whoever makes them shares them.
type Counters struct {
	open         atomic.Int64
	ahead        atomic.Uint64
	kernelSends  atomic.Uint64
	kernelBytes  atomic.Uint64
	blocked      atomic.Int64
	blockedBytes atomic.Int64
}

// Stats is Counters at one moment.
type Stats struct {
	Open        int64  // connections
	Ahead       uint64 // requests that were answered ahead of net/http
	KernelSends uint64 // answers and parts of answers that the kernel sent from a file, in memory or on disk
	KernelBytes uint64

	// Connections whose client has to be waited for while something is sent to it,
	// and the bytes that they held when the wait began. Those of memory files lie in
	// pages of the file, which stay as long as they do, whether Drover has dropped
	// the file or not.
	Blocked      int64
	BlockedBytes int64
}

// Stats returns what has been counted so far.
func (c *Counters) Stats() Stats {
	return Stats{
		Open: c.open.Load(), Ahead: c.ahead.Load(), KernelSends: c.kernelSends.Load(), KernelBytes: c.kernelBytes.Load(),
		Blocked: c.blocked.Load(), BlockedBytes: c.blockedBytes.Load(),
	}
}
