package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"
)

const (
	// requestTimeout is longer than a server may let somebody wait: three target
	// durations, and those are a few seconds.
	requestTimeout = time.Minute
	dialTimeout    = 10 * time.Second

	maxAnswer = 1 << 20
)

// A viewer waits for one playlist, over one connection.
type viewer struct {
	playlist *url.URL
	header   string // what follows the request line
	request  []byte
	answer   []byte

	mu   sync.Mutex // guards what follows: another goroutine may end it
	conn net.Conn   // nil: there is none
	left bool
}

func newViewer(o options, playlist *url.URL) *viewer {
	header := o.header
	if header != "" {
		header += "\r\n"
	}
	return &viewer{playlist: playlist, header: " HTTP/1.1\r\nHost: " + playlist.Host + "\r\nUser-Agent: drover-waiters\r\nAccept: */*\r\n" + header + "\r\n"}
}

// arrive returns the first viewer, who has found the media playlist.
func arrive(ctx context.Context, o options) (*viewer, error) {
	v := newViewer(o, o.url)
	for {
		text, err := v.get("")
		if err != nil {
			v.close()
			return nil, err
		}
		variant := firstVariant(text)
		if variant == "" {
			return v, nil
		}
		if v.playlist, err = o.url.Parse(variant); err != nil || v.playlist.Host != o.url.Host || v.playlist.Scheme != o.url.Scheme {
			v.close()
			return nil, fmt.Errorf("the playlist names %q, which is not on the host under test", variant)
		}
		if err := ctx.Err(); err != nil {
			v.close()
			return nil, err
		}
	}
}

// wait asks for what comes next until the context ends.
func (v *viewer) wait(ctx context.Context, tally *tally) {
	defer v.close()
	// A request that waits ends with the run, and is no failure then.
	unwatch := context.AfterFunc(ctx, v.interrupt)
	defer unwatch()
	var next question
	for known := false; ctx.Err() == nil; {
		query := ""
		if known {
			query = next.query()
		}
		text, err := v.get(query)
		at := time.Now()
		var listed question
		if err == nil {
			listed, err = parseNext(text)
		}
		if err == nil && known && !next.before(listed) {
			err = errors.New("the answer does not have what was asked for")
		}
		if err != nil {
			if ctx.Err() == nil {
				tally.failed(err)
			}
			v.close()
			known = false
			if pause(ctx, time.Second) != nil {
				return
			}
			continue
		}
		if known {
			tally.answered(next, listed, at)
		} else {
			tally.arrived()
		}
		next, known = listed, true
	}
}

// interrupt ends a request that waits. It may be called while there is one.
func (v *viewer) interrupt() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.left = true
	if v.conn != nil {
		v.conn.Close()
	}
}

func (v *viewer) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn != nil {
		v.conn.Close()
		v.conn = nil
	}
}

// connect returns the connection, which is a new one after a failure.
func (v *viewer) connect() (net.Conn, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.left:
		return nil, net.ErrClosed
	case v.conn != nil:
		return v.conn, nil
	}
	address := v.playlist.Host
	if v.playlist.Port() == "" {
		address = net.JoinHostPort(v.playlist.Hostname(), "80")
	}
	conn, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		return nil, err
	}
	v.conn = conn
	return conn, nil
}

// get asks for the playlist and returns it; the next call overwrites it.
func (v *viewer) get(query string) ([]byte, error) {
	conn, err := v.connect()
	if err != nil {
		return nil, err
	}
	v.request = append(append(append(v.request[:0], "GET "...), v.playlist.EscapedPath()...), query...)
	v.request = append(v.request, v.header...)
	if err := conn.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(v.request); err != nil {
		return nil, err
	}
	return v.read(conn)
}

var headerEnd = []byte("\r\n\r\n")

// read reads one answer, and returns its body.
func (v *viewer) read(conn net.Conn) ([]byte, error) {
	v.answer = v.answer[:0]
	header, length := 0, 0
	for header == 0 || len(v.answer) < header+length {
		if len(v.answer) == cap(v.answer) {
			if cap(v.answer) >= maxAnswer {
				return nil, errors.New("an answer without end")
			}
			v.answer = append(make([]byte, 0, max(4<<10, 2*cap(v.answer))), v.answer...)
		}
		n, err := conn.Read(v.answer[len(v.answer):cap(v.answer)])
		v.answer = v.answer[:len(v.answer)+n]
		if err != nil {
			return nil, fmt.Errorf("the connection: %w", err)
		}
		if header > 0 {
			continue
		}
		if i := bytes.Index(v.answer, headerEnd); i >= 0 {
			header = i + len(headerEnd)
			if length, err = parseHeader(v.answer[:i]); err != nil {
				return nil, err
			}
		}
	}
	return v.answer[header : header+length], nil
}

// parseHeader returns the length of the body of an answer that is well.
func parseHeader(header []byte) (length int, err error) {
	status, fields, _ := bytes.Cut(header, []byte("\r\n"))
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		return 0, fmt.Errorf("answered %q", status)
	}
	for len(fields) > 0 {
		var field []byte
		field, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		name, value, _ := bytes.Cut(field, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || length < 0 || length > maxAnswer {
				return 0, fmt.Errorf("answered with Content-Length %q", value)
			}
			return length, nil
		}
	}
	return 0, errors.New("answered without Content-Length")
}
