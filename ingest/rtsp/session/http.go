package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// tunnelType is what both directions of a tunnel are declared as.
const tunnelType = "application/x-rtsp-tunnelled"

// An httpRequest makes the two requests of a tunnel. They are of HTTP/1.0, so
// that no answer comes in chunks.
type httpRequest struct {
	target    target
	port      uint16
	cookie    string
	userAgent string
	login     *login
}

func newCookie() string {
	var b [11]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func (r *httpRequest) get(dst []byte) []byte {
	return r.append(dst, "GET", header{"Accept", tunnelType})
}

// post has the length that QuickTime gave, and that every camera knows. The body
// goes on beyond it.
func (r *httpRequest) post(dst []byte) []byte {
	return r.append(dst, "POST", header{"Content-Type", tunnelType}, header{"Content-Length", "32767"},
		header{"Expires", "Sun, 9 Jan 1972 00:00:00 GMT"})
}

func (r *httpRequest) append(dst []byte, method string, extra ...header) []byte {
	path := r.target.path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	dst = append(dst, method+" "+path+" HTTP/1.0\r\n"...)
	return appendHeaders(dst, append([]header{
		{"Host", net.JoinHostPort(r.target.hostname(), strconv.Itoa(int(r.port)))},
		{"User-Agent", r.userAgent},
		{"x-sessioncookie", r.cookie},
		{"Pragma", "no-cache"},
		{"Cache-Control", "no-cache"},
		{"Authorization", r.login.authorization(method, path)},
	}, extra...))
}

// exchange sends a request and reads the head of its answer, and what came
// behind it.
func exchange(ctx context.Context, conn net.Conn, request []byte) (*message, []byte, error) {
	undo := interrupt(ctx, conn)
	defer undo()
	if _, err := conn.Write(request); err != nil {
		return nil, nil, orCause(ctx, err)
	}
	reply, rest, err := readHTTPHead(conn)
	return reply, rest, orCause(ctx, err)
}

// orCause returns why a connection was interrupted, where it was.
func orCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// readHTTPHead reads the head of an answer, and what came behind it.
func readHTTPHead(from io.Reader) (*message, []byte, error) {
	buffer := make([]byte, 0, 1<<10)
	for {
		n, err := from.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if end := headEnd(buffer); end > 0 {
			reply, err := parseHTTPHead(buffer[:end])
			return reply, buffer[end:], err
		}
		if len(buffer) >= len("HTTP/") && !isHTTPStart(buffer) {
			return nil, nil, errNoHTTP
		}
		if err != nil {
			return nil, nil, err
		}
		if len(buffer) == cap(buffer) {
			if len(buffer) >= maxHeadBytes {
				return nil, nil, fmt.Errorf("%w: more than %d bytes of headers", ErrTooLarge, maxHeadBytes)
			}
			buffer = append(buffer, make([]byte, len(buffer))...)[:len(buffer)]
		}
	}
}

// errNoHTTP is what does not even begin like an answer.
var errNoHTTP = fmt.Errorf("%w: what answers does not speak HTTP", ErrTransportRefused)

// isHTTPStart takes RTSP too: that is how a camera without tunnels may refuse.
func isHTTPStart(b []byte) bool {
	return strings.HasPrefix(string(b), "HTTP/") || strings.HasPrefix(string(b), "RTSP/")
}

func parseHTTPHead(head []byte) (*message, error) {
	if !isHTTPStart(head) {
		return nil, errNoHTTP
	}
	// But for the name of the protocol the two look the same.
	m, _, err := parseHead(append([]byte("RTSP/"), head[len("HTTP/"):]...))
	if errors.Is(err, errNotMessage) {
		return nil, errNoHTTP
	}
	return m, err
}

// opensTunnel reports whether an answer to the GET is the beginning of a tunnel,
// and not a page.
func (m *message) opensTunnel() bool {
	kind, _, _ := strings.Cut(m.get("Content-Type"), ";")
	kind = strings.TrimSpace(kind)
	return m.status == 200 && (kind == "" || strings.EqualFold(kind, tunnelType))
}
