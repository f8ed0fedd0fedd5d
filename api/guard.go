package api

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

const (
	maxBodyBytes = 1 << 20
	bodyTimeout  = 10 * time.Second

	// maxSwallowedBytes of a body that is too large are read all the same, for a
	// client that is still sending when the connection ends sees that it was
	// reset, and not the answer.
	maxSwallowedBytes = 16 << 20
)

// guard refuses writes that a web page of another site makes a browser send, and
// bodies that are too large. A body must say that it is JSON: a form cannot.
func guard(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := protection.Check(r); err != nil {
			writeProblem(w, problem(problemCrossOrigin, "the request comes from a page of another site"))
			return
		}
		hasBody := r.ContentLength != 0
		if contentType := r.Header.Get("Content-Type"); writes(r.Method) && (hasBody || contentType != "") && !isJSON(contentType) {
			writeProblem(w, problem(problemMediaType, "send the body as Content-Type: application/json"))
			return
		}
		if r.ContentLength > maxBodyBytes {
			swallow(r)
			w.Header().Set("Connection", "close") // Rather than read on to the next request.
			writeProblem(w, problem(problemTooLarge, fmt.Sprintf("a body has at most %d bytes", maxBodyBytes)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// swallow reads a body that nobody wants, within bounds. A client that asks
// whether it may send it needs no more than the answer.
func swallow(r *http.Request) {
	if r.ContentLength > maxSwallowedBytes || r.Header.Get("Expect") != "" {
		return
	}
	// What cannot be read changes nothing: the answer is the same.
	_, _ = io.Copy(io.Discard, r.Body)
}

func writes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

func isJSON(contentType string) bool {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != "application/json" {
		return false
	}
	charset, given := parameters["charset"]
	return !given || charset == "utf-8" || charset == "UTF-8"
}

// timed returns a request whose body, if it announces one, must come in time. That
// holds for bodies that nobody reads too: net/http reads on to their end before it
// answers. Between requests it sets deadlines of its own.
func timed(w http.ResponseWriter, r *http.Request, timeout time.Duration) *http.Request {
	if r.ContentLength == 0 {
		return r
	}
	// net/http goes by the kind of the body in its own request: that stays as it is.
	r = r.WithContext(r.Context())
	r.Body = newTimedBody(w, r.Body, timeout)
	return r
}

// A timedBody must come in time. The deadline ends with the body: left alone, it
// would end a long request that has been read in full.
type timedBody struct {
	io.ReadCloser
	controller *http.ResponseController
}

func newTimedBody(w http.ResponseWriter, body io.ReadCloser, timeout time.Duration) *timedBody {
	b := &timedBody{ReadCloser: body, controller: http.NewResponseController(w)}
	// A request without deadlines is one in memory, which cannot be slow.
	_ = b.controller.SetReadDeadline(time.Now().Add(timeout))
	return b
}

// Read implements io.Reader.
func (b *timedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err == io.EOF {
		_ = b.controller.SetReadDeadline(time.Time{})
	}
	return n, err
}
