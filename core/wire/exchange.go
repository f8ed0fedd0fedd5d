package wire

import (
	"context"
	"net/http"
	"net/url"
	"sync"
)

// An exchange is a simple request and its answer. A connection that waits for a
// request has none.
type exchange struct {
	request
	response response
}

// A buffer holds a request while it is read, and then what of its answer is sent in
// one write: first the head's room, then that of a body. A handler that waits has
// none.
type buffer [headRoom + gathered]byte

const (
	headRoom = 2 << 10
	gathered = 8 << 10 // of a body

	maxRequest = headRoom + gathered
)

type request struct {
	http   http.Request
	blank  http.Request // what it begins as: it has the client for its context
	url    url.URL
	header http.Header
	values [usualFields]string // of the header
	client *clientContext
}

func (l *Listener) newExchange() *exchange {
	x := &exchange{}
	x.header, x.response.header = http.Header{}, http.Header{}
	x.response.buffers = &l.buffers
	x.renew(l.options.Context)
	return x
}

// renew gives the request another context: somebody may still have the last one.
func (r *request) renew(server context.Context) {
	r.client = &clientContext{Context: server}
	r.blank = *new(http.Request).WithContext(r.client)
}

// A clientContext ends with the server's context or when the client leaves.
// Whether it leaves is only watched once somebody asks: most answers are given
// before anybody could.
type clientContext struct {
	context.Context // the server's
	conn            *Conn

	mu   sync.Mutex
	gone chan struct{} // nil: nobody has asked
	over bool          // gone is closed
}

// Done implements context.Context.
func (x *clientContext) Done() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone == nil {
		x.gone = make(chan struct{})
		// Told first, and looked at then: who leaves in between is seen by one of both.
		if x.conn.waits(x) || x.Context.Err() != nil {
			x.over = true
			close(x.gone)
		}
	}
	return x.gone
}

// Err implements context.Context.
func (x *clientContext) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return context.Canceled
	}
	return x.Context.Err()
}

func (x *clientContext) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone != nil && !x.over {
		x.over = true
		close(x.gone)
	}
}

// end ends the context with the request, and reports whether it can be another's:
// who has asked for Done may still have it.
func (x *clientContext) end() (reusable bool) {
	x.mu.Lock()
	asked := x.gone != nil
	x.mu.Unlock()
	if asked {
		x.conn.waiting.Store(nil)
		x.leave()
	}
	x.conn = nil
	return !asked
}

// waits has x end when the client leaves, and reports whether it has left already.
func (c *Conn) waits(x *clientContext) (left bool) {
	c.waiting.Store(x)
	if c.departure == 0 { // this goroutine alone sets it
		c.listener.departures.watch(c)
	}
	return c.departed.Load()
}

// left is told that the client has left. Others may call it at any time.
func (c *Conn) left() {
	c.departed.Store(true)
	c.interrupt()
}

// interrupt ends the request that waits, if one does.
func (c *Conn) interrupt() {
	if x := c.waiting.Load(); x != nil {
		x.leave()
	}
}
