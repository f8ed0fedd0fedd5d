// Package wire holds the connections of the HTTP server. Those that its Listener
// hands to net/http send memory files from the kernel: whatever copies a
// memfile.Reader into an answer over plain HTTP/1.1 ends in sendfile(2), without
// knowing of it. Middleware that wraps a ResponseWriter has to pass ReadFrom on.
package wire

import "sync/atomic"

// Counters is what has come of all connections. Whoever makes them shares them.
type Counters struct {
	open         atomic.Int64
	kernelSends  atomic.Uint64
	kernelBytes  atomic.Uint64
	blocked      atomic.Int64
	blockedBytes atomic.Int64
}

// Stats is Counters at one moment.
type Stats struct {
	Open        int64  // connections
	KernelSends uint64 // answers and parts of answers that the kernel sent from a memory file
	KernelBytes uint64

	// Connections whose client has to be waited for while a memory file is sent to
	// it, and the bytes that they held when the wait began: they lie in pages of the
	// file, which stay as long as they do, whether Drover has dropped the file or not.
	Blocked      int64
	BlockedBytes int64
}

// Stats returns what has been counted so far.
func (c *Counters) Stats() Stats {
	return Stats{
		Open: c.open.Load(), KernelSends: c.kernelSends.Load(), KernelBytes: c.kernelBytes.Load(),
		Blocked: c.blocked.Load(), BlockedBytes: c.blockedBytes.Load(),
	}
}
