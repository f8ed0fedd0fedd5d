package rtsptest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
)

// Bounds of what a client may send.
const (
	maxHeaders  = 100
	maxLineSize = 8 << 10
	maxBodySize = 64 << 10
)

// Request is an RTSP request as it came.
type Request struct {
	Method string
	URL    string
	Body   []byte

	headers textproto.MIMEHeader
}

// Header returns the first value of a header, "" if there is none.
func (r *Request) Header(name string) string { return r.headers.Get(name) }

// readRequest reads the next request and steps over interleaved frames.
func readRequest(in *bufio.Reader) (*Request, error) {
	for {
		first, err := in.Peek(1)
		if err != nil {
			return nil, err
		}
		if first[0] != '$' {
			break
		}
		frame, err := in.Peek(framingSize)
		if err != nil {
			return nil, err
		}
		if _, err := in.Discard(framingSize + int(frame[2])<<8 + int(frame[3])); err != nil {
			return nil, err
		}
	}
	line, err := readLine(in)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(line, " ")
	if len(parts) != 3 || parts[2] != "RTSP/1.0" {
		return nil, fmt.Errorf("not an RTSP request: %q", line)
	}
	request := &Request{Method: parts[0], URL: parts[1], headers: textproto.MIMEHeader{}}
	for range maxHeaders {
		if line, err = readLine(in); err != nil {
			return nil, err
		}
		if line == "" {
			request.Body, err = readBody(in, request.Header("Content-Length"))
			return request, err
		}
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, fmt.Errorf("not a header: %q", line)
		}
		request.headers.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return nil, errors.New("too many headers")
}

func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n') // no longer than the reader's buffer
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

func readBody(in *bufio.Reader, length string) ([]byte, error) {
	if length == "" {
		return nil, nil
	}
	size, err := strconv.Atoi(length)
	if err != nil || size < 0 || size > maxBodySize {
		return nil, fmt.Errorf("content length %q", length)
	}
	body := make([]byte, size)
	_, err = io.ReadFull(in, body)
	return body, err
}

// response is an answer in the making.
type response struct {
	status  int
	headers []string // "Name: value"
	body    string
}

func (r *response) add(format string, args ...any) {
	r.headers = append(r.headers, fmt.Sprintf(format, args...))
}

func (r *response) appendTo(dst []byte, cseq string, noReason bool) []byte {
	dst = fmt.Appendf(dst, "RTSP/1.0 %d", r.status)
	if !noReason {
		dst = fmt.Appendf(dst, " %s", reason(r.status))
	}
	dst = fmt.Appendf(dst, "\r\nCSeq: %s\r\n", cseq)
	for _, header := range r.headers {
		dst = fmt.Appendf(dst, "%s\r\n", header)
	}
	if r.body != "" {
		dst = fmt.Appendf(dst, "Content-Length: %d\r\n", len(r.body))
	}
	dst = append(dst, "\r\n"...)
	return append(dst, r.body...)
}

func reason(status int) string {
	switch status {
	case 200:
		return "OK"
	case 302:
		return "Moved Temporarily"
	case 400:
		return "Bad Request"
	case 401:
		return "Unauthorized"
	case 404:
		return "Not Found"
	case 453:
		return "Not Enough Bandwidth"
	case 454:
		return "Session Not Found"
	case 455:
		return "Method Not Valid In This State"
	case 461:
		return "Unsupported Transport"
	case 501:
		return "Not Implemented"
	case 503:
		return "Service Unavailable"
	default:
		return "Because"
	}
}
