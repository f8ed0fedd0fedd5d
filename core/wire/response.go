package wire

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A response is the http.ResponseWriter of a request that is answered ahead of
// net/http, and says what net/http's would: a test compares the two. Only that a
// long body of unknown length ends with the connection, and not in chunks.
type response struct {
	conn    *Conn
	buffers *sync.Pool // of *buffer
	buffer  *buffer    // nil before the header
	header  http.Header
	date    []byte // of now, as a header line
	isHead  bool   // the request is, so no body is sent

	status int    // 0 before the header
	typed  bool   // the header says of what type the body is
	head   []byte // of the answer, without its end; nil once it is sent
	body   []byte // gathered behind the head
	length int64  // of the body, -1: not known
	given  int64  // bytes of the body, by the handler
	close  bool   // the connection ends with the answer
	err    error  // of sending: the client is gone, or stuck
}

func (w *response) reset(c *Conn, isHead bool, date []byte, closing bool) {
	clear(w.header)
	*w = response{conn: c, buffers: w.buffers, header: w.header, isHead: isHead, date: date, close: closing}
}

// free gives the buffer back. The answer is over.
func (w *response) free() {
	if w.buffer != nil {
		w.buffers.Put(w.buffer)
		w.buffer, w.head, w.body = nil, nil, nil
	}
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

func (w *response) hasBody() bool {
	return w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.status != 0 || status < 200 { // what is only for information goes nowhere
		return
	}
	w.status, w.length = status, -1
	_, w.typed = w.header["Content-Type"]
	w.typed = w.typed || w.header["Content-Encoding"] != nil
	if declared := w.header["Content-Length"]; len(declared) > 0 {
		n, err := strconv.ParseInt(declared[0], 10, 64)
		if err != nil || n < 0 || status == http.StatusNoContent {
			delete(w.header, "Content-Length")
		} else if w.hasBody() {
			w.length = n
		}
	}
	if values := w.header["Connection"]; len(values) > 0 {
		w.close = w.close || strings.EqualFold(values[0], "close")
		delete(w.header, "Connection")
	}
	w.buffer = w.buffers.Get().(*buffer)
	w.body = w.buffer[headRoom:headRoom]
	w.head = w.appendHead(w.buffer[:0:headRoom]) // one that is longer lies elsewhere
}

// appendHead writes the head but for its end.
func (w *response) appendHead(dst []byte) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(w.status), 10)
	dst = append(dst, ' ')
	if text := http.StatusText(w.status); text != "" {
		dst = append(dst, text...)
	} else {
		dst = strconv.AppendInt(append(dst, "status code "...), int64(w.status), 10)
	}
	dst = append(dst, "\r\n"...)
	for name, values := range w.header {
		if !isToken(name) {
			continue
		}
		for _, value := range values {
			dst = append(append(dst, name...), ": "...)
			dst = appendValue(dst, value)
			dst = append(dst, "\r\n"...)
		}
	}
	if _, given := w.header["Date"]; !given {
		dst = append(dst, w.date...)
	}
	return dst
}

// appendValue keeps a value within its line.
func appendValue(dst []byte, value string) []byte {
	if strings.ContainsAny(value, "\r\n") {
		value = strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
	}
	return append(dst, strings.Trim(value, " \t")...)
}

// take counts n bytes of the body that are about to be sent, and says which must
// not be sent. The first of them tell their type, if nothing else does.
func (w *response) take(n int64, first []byte) error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.hasBody() {
		return http.ErrBodyNotAllowed
	}
	w.given += n
	if w.length >= 0 && w.given > w.length {
		return http.ErrContentLength
	}
	if w.head != nil && !w.typed && len(first) > 0 {
		w.typed = true
		w.head = append(append(append(w.head, "Content-Type: "...), http.DetectContentType(first)...), "\r\n"...)
	}
	return w.err
}

// Write implements http.ResponseWriter.
func (w *response) Write(data []byte) (int, error) {
	if err := w.take(int64(len(data)), data); err != nil {
		return 0, err
	}
	if w.isHead {
		return len(data), nil
	}
	if len(w.body)+len(data) <= gathered {
		w.body = append(w.body, data...)
		return len(data), nil
	}
	if err := w.flush(true); err != nil {
		return 0, err
	}
	n, err := w.conn.write(data, w.given < w.length)
	w.err = err
	return n, err
}

// ReadFrom implements io.ReaderFrom: the kernel sends what it can.
func (w *response) ReadFrom(source io.Reader) (int64, error) {
	file, n := sendable(source)
	if file == nil || w.isHead {
		return io.Copy(struct{ io.Writer }{w}, source)
	}
	if err := w.take(n, nil); err != nil {
		return 0, err
	}
	if err := w.flush(n > 0); err != nil {
		return 0, err
	}
	n, err := w.conn.ReadFrom(source)
	w.err = err
	return n, err
}

// flush sends the head, if that has not been done, and what was gathered. more says
// that other bytes follow at once, which the kernel then puts into the same packet.
func (w *response) flush(more bool) error {
	if w.err != nil {
		return w.err
	}
	out := w.body
	if w.head != nil {
		if head := w.end(w.head); len(head) <= headRoom {
			from := headRoom - copy(w.buffer[headRoom-len(head):headRoom], head)
			out = w.buffer[from : headRoom+len(w.body)]
		} else {
			out = append(head, w.body...)
		}
		w.head = nil
	}
	w.body = w.body[:0]
	if len(out) > 0 {
		_, w.err = w.conn.write(out, more)
	}
	return w.err
}

// end appends what a head ends with.
func (w *response) end(head []byte) []byte {
	// To a HEAD request, a handler need not say how long the body would be.
	if w.hasBody() && w.length < 0 && !w.isHead {
		w.close = true
	}
	if w.close {
		head = append(head, "Connection: close\r\n"...)
	}
	return append(head, "\r\n"...)
}

// Flush implements http.Flusher.
func (w *response) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	_ = w.flush(false) // the next write says what came of it
}

// SetWriteDeadline is for http.ResponseController. It holds for when the client has
// to be waited for: to tell the runtime costs more than most answers take.
func (w *response) SetWriteDeadline(t time.Time) error {
	w.conn.out.deadline = t
	return nil
}

var errShort = errors.New("wire: the handler gave less than it declared")

// finish ends the answer. An error says that the connection does not go on.
func (w *response) finish() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.head != nil && w.length < 0 && w.hasBody() && (!w.isHead || w.given > 0) {
		// All there is of the body is here.
		w.length = w.given
		w.head = append(strconv.AppendInt(append(w.head, "Content-Length: "...), w.length, 10), "\r\n"...)
	}
	if err := w.flush(false); err != nil {
		return err
	}
	switch {
	case !w.isHead && w.length >= 0 && w.given != w.length:
		return errShort
	case w.close:
		return io.EOF
	}
	return nil
}
