package home

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// errStalled ends a request that moves no byte.
var errStalled = errors.New("no byte was moved in time")

// What an answer may have, at most: what the store sends is not trusted.
const (
	maxHeaderBytes = 64 << 10
	maxListBytes   = 4 << 20  // a list of a thousand names
	maxErrorBytes  = 64 << 10 // any answer that is no success
)

// A transport carries requests to the store. It bounds what comes back, and looks at
// the store's clock.
type transport struct {
	base  *http.Transport
	now   func() time.Time
	skew  atomic.Int64 // the store's clock minus ours, in nanoseconds, as of the last answer
	heard atomic.Bool  // an answer with a time came
}

func newTransport(stall time.Duration, now func() time.Time, atOnce int) *transport {
	dialer := &net.Dialer{Timeout: stall, KeepAlive: 30 * time.Second}
	return &transport{now: now, base: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      false, // an upload would share one window with all others
		MaxIdleConnsPerHost:    atOnce,
		IdleConnTimeout:        time.Minute,
		TLSHandshakeTimeout:    stall,
		ResponseHeaderTimeout:  4 * stall, // a store may look over gigabytes before it answers
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
		WriteBufferSize:        64 << 10,
		ReadBufferSize:         64 << 10,
	}}
}

// client returns what makes requests. It follows no redirect: a signature is for one
// host.
func (t *transport) client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		t.skew.Store(int64(at.Sub(t.now())))
		t.heard.Store(true)
	}
	switch {
	case answer.StatusCode >= 300:
		answer.Body = &bounded{answer.Body, maxErrorBytes}
	case r.Method != http.MethodGet || r.URL.Query().Has("list-type"):
		answer.Body = &bounded{answer.Body, maxListBytes}
	}
	return answer, nil
}

// bounded is a body of which no more than left is read.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the answer is too long")
	}
	n, err := b.ReadCloser.Read(into[:min(int64(len(into)), b.left)])
	b.left -= int64(n)
	return n, err
}

// A watch ends a request that stalls: nobody has called moved for as long as it was
// given.
type watch struct {
	timer *time.Timer
	limit time.Duration
}

// newWatch returns a watch and what it ends. stop lets go of both.
func newWatch(ctx context.Context, limit time.Duration) (_ context.Context, w *watch, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w = &watch{limit: limit}
	w.timer = time.AfterFunc(limit, func() { cancel(errStalled) })
	return ctx, w, func() {
		w.timer.Stop()
		cancel(context.Canceled)
	}
}

func (w *watch) moved() { w.timer.Reset(w.limit) }

// rest gives what follows a body that was sent another limit.
func (w *watch) rest(limit time.Duration) { w.timer.Reset(limit) }
