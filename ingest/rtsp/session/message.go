package session

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of what a camera may say.
const (
	maxLineBytes = 8 << 10
	maxHeaders   = 64
	maxHeadBytes = 32 << 10
	maxBodyBytes = 64 << 10
)

// errNotMessage marks bytes that began like a message and are none.
var errNotMessage = errors.New("not an RTSP message")

// A message is a reply or a request from the camera.
type message struct {
	method  string // of a request; "" in a reply
	status  int    // of a reply
	reason  string // of a reply, as the camera wrote it
	headers []header
	body    []byte
}

type header struct{ name, value string }

// get returns the first value of a header, or "".
func (m *message) get(name string) string {
	for _, h := range m.headers {
		if strings.EqualFold(h.name, name) {
			return h.value
		}
	}
	return ""
}

// values returns all values of a header.
func (m *message) values(name string) []string {
	var out []string
	for _, h := range m.headers {
		if strings.EqualFold(h.name, name) {
			out = append(out, h.value)
		}
	}
	return out
}

// retryAfter is the Retry-After header where it is a sane number of seconds.
func (m *message) retryAfter() time.Duration {
	seconds, err := strconv.Atoi(m.get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 3600 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// cseq returns the number of the request that a reply answers; false when the
// camera does not say.
func (m *message) cseq() (int, bool) {
	n, err := strconv.Atoi(m.get("CSeq"))
	return n, err == nil
}

// headEnd returns the length of the head of a message including its blank
// line, or 0 when that has not arrived. Bare line feeds are taken as well.
func headEnd(b []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		next := from + i + 1
		switch {
		case next < len(b) && b[next] == '\n':
			return next + 1
		case next+1 < len(b) && b[next] == '\r' && b[next+1] == '\n':
			return next + 2
		}
		from = next
	}
}

// parseHead reads the head of a message and says how long its body is.
func parseHead(head []byte) (*message, int, error) {
	m := &message{}
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if err := m.parseFirstLine(strings.TrimRight(string(line), "\r ")); err != nil {
		return nil, 0, err
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if len(line) > maxLineBytes {
			return nil, 0, fmt.Errorf("%w: a header line of %d bytes", ErrTooLarge, len(line))
		}
		if err := m.addHeader(line); err != nil {
			return nil, 0, err
		}
	}
	length, err := m.bodyLength()
	return m, length, err
}

// parseFirstLine takes replies without a reason, with or without the blank
// that should stand before it, and any version 1 or 2.
func (m *message) parseFirstLine(line string) error {
	if len(line) > maxLineBytes {
		return fmt.Errorf("%w: a first line of %d bytes", ErrTooLarge, len(line))
	}
	first, rest, _ := strings.Cut(line, " ")
	if strings.HasPrefix(first, "RTSP/") {
		code, reason, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
		status, err := strconv.Atoi(code)
		if err != nil || status < 100 || status > 999 {
			return errNotMessage
		}
		m.status, m.reason = status, strings.TrimSpace(reason)
		return nil
	}
	if !strings.Contains(rest, "RTSP/") {
		return errNotMessage
	}
	m.method = first
	return nil
}

func (m *message) addHeader(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if len(m.headers) == maxHeaders {
		return fmt.Errorf("%w: more than %d headers", ErrTooLarge, maxHeaders)
	}
	if line[0] == ' ' || line[0] == '\t' { // a folded line goes on with the one before
		if n := len(m.headers); n > 0 {
			m.headers[n-1].value += " " + string(bytes.TrimSpace(line))
		}
		return nil
	}
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found {
		return nil // firmware noise: nothing of it is needed
	}
	m.headers = append(m.headers, header{string(bytes.TrimSpace(name)), string(bytes.TrimSpace(value))})
	return nil
}

func (m *message) bodyLength() (int, error) {
	text := m.get("Content-Length")
	if text == "" {
		return 0, nil
	}
	length, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, nil // firmware noise: without a length there is no body
	}
	if length > maxBodyBytes {
		return 0, fmt.Errorf("%w: a body of %d bytes", ErrTooLarge, length)
	}
	return int(length), nil
}

// appendRequest appends a request in wire form.
func appendRequest(dst []byte, method, uri string, headers []header) []byte {
	dst = append(dst, method...)
	dst = append(dst, ' ')
	dst = append(dst, uri...)
	dst = append(dst, " RTSP/1.0\r\n"...)
	return appendHeaders(dst, headers)
}

// appendReply appends the reply to a camera's request in wire form.
func appendReply(dst []byte, status int, reason string, headers []header) []byte {
	dst = append(dst, "RTSP/1.0 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, ' ')
	dst = append(dst, reason...)
	dst = append(dst, "\r\n"...)
	return appendHeaders(dst, headers)
}

func appendHeaders(dst []byte, headers []header) []byte {
	for _, h := range headers {
		if h.value == "" {
			continue
		}
		dst = append(dst, h.name...)
		dst = append(dst, ": "...)
		dst = append(dst, h.value...)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...)
}
