package wire

import (
	"io"
	"net/http"
	"runtime/debug"
	"syscall"
	"time"
)

// longAgo is a deadline that ends a wait.
var longAgo = time.Unix(1, 0)

// serve answers requests as long as they are simple, and hands the connection to
// net/http with the first that is not.
func (l *Listener) serve(c *Conn) {
	handed := false
	defer func() {
		l.mu.Lock()
		delete(l.conns, c)
		l.mu.Unlock()
		if !handed {
			_ = c.Close() // it is of no use to anybody any more
		}
	}()
	for timeout := l.options.ReadHeaderTimeout; ; timeout = l.options.IdleTimeout {
		c.expect(timeout)
		if l.closed.Load() { // after the deadline was set: closing ends those that were set before
			return
		}
		if err := c.next(); err != nil {
			return
		}
		x := l.exchanges.Get().(*exchange)
		simple := x.parse(c.in.buffer[:c.in.n], l.options.Prefixes)
		if !simple {
			c.ahead = append([]byte(nil), c.in.buffer[:c.in.n]...)
		}
		l.buffers.Put(c.in.buffer)
		c.in.buffer = nil
		if !simple {
			l.exchanges.Put(x)
			_ = c.tcp.SetReadDeadline(time.Time{}) // net/http sets its own
			handed = l.hand(c)
			return
		}
		if !l.answer(c, x) {
			return
		}
	}
}

// expect sets how long the next request may take to come, 0: for ever. To move a
// deadline on by little is not worth what it costs.
func (c *Conn) expect(timeout time.Duration) {
	if timeout <= 0 {
		_ = c.tcp.SetReadDeadline(time.Time{})
		return
	}
	until := time.Now().Add(timeout)
	if moved := until.Sub(c.until); moved > timeout/8 || moved < 0 {
		c.until = until
		_ = c.tcp.SetReadDeadline(until) // a closed connection shows at once
	}
}

// A reading is the next request of a connection, being read. It is part of the
// connection, for who waits is to hold as little as can be.
type reading struct {
	step   func(socket uintptr) bool
	buffer *buffer
	n      int
	err    error
}

// next waits for bytes of the client. They are in a buffer that is taken once there
// are any.
func (c *Conn) next() error {
	in := &c.in
	if in.step == nil {
		in.step = c.readSome
	}
	if err := c.raw.Read(in.step); err != nil {
		return err
	}
	if in.err == nil && in.n == 0 {
		in.err = io.EOF
	}
	if in.err != nil {
		c.listener.buffers.Put(in.buffer)
		in.buffer = nil
	}
	return in.err
}

func (c *Conn) readSome(socket uintptr) (done bool) {
	in := &c.in
	in.buffer = c.listener.buffers.Get().(*buffer)
	in.n, in.err = receive(int(socket), in.buffer[:])
	if in.err != syscall.EAGAIN {
		return true
	}
	c.listener.buffers.Put(in.buffer)
	in.buffer = nil
	return false
}

// answer calls the handler, and reports whether the connection goes on.
func (l *Listener) answer(c *Conn, x *exchange) (goesOn bool) {
	l.options.Counters.ahead.Add(1)
	if c.client == "" {
		c.client = c.tcp.RemoteAddr().String()
	}
	x.http.RemoteAddr = c.client
	x.client.conn = c
	x.response.reset(c, x.http.Method == http.MethodHead, l.dateLine(), l.closed.Load())
	defer func() {
		if reason := recover(); reason != nil {
			goesOn = false
			if reason != http.ErrAbortHandler {
				l.options.Log.Error("a handler failed in an unforeseen way", "path", x.url.Path, "reason", reason, "stack", string(debug.Stack()))
			}
		}
		x.response.free()
		if !x.client.end() {
			x.renew(l.options.Context)
		}
		l.exchanges.Put(x)
	}()
	l.options.Handler.ServeHTTP(&x.response, &x.http)
	return x.response.finish() == nil
}

// A dateLine is the header of all answers of one second.
type dateLine struct {
	second int64
	line   []byte
}

func (l *Listener) dateLine() []byte {
	now := time.Now()
	d := l.date.Load()
	if d == nil || d.second != now.Unix() {
		d = &dateLine{now.Unix(), append(now.UTC().AppendFormat([]byte("Date: "), http.TimeFormat), "\r\n"...)}
		l.date.Store(d)
	}
	return d.line
}
