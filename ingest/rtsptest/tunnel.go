package rtsptest

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strings"
)

// tunnelType is what both directions of a tunnel are declared as.
const tunnelType = "application/x-rtsp-tunnelled"

// isHTTP answers whether a connection begins with a request of HTTP.
func isHTTP(in *bufio.Reader) bool {
	start, err := in.Peek(len("POST"))
	return err == nil && (string(start) == "GET " || string(start) == "POST")
}

// serveHTTP serves one half of a tunnel. Of the half that answers it returns
// where the client's requests come from; the other half is over when it returns.
func (c *conn) serveHTTP(in *bufio.Reader) (requests *bufio.Reader, ok bool) {
	request, err := readHTTPRequest(in)
	if err != nil {
		return nil, false
	}
	camera := c.server.find("rtsp://tunnel" + request.URL)
	if camera == nil {
		c.replyHTTP("404 Not Found")
		return nil, false
	}
	config := camera.snapshot()
	cookie := request.Header("x-sessioncookie")
	switch {
	case !config.Tunnel && config.Transport != TransportTunnel, cookie == "":
		c.replyHTTP("404 Not Found")
		return nil, false
	case !config.authorized(request, c.server.nonce):
		c.replyHTTP("401 Unauthorized", "WWW-Authenticate: "+config.challenge(c.server.nonce))
		return nil, false
	case request.Method == "GET":
		return c.answerTunnel(in, cookie), true
	}
	c.server.feedTunnel(cookie, in)
	return nil, false
}

// answerTunnel begins the half on which the server answers.
func (c *conn) answerTunnel(in *bufio.Reader, cookie string) *bufio.Reader {
	read, write := io.Pipe()
	c.server.mu.Lock()
	c.server.tunnels[cookie] = write
	c.server.mu.Unlock()
	c.tunnelled = true
	c.replyHTTP("200 OK", "Content-Type: "+tunnelType, "Cache-Control: no-store")
	c.watchers.Go(func() {
		_, _ = io.Copy(io.Discard, in) // to its end, which is that of the tunnel
		_ = write.Close()
		c.server.mu.Lock()
		delete(c.server.tunnels, cookie)
		c.server.mu.Unlock()
	})
	return bufio.NewReaderSize(read, maxLineSize)
}

// feedTunnel decodes what comes to the half that answers, until one of them ends.
func (s *Server) feedTunnel(cookie string, in *bufio.Reader) {
	s.mu.Lock()
	to := s.tunnels[cookie]
	s.mu.Unlock()
	if to == nil {
		return
	}
	for {
		// Each group of four stands alone, so that padding may be anywhere.
		var coded [4]byte
		if _, err := io.ReadFull(in, coded[:]); err != nil {
			return
		}
		raw, err := base64.StdEncoding.AppendDecode(nil, coded[:])
		if err != nil {
			return
		}
		if _, err := to.Write(raw); err != nil {
			return
		}
	}
}

func (c *conn) replyHTTP(status string, headers ...string) {
	text := "HTTP/1.0 " + status + "\r\n" + strings.Join(append(headers, "", ""), "\r\n")
	_, _ = io.WriteString(c.net, text)
}

func readHTTPRequest(in *bufio.Reader) (*Request, error) {
	line, err := readLine(in)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(line, " ")
	if len(parts) != 3 || !strings.HasPrefix(parts[2], "HTTP/1.") {
		return nil, fmt.Errorf("not an HTTP request: %q", line)
	}
	request := &Request{Method: parts[0], URL: parts[1], headers: textproto.MIMEHeader{}}
	for range maxHeaders {
		if line, err = readLine(in); err != nil || line == "" {
			return request, err
		}
		name, value, _ := strings.Cut(line, ":")
		request.headers.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return nil, errors.New("too many headers")
}
