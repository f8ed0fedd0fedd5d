package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Bounds of what a server may answer.
const (
	maxHeaderLines   = 100
	maxPlaylistBytes = 4 << 20
	requestTimeout   = 10 * time.Second
)

// A connection is one viewer's keep-alive HTTP/1.1 connection. net/http would
// spend more on a request than the server under test does, on the same cores.
type connection struct {
	address string
	header  string // what follows the request line
	conn    *net.TCPConn
	reader  *bufio.Reader
	scratch []byte // shared by all viewers: nothing is ever written to it
}

// discardBytes is how much of a body one call may throw away.
const discardBytes = 1 << 20

func newConnection(host, address, header string, scratch []byte) *connection {
	if header != "" {
		header += "\r\n"
	}
	return &connection{
		address: address,
		header:  " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: drover-herd\r\nAccept: */*\r\n" + header + "\r\n",
		reader:  bufio.NewReaderSize(nil, 4096),
		scratch: scratch,
	}
}

// A failure is a request that went wrong, with the kind it is counted under.
type failure struct {
	kind string
	err  error
}

func (f *failure) Error() string { return f.kind + ": " + f.err.Error() }

func failed(kind string, err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		kind = "timeout"
	}
	return &failure{kind: kind, err: err}
}

func (c *connection) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// get asks for a path and returns the length of the answer's body, which is
// still to be read. After an error the connection is closed; the next request
// makes a new one.
func (c *connection) get(path string) (length int64, err error) {
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.address, requestTimeout)
		if err != nil {
			return 0, failed("dial", err)
		}
		c.conn = conn.(*net.TCPConn)
		c.reader.Reset(c.conn)
	}
	if err := c.conn.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
		return 0, failed("closed", err)
	}
	if _, err := io.WriteString(c.conn, "GET "+path+c.header); err != nil {
		return 0, failed("closed", err)
	}
	return c.readHeader()
}

func (c *connection) readHeader() (length int64, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, failed("closed", err)
	}
	status, err := parseStatus(line)
	if err != nil {
		return 0, failed("malformed", err)
	}
	length = -1
	for range maxHeaderLines {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, failed("closed", err)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return checkAnswer(status, length)
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil || length < 0 {
				return 0, failed("malformed", fmt.Errorf("content-length %q", value))
			}
		}
	}
	return 0, failed("malformed", errors.New("too many header lines"))
}

func checkAnswer(status int, length int64) (int64, error) {
	if status != 200 {
		return 0, failed("status "+strconv.Itoa(status), errors.New("answered instead of 200"))
	}
	if length < 0 {
		return 0, failed("no length", errors.New("answer without Content-Length"))
	}
	return length, nil
}

// parseStatus reads the 200 of "HTTP/1.1 200 OK".
func parseStatus(line []byte) (int, error) {
	fields := bytes.Fields(line)
	if len(fields) < 2 || !bytes.HasPrefix(fields[0], []byte("HTTP/1.")) || len(fields[1]) != 3 {
		return 0, fmt.Errorf("status line %q", line)
	}
	return strconv.Atoi(string(fields[1]))
}

// appendBody reads a body and appends it to dst.
func (c *connection) appendBody(dst []byte, length int64) ([]byte, error) {
	if length > maxPlaylistBytes {
		c.close()
		return dst, failed("too long", fmt.Errorf("a playlist of %d bytes", length))
	}
	start := len(dst)
	dst = append(dst, make([]byte, length)...)
	if _, err := io.ReadFull(c.reader, dst[start:]); err != nil {
		c.close()
		return dst[:start], failed("cut short", err)
	}
	return dst, nil
}

// discardBody throws a body away: what is not in the reader yet stays in the
// kernel, which is told to drop it uncopied.
func (c *connection) discardBody(length int64) error {
	buffered := min(length, int64(c.reader.Buffered()))
	if _, err := c.reader.Discard(int(buffered)); err != nil {
		c.close()
		return failed("cut short", err)
	}
	if err := c.discardReceived(length - buffered); err != nil {
		c.close()
		return failed("cut short", err)
	}
	return nil
}

func (c *connection) discardReceived(left int64) error {
	raw, err := c.conn.SyscallConn()
	if err != nil {
		return err
	}
	for left > 0 {
		var n int
		var callErr error
		err := raw.Read(func(fd uintptr) bool {
			// tcp(7): with MSG_TRUNC received bytes are discarded, not copied.
			for {
				n, _, callErr = syscall.Recvfrom(int(fd), c.scratch[:min(left, discardBytes)], syscall.MSG_TRUNC)
				if callErr != syscall.EINTR {
					return callErr != syscall.EAGAIN
				}
			}
		})
		switch {
		case err != nil:
			return err
		case callErr != nil:
			return callErr
		case n == 0:
			return io.ErrUnexpectedEOF
		}
		left -= int64(n)
	}
	return nil
}
