package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/memfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A bench is a server over a Listener whose handler answers with a memory file.
type bench struct {
	t        *testing.T
	address  string
	data     []byte
	file     *memfile.File
	counters Counters
}

const longPatience = time.Minute

// The two ways to an answer.
const (
	throughNetHTTP = "through net/http"
	aheadOfIt      = "ahead of net/http"
)

// byEachWay runs a test for both.
func byEachWay(t *testing.T, test func(t *testing.T, way string)) {
	for _, way := range []string{throughNetHTTP, aheadOfIt} {
		t.Run(way, func(t *testing.T) { test(t, way) })
	}
}

func newBench(t *testing.T, way string, size int, patience time.Duration) *bench {
	t.Helper()
	b := &bench{t: t, data: make([]byte, size)}
	for i := range b.data {
		b.data[i] = byte(i>>10) ^ byte(i)
	}
	if memfile.Sendable {
		var err error
		if b.file, err = memfile.NewBudget(1, 1<<30).New([][]byte{b.data}, int64(size)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.file.Close)
	}
	b.address = newService(t, way, http.HandlerFunc(b.answer), patience, &b.counters).address
	return b
}

// A service is a handler behind a Listener.
type service struct {
	t        *testing.T
	address  string
	listener *Listener
	server   *http.Server
	ended    chan struct{}
	cancel   context.CancelFunc
}

func newService(t *testing.T, way string, handler http.Handler, patience time.Duration, counters *Counters) *service {
	t.Helper()
	tcp, err := Listen(t.Context(), "127.0.0.1:0", "", patience)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, address: tcp.Addr().String(), ended: make(chan struct{})}
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.Background())
	options := Options{Patience: patience, Counters: counters, Context: ctx, ReadHeaderTimeout: longPatience, IdleTimeout: longPatience}
	if way == aheadOfIt {
		options.Handler, options.Prefixes = handler, []string{"/"}
	}
	s.listener = NewListener(tcp, options)
	s.server = &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(s.listener)
	}()
	t.Cleanup(s.stop)
	return s
}

// stop lets answers under way end, and returns when nothing runs any more.
func (s *service) stop() {
	s.cancel()
	if err := s.server.Shutdown(context.Background()); err != nil {
		s.t.Error(err)
	}
	if err := s.listener.Shutdown(context.Background()); err != nil {
		s.t.Error(err)
	}
	<-s.ended
}

// source is what a handler gives to a response: on systems without memory files
// the bytes.
func (b *bench) source(offset, n int64) io.Reader {
	if b.file == nil {
		return bytes.NewReader(b.data[offset : offset+n])
	}
	return b.file.Reader(offset, n)
}

func (b *bench) answer(w http.ResponseWriter, r *http.Request) {
	offset, n := int64(0), int64(len(b.data))
	status := http.StatusOK
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &offset, &n); err == nil {
		n -= offset - 1
		status = http.StatusPartialContent
	}
	w.Header().Set("Content-Length", fmt.Sprint(n))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	source := b.source(offset, n)
	if r.URL.Path == "/limited" {
		source = io.LimitReader(b.source(offset, int64(len(b.data))-offset), n)
	}
	_, _ = io.Copy(w, source) // a client that left is seen by the test itself
}

// sent waits until no connection is open: what was sent is counted then.
func (b *bench) sent() Stats {
	b.t.Helper()
	for {
		if s := b.counters.Stats(); s.Open == 0 {
			return s
		}
		time.Sleep(time.Millisecond)
	}
}

// get sends a request on a connection of its own.
func (b *bench) get(method, path string, header string) (*http.Response, []byte) {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n", method, path, header)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response, body
}

func TestTheKernelSendsMemoryFiles(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		const size = 3 << 20
		for _, c := range []struct {
			name, method, path, header string
			from, to                   int
			sends                      uint64
		}{
			{"whole", "GET", "/", "", 0, size, 1},
			{"by a reader with a limit", "GET", "/limited", "", 0, size, 1},
			{"a range", "GET", "/", "Range: bytes=5000-1999999\r\n", 5000, 2_000_000, 1},
			{"a range of a reader with a limit", "GET", "/limited", "Range: bytes=5000-1999999\r\n", 5000, 2_000_000, 1},
			{"the head alone", "HEAD", "/", "", 0, 0, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := newBench(t, way, size, longPatience)
				_, body := b.get(c.method, c.path, c.header)
				if !bytes.Equal(body, b.data[c.from:c.to]) {
					t.Errorf("%d bytes came, or others than %d", len(body), c.to-c.from)
				}
				stats := b.sent()
				if !memfile.Sendable {
					c.sends = 0
				}
				if stats.KernelSends != c.sends {
					t.Errorf("%d kernel sends, want %d", stats.KernelSends, c.sends)
				}
				least := uint64(max(0, c.to-c.from))
				if way == throughNetHTTP { // it sends the first 512 bytes with the header
					least = max(least, 512) - 512
				}
				if c.sends > 0 && stats.KernelBytes != least {
					t.Errorf("%d bytes from the kernel, want %d", stats.KernelBytes, least)
				}
				if stats.Blocked != 0 || stats.BlockedBytes != 0 {
					t.Errorf("nobody is waited for, and yet %+v", stats)
				}
			})
		}
	})
}

func TestACrowdGetsWholeFilesOverKeptConnections(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		b := newBench(t, way, 1<<20, longPatience)
		done := make(chan error)
		const clients, requests = 20, 5
		for range clients {
			go func() { done <- b.fetch(requests) }()
		}
		for range clients {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if stats := b.sent(); memfile.Sendable && stats.KernelSends != clients*requests {
			t.Errorf("%d kernel sends for %d requests", stats.KernelSends, clients*requests)
		}
	})
}

func (b *bench) fetch(requests int) error {
	conn, err := net.Dial("tcp", b.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for range requests {
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return err
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		if !bytes.Equal(body, b.data) {
			return fmt.Errorf("%d bytes of %d, or others", len(body), len(b.data))
		}
	}
	return nil
}

func TestAClientThatStopsReadingIsCutOffAndNoLongerCounted(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		b := newBench(t, way, 32<<20, 100*time.Millisecond)
		conn, err := net.Dial("tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil { // and no more
			t.Fatal(err)
		}
		stats := b.sent()
		if stats.Blocked != 0 || stats.BlockedBytes != 0 {
			t.Errorf("nobody is waited for, and yet %+v", stats)
		}
		if got, _ := io.Copy(io.Discard, conn); got >= int64(len(b.data)) {
			t.Errorf("all %d bytes came", got)
		}
	})
}

func TestAClientThatIsWaitedForIsCountedWithWhatItHolds(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		if !memfile.Sendable {
			return // bytes are written, which blocks in the system
		}
		b := newBench(t, way, 32<<20, longPatience)
		conn, err := net.Dial("tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		for {
			stats := b.counters.Stats()
			if stats.Blocked == 1 && stats.BlockedBytes > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		_, _ = io.CopyN(io.Discard, conn, int64(len(b.data)))
		conn.Close()
		if stats := b.sent(); stats.Blocked != 0 || stats.BlockedBytes != 0 {
			t.Errorf("it has all it wanted, and yet %+v", stats)
		}
	})
}

func TestAClientThatReadsSlowlyIsLeftAlone(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		b := newBench(t, way, 48<<20, time.Second)
		conn, err := net.Dial("tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		// In all it takes longer than the server's patience, which begins anew each
		// time that it has read.
		reader := bufio.NewReader(conn)
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		pause := time.NewTicker(50 * time.Millisecond)
		defer pause.Stop()
		got := int64(0)
		for range 24 {
			<-pause.C
			n, err := io.CopyN(io.Discard, response.Body, 2<<20)
			got += n
			if err != nil {
				t.Fatalf("after %d bytes: %v", got, err)
			}
		}
		if got != int64(len(b.data)) {
			t.Errorf("%d bytes of %d", got, len(b.data))
		}
	})
}

// Over TLS and HTTP/2 bytes pass through the process.
func TestOtherProtocolsCopyMemoryFiles(t *testing.T) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	defer certificate.Close()
	for _, c := range []struct {
		name      string
		tls       bool
		protocols func(*http.Protocols)
		want      string
	}{
		{"HTTP/1.1 over TLS", true, func(p *http.Protocols) { p.SetHTTP1(true) }, "HTTP/1.1"},
		{"HTTP/2 over TLS", true, func(p *http.Protocols) { p.SetHTTP2(true) }, "HTTP/2.0"},
		{"HTTP/2 without TLS", false, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, "HTTP/2.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, throughNetHTTP, 1<<20, longPatience)
			tcp, err := Listen(t.Context(), "127.0.0.1:0", "", longPatience)
			if err != nil {
				t.Fatal(err)
			}
			var protocols http.Protocols
			c.protocols(&protocols)
			server := &http.Server{Handler: http.HandlerFunc(b.answer), Protocols: &protocols}
			listener := net.Listener(NewListener(tcp, Options{Patience: longPatience, Counters: &b.counters}))
			url := "http://" + tcp.Addr().String()
			if c.tls {
				config := certificate.TLS.Clone()
				config.NextProtos = []string{"h2", "http/1.1"}
				listener = tls.NewListener(listener, config)
				url = "https://" + tcp.Addr().String()
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = server.Serve(listener)
			}()
			transport := certificate.Client().Transport.(*http.Transport).Clone()
			transport.Protocols = &protocols
			response, err := (&http.Client{Transport: transport}).Get(url)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || !bytes.Equal(body, b.data) || response.Proto != c.want {
				t.Errorf("%s, %d bytes, %v", response.Proto, len(body), err)
			}
			transport.CloseIdleConnections()
			_ = server.Close()
			<-ended
			if stats := b.counters.Stats(); stats.KernelSends != 0 {
				t.Errorf("%d sends past the encryption", stats.KernelSends)
			}
		})
	}
}

func TestAListenerThatCannotBeMadeSaysWhy(t *testing.T) {
	if _, err := Listen(context.Background(), "127.0.0.1:0", "no-such-control", time.Minute); err == nil {
		t.Error("a congestion control that there is not was taken")
	}
}
