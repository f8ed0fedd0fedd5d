package wire

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options is what a Listener needs.
type Options struct {
	Patience time.Duration  // a client that takes no byte for so long is cut off
	Counters *Counters      // what has come of connections
	Closed   func(net.Conn) // is told of each connection of the inner listener that has ended; nil: nobody

	// Handler answers ahead of net/http what asks for paths with one of the prefixes.
	// It may keep a request no longer than it runs. nil: net/http has it all. Ahead
	// of net/http there is Linux alone.
	Handler           http.Handler
	Prefixes          []string
	Context           context.Context // of requests, until their client leaves
	ReadHeaderTimeout time.Duration
	IdleTimeout       time.Duration
	Log               *slog.Logger // of handlers that panic; nil: none
}

// A Listener is a net.Listener whose connections send from the kernel, and which
// keeps those to itself whose requests it can answer.
type Listener struct {
	inner   net.Listener
	options Options

	departures *departures // nil: nothing is answered ahead of net/http
	unwatch    func() bool // of the options' context

	exchanges sync.Pool     // of *exchange
	buffers   sync.Pool     // of *buffer
	handed    chan net.Conn // to net/http
	failed    chan error    // of accepting
	done      chan struct{} // closed by Close

	mu     sync.Mutex // guards what follows, and that no connection begins once closed
	closed atomic.Bool
	conns  map[*Conn]struct{} // ahead of net/http
	serves sync.WaitGroup     // accepting, and those connections
	date   atomic.Pointer[dateLine]
}

// NewListener returns a listener over inner, which it owns. Of inner, connections
// are of TCP; others are handed on as they are.
func NewListener(inner net.Listener, options Options) *Listener {
	if options.Closed == nil {
		options.Closed = func(net.Conn) {}
	}
	if options.Context == nil {
		options.Context = context.Background()
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	l := &Listener{inner: inner, options: options, handed: make(chan net.Conn), failed: make(chan error), done: make(chan struct{}), conns: map[*Conn]struct{}{}}
	l.exchanges.New = func() any { return l.newExchange() }
	l.buffers.New = func() any { return new(buffer) }
	if options.Handler == nil || !canAnswer {
		return l
	}
	var err error
	if l.departures, err = newDepartures(); err != nil {
		options.Log.Warn("all requests are answered by net/http, which costs more", "err", err)
		return l
	}
	l.unwatch = context.AfterFunc(options.Context, l.interrupt)
	l.serves.Go(l.accept)
	return l
}

func (l *Listener) isAhead() bool { return l.departures != nil }

// interrupt ends the requests that wait, as the context of all has ended.
func (l *Listener) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.interrupt()
	}
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Accept implements net.Listener: it returns connections that net/http is to serve.
func (l *Listener) Accept() (net.Conn, error) {
	if !l.isAhead() {
		return l.acceptOne()
	}
	select {
	case c := <-l.handed:
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *Listener) acceptOne() (net.Conn, error) {
	conn, err := l.inner.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn, nil
	}
	c, err := newConn(tcp, l)
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	return c, nil
}

// accept begins connections until the listener is closed. Errors are net/http's to
// judge, which waits before it accepts again, and this does with it.
func (l *Listener) accept() {
	for {
		conn, err := l.acceptOne()
		if err != nil {
			select {
			case l.failed <- err:
				continue
			case <-l.done:
				return
			}
		}
		c, ok := conn.(*Conn)
		if !ok {
			l.hand(conn)
			continue
		}
		if !l.begin(c) {
			_ = c.Close()
		}
	}
}

// begin serves a connection, unless the listener is closed.
func (l *Listener) begin(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Load() {
		return false
	}
	l.conns[c] = struct{}{}
	l.serves.Go(func() { l.serve(c) })
	return true
}

// hand gives a connection to net/http, which is not there any more once the
// listener is closed.
func (l *Listener) hand(c net.Conn) bool {
	select {
	case l.handed <- c:
		return true
	case <-l.done:
		return false
	}
}

// Close implements net.Listener. Connections ahead of net/http that wait for a
// request end; answers under way go on.
func (l *Listener) Close() error {
	err := l.inner.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Swap(true) {
		return err
	}
	close(l.done)
	for c := range l.conns {
		_ = c.tcp.SetReadDeadline(longAgo) // who is closed already needs no more
	}
	return err
}

// Shutdown closes the listener and waits for answers under way ahead of net/http.
// When ctx ends it cuts them off, and does not wait for handlers.
func (l *Listener) Shutdown(ctx context.Context) error {
	_ = l.Close() // the second time, as a rule
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.serves.Wait()
		if l.isAhead() {
			l.unwatch()
			l.departures.stop()
		}
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close() // cut off
	}
	return ctx.Err()
}
