package api

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/drover-video/drover/core/wire"
)

// maxWrite is the most that is written under one deadline: a client too slow for
// it in that time is no use to anybody.
const maxWrite = 256 << 10

// An answer is a response that remembers whether it has begun, and whose write
// deadline moves on with each write: a long answer is fine, a stuck one is not.
// http.ResponseController reaches what is below it.
type answer struct {
	http.ResponseWriter
	controller *http.ResponseController
	timeout    time.Duration
	status     int // 0 before the header
	sent       int64
	broken     bool // a write failed: the client is gone, or stuck
}

func newAnswer(w http.ResponseWriter, timeout time.Duration) *answer {
	a := &answer{ResponseWriter: w, controller: http.NewResponseController(w), timeout: timeout}
	a.extend()
	return a
}

func (a *answer) extend() {
	// A writer without deadlines is one in memory, which cannot get stuck.
	_ = a.controller.SetWriteDeadline(time.Now().Add(a.timeout))
}

// WriteHeader implements http.ResponseWriter. The first status counts.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	if status >= 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (a *answer) Write(data []byte) (written int, err error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	for first := true; first || len(data) > 0; first = false {
		a.extend()
		n, err := a.ResponseWriter.Write(data[:min(len(data), maxWrite)])
		written += n
		a.sent += int64(n)
		if err != nil {
			a.broken = true
			return written, err
		}
		data = data[n:]
	}
	return written, nil
}

// ReadFrom implements io.ReaderFrom: a connection may have ways of its own to send
// what it is given, from memory files and from those on disk.
func (a *answer) ReadFrom(source io.Reader) (read int64, err error) {
	to, ok := a.ResponseWriter.(io.ReaderFrom)
	if !ok { // HTTP/2
		return io.Copy(writerOnly{a}, source)
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	for {
		a.extend()
		piece := source
		if _, moves := source.(wire.Sendable); !moves { // the deadline, by itself
			piece = io.LimitReader(source, maxWrite)
		}
		n, err := to.ReadFrom(piece)
		read += n
		a.sent += n
		if err != nil {
			a.broken = true
			return read, err
		}
		if piece == source || n < maxWrite {
			return read, nil
		}
	}
}

// writerOnly hides ReadFrom from io.Copy, which would call it again.
type writerOnly struct{ io.Writer }

// Flush implements http.Flusher.
func (a *answer) Flush() {
	a.extend()
	_ = a.controller.Flush() // A client that is gone shows at the next write.
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// recover turns a panic into a 500, or into a broken connection where the answer
// has begun: a cut answer must not look whole.
func (f *front) recover(a *answer, r *http.Request, reason any) {
	if reason == nil {
		return
	}
	// Huma panics where a client does not take its answer.
	if reason == http.ErrAbortHandler || a.broken {
		panic(http.ErrAbortHandler)
	}
	f.options.Log.Error("a request failed in an unforeseen way", "method", r.Method, "path", loggedPath(r.URL.Path),
		"request", a.Header().Get("X-Request-Id"), "reason", reason, "stack", string(debug.Stack()))
	if a.status != 0 {
		panic(http.ErrAbortHandler)
	}
	a.Header().Del("Content-Length")
	a.Header().Del("Content-Encoding")
	writeProblem(a, problem(problemInternal, "this should not have happened: the server's log says more"))
}

func (f *front) logAccess(a *answer, r *http.Request, started time.Time) {
	if !f.options.Log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	// Without the query, which may hold a token.
	f.options.Log.Debug("request", "method", r.Method, "path", loggedPath(r.URL.Path), "status", a.status, "bytes", a.sent,
		"took", time.Since(started), "client", r.RemoteAddr, "request", a.Header().Get("X-Request-Id"))
}

// requestID takes over the ID that a proxy gave, if it is one that can be
// printed anywhere.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 64 {
		return rand.Text()
	}
	for _, c := range []byte(id) {
		plain := c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !plain {
			return rand.Text()
		}
	}
	return id
}
