package api

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/drover-video/drover/core/config"
)

// A raw2 is a client of HTTP/2 that does not keep to it.
type raw2 struct {
	t      *testing.T
	conn   net.Conn
	framer *http2.Framer
	block  bytes.Buffer
	hpack  *hpack.Encoder
}

// raw2 opens a connection and says what every client of HTTP/2 begins with.
func (s *served) raw2(client *tls.Config) *raw2 {
	s.t.Helper()
	var conn net.Conn
	var err error
	if client != nil {
		client = client.Clone()
		client.NextProtos = []string{"h2"}
		conn, err = tls.Dial("tcp", s.address, client)
	} else {
		conn, err = net.Dial("tcp", s.address)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	r := &raw2{t: s.t, conn: conn, framer: http2.NewFramer(conn, conn)}
	r.hpack = hpack.NewEncoder(&r.block)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		s.t.Fatal(err)
	}
	if err := r.framer.WriteSettings(); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// headers returns a request's header block.
func (r *raw2) headers(path string) []byte {
	r.block.Reset()
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "x"}, {":path", path}} {
		_ = r.hpack.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // It goes to memory.
	}
	return r.block.Bytes()
}

// ask sends a whole request.
func (r *raw2) ask(stream uint32, path string) error {
	return r.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: r.headers(path), EndStream: true, EndHeaders: true})
}

// drain reads until the server closes, answering nothing.
func (r *raw2) drain() { _, _ = io.Copy(io.Discard, r.conn) }

func TestAReaderWhoTakesNothingGoes(t *testing.T) {
	server, client := secure(t)
	for name, test := range map[string]struct {
		secure, client *tls.Config
		ask            func(*served) net.Conn
	}{
		"HTTP/1.1": {nil, nil, func(s *served) net.Conn { return s.send("GET /hls/door/x HTTP/1.1\r\nHost: x\r\n\r\n") }},
		"h2c":      {nil, nil, func(s *served) net.Conn { return askOnce(s.raw2(nil)) }},
		"HTTPS by HTTP/2": {server, client, func(s *served) net.Conn {
			return askOnce(s.raw2(client))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			wrote := make(chan int64, 1)
			endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sum, piece := int64(0), make([]byte, 64<<10)
				for {
					n, err := w.Write(piece)
					sum += int64(n)
					if err != nil {
						wrote <- sum
						return
					}
				}
			})
			b := newBench(t, func(o *Options) { o.Media, o.WriteTimeout = endless, 200*time.Millisecond })
			s := serveTLS(t, b.handler, test.secure, nil)
			conn := test.ask(s)
			// A byte now and then is no progress.
			one := make([]byte, 1)
			if _, err := io.ReadFull(conn, one); err != nil {
				t.Fatal(err)
			}
			if sum := <-wrote; sum > 64<<20 {
				t.Errorf("%d bytes lie about for it", sum)
			}
			_ = conn.Close()
			s.end()
		})
	}
}

func askOnce(r *raw2) net.Conn {
	if err := r.ask(1, "/hls/door/x"); err != nil {
		r.t.Fatal(err)
	}
	return r.conn
}

func TestResetsInALoopCostABoundedAmount(t *testing.T) {
	var running, peak, begun atomic.Int64
	waits := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		now := running.Add(1)
		defer running.Add(-1)
		for {
			seen := peak.Load()
			if now <= seen || peak.CompareAndSwap(seen, now) {
				break
			}
		}
		<-r.Context().Done()
	})
	server, client := secure(t)
	for name, test := range map[string]struct{ secure, client *tls.Config }{"h2c": {nil, nil}, "HTTPS": {server, client}} {
		t.Run(name, func(t *testing.T) {
			s := serveTLS(t, waits, test.secure, func(l *config.HTTP) { l.IdleTimeout, l.ReadHeaderTimeout = time.Minute, time.Minute })
			r := s.raw2(test.client)
			var reader sync.WaitGroup
			reader.Go(r.drain)
			for stream := uint32(1); stream < 40000; stream += 2 {
				if r.ask(stream, "/x") != nil || r.framer.WriteRSTStream(stream, http2.ErrCodeCancel) != nil {
					break // The server has had enough, as it may.
				}
			}
			_ = r.conn.Close()
			reader.Wait()
			s.end() // Nothing runs any more when it returns.
			if peak.Load() > maxStreams2 || begun.Load() == 0 || running.Load() != 0 {
				t.Errorf("%d of %d requests at once, %d still run", peak.Load(), begun.Load(), running.Load())
			}
		})
	}
}

func TestAHeaderWithoutEndIsCutOff(t *testing.T) {
	s := serve(t, http.NotFoundHandler(), func(l *config.HTTP) { l.ReadHeaderTimeout = time.Minute })
	defer s.end()
	r := s.raw2(nil)
	var reader sync.WaitGroup
	reader.Go(r.drain)
	block := r.headers("/")
	err := r.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true})
	// A literal field, without indexing: name "x" and 120 bytes of value.
	field := append([]byte{0x00, 0x01, 'x', 120}, bytes.Repeat([]byte("v"), 120)...)
	sent := 0
	for err == nil && sent < 64<<20 {
		err = r.framer.WriteContinuation(1, false, field)
		sent += len(field)
	}
	if err == nil {
		t.Errorf("the server reads a header of %d bytes", sent)
	}
	reader.Wait()
}

func TestAHeaderThatIsTooLargeIsRefusedInHTTP2(t *testing.T) {
	s := serve(t, http.NotFoundHandler(), nil)
	defer s.end()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	request, _ := http.NewRequest("GET", "http://"+s.address+"/", nil)
	request.Header.Set("X-Large", strings.Repeat("x", 30<<10))
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err == nil {
		defer response.Body.Close()
		if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", response.StatusCode)
		}
	}
}

func TestAClientThatFallsSilentIsCutOff(t *testing.T) {
	server, client := secure(t)
	fine := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secured := serve(t, fine, nil), serveTLS(t, fine, server, nil)
	defer plain.end()
	defer secured.end()
	for name, begin := range map[string]func() net.Conn{
		"before the handshake":  func() net.Conn { return secured.send("") },
		"in the handshake":      func() net.Conn { return secured.send("\x16\x03\x01\x02\x00\x01") },
		"in the preface":        func() net.Conn { return plain.send(http2.ClientPreface[:10]) },
		"after the preface":     func() net.Conn { return plain.raw2(nil).conn },
		"after one over HTTP/2": func() net.Conn { return askOnce(secured.raw2(client)) },
		"in a header of HTTP/2": func() net.Conn {
			r := plain.raw2(nil)
			if err := r.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: r.headers("/")}); err != nil {
				t.Fatal(err)
			}
			return r.conn
		},
		"in a frame": func() net.Conn {
			r := plain.raw2(nil)
			if _, err := r.conn.Write([]byte{0, 1, 0, 1, 4}); err != nil {
				t.Fatal(err)
			}
			return r.conn
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := begin()
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			_, err := io.Copy(io.Discard, conn)
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Error("it is still there")
			}
		})
	}
}
