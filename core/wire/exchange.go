package wire

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"
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
	values [maxFields]string // of the header
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

	mu      sync.Mutex
	gone    chan struct{} // nil: nobody has asked
	left    bool          // gone is closed
	unwatch func() bool
	watch   sync.WaitGroup
}

// Done implements context.Context.
func (x *clientContext) Done() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone == nil {
		x.gone = make(chan struct{})
		x.unwatch = context.AfterFunc(x.Context, x.leave)
		_ = x.conn.tcp.SetReadDeadline(time.Time{}) // that of the request
		x.watch.Go(func() {
			if x.conn.awaitEnd() {
				x.leave()
			}
		})
	}
	return x.gone
}

// Err implements context.Context.
func (x *clientContext) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.left {
		return context.Canceled
	}
	return x.Context.Err()
}

func (x *clientContext) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.left {
		x.left = true
		close(x.gone)
	}
}

// end ends the context with the request, and reports whether it can be another's:
// who has asked for Done may still have it.
func (x *clientContext) end() (reusable bool) {
	x.mu.Lock()
	asked := x.gone != nil
	x.mu.Unlock()
	if !asked {
		x.conn = nil
		return true
	}
	x.unwatch()
	_ = x.conn.tcp.SetReadDeadline(longAgo) // ends the watch
	x.watch.Wait()
	x.leave()
	return false
}

// awaitEnd waits until the client has closed the connection, and reports false
// when it is not the one to be waited for any more. What the client sends stays
// where it is.
func (c *Conn) awaitEnd() (ended bool) {
	err := c.raw.Read(func(socket uintptr) (done bool) {
		ended, done = peek(int(socket))
		return done
	})
	return ended && err == nil
}
