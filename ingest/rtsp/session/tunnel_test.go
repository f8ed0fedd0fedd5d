package session

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/secret"
	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestATunnelHandsOnPicturesAndSound(t *testing.T) {
	for _, auth := range []rtsptest.Auth{rtsptest.AuthNone, rtsptest.AuthBasic, rtsptest.AuthDigest} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("login %q, TLS %v", auth, secure), func(t *testing.T) {
				t.Parallel()
				config := rtsptest.CameraConfig{
					Path: "door", AAC: true, Transport: rtsptest.TransportTunnel, Auth: auth, User: "admin", Password: "p@s#/:?%^!\"",
				}
				server := rtsptest.Options{Cameras: []rtsptest.CameraConfig{config}}
				trust := tlsFor(t, &server, secure)
				camera := rtsptest.StartWith(t, server).Camera("door")
				s := play(t, Options{
					URL: camera.URL(), Username: config.User, Password: secret.New(config.Password), Transport: Tunnel, TLSConfig: trust,
				})
				ctx, cancel := context.WithCancel(t.Context())
				heard, done := newMediaCount(), make(chan error, 1)
				go func() { done <- s.Run(ctx, heard) }()
				heard.wait(t, 0, 1)
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("Run ended with %v", err)
				}
				_ = s.Close()
				if seen := camera.Seen(); seen.Teardowns != 1 {
					t.Errorf("%d teardowns, want 1", seen.Teardowns)
				}
			})
		}
	}
}

// tlsFor has a server speak TLS with a certificate of its own, and returns what
// pins it.
func tlsFor(t *testing.T, server *rtsptest.Options, secure bool) *tls.Config {
	t.Helper()
	if !secure {
		return nil
	}
	certificate, fingerprint, err := rtsptest.SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	config, err := TLSConfig(TrustPin, fingerprint)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestALoginThatATunnelRefusesIsSaid(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{
		Path: "door", Tunnel: true, Auth: rtsptest.AuthDigest, User: "admin", Password: "right",
	}).Camera("door")
	_, err := Open(t.Context(), Options{URL: camera.URL(), Username: "admin", Password: secret.New("wrong"), Transport: Tunnel})
	if !errors.Is(err, ErrAuth) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("got %v, want ErrAuth", err)
	}
	var e *Error
	_, err = Open(t.Context(), Options{URL: camera.URL(), Transport: Tunnel})
	if !errors.As(err, &e) || !errors.Is(err, ErrAuth) || !strings.Contains(e.Hint(), "asks for a login") {
		t.Errorf("got %v, want ErrAuth and that it asks for a login", err)
	}
}

// A web is the camera's end of HTTP: halves of tunnels by the ports that were
// dialled, each answered by a function.
type web struct {
	t       *testing.T
	scripts sync.WaitGroup

	mu    sync.Mutex
	ports []string // in the order of dialling
}

// halves are what a web does with the two requests. A half that is nil refuses.
type halves struct {
	get, post func(conn net.Conn, in *bufio.Reader, request *request)
}

func newWeb(t *testing.T, byPort map[string]halves) (*web, Options) {
	w := &web{t: t}
	t.Cleanup(w.scripts.Wait)
	return w, Options{
		URL: "rtsp://192.0.2.1/live", Transport: Tunnel,
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			w.mu.Lock()
			w.ports = append(w.ports, port)
			w.mu.Unlock()
			h, ok := byPort[port]
			if !ok {
				return nil, errors.New("connection refused")
			}
			client, server := net.Pipe()
			w.scripts.Go(func() {
				defer func() { _ = server.Close() }()
				p := &peer{conn: server, in: bufio.NewReader(server)}
				r := p.next()
				switch {
				case r == nil:
				case r.method == "GET" && h.get != nil:
					h.get(server, p.in, r)
				case r.method == "POST" && h.post != nil:
					h.post(server, p.in, r)
				default:
					p.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
				}
			})
			return client, nil
		},
	}
}

func (w *web) dialled() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.ports, " ")
}

// A joint joins the two halves of a tunnel to one scripted camera.
type joint struct {
	read  *io.PipeReader
	write *io.PipeWriter
}

func newJoint() *joint {
	j := &joint{}
	j.read, j.write = io.Pipe()
	return j
}

const tunnelOpen = "HTTP/1.0 200 OK\r\nContent-Type: " + tunnelType + "\r\n\r\n"

// answer is the half of the GET: a camera as good as any.
func (j *joint) answer(conn net.Conn, _ *bufio.Reader, _ *request) {
	_, _ = io.WriteString(conn, tunnelOpen)
	p := &peer{conn: conn, in: bufio.NewReader(j.read)}
	gone := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, conn)
		_ = j.write.Close()
	})
	p.rest(videoSDP)
	_ = j.read.Close()
	watching.Wait()
}

// feed is the half of a POST, up to a number of messages; 0 for no limit.
func (j *joint) feed(in *bufio.Reader, messages int) {
	for n := 1; ; n++ {
		line, err := readCoded(in)
		if err != nil {
			return
		}
		if _, err := j.write.Write(line); err != nil {
			return
		}
		if n == messages {
			return
		}
	}
}

// readCoded reads base64 up to the end of a message.
func readCoded(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		var coded [4]byte
		if _, err := io.ReadFull(in, coded[:]); err != nil {
			return nil, err
		}
		raw, err := base64.StdEncoding.AppendDecode(nil, coded[:])
		if err != nil {
			return nil, err
		}
		if text = append(text, raw...); strings.HasSuffix(string(text), "\r\n\r\n") {
			return text, nil
		}
	}
}

func TestATunnelIsTwoRequestsWithOneCookie(t *testing.T) {
	j := newJoint()
	requests := make(chan *request, 2)
	_, options := newWeb(t, map[string]halves{"80": {
		get: func(conn net.Conn, in *bufio.Reader, r *request) { requests <- r; j.answer(conn, in, r) },
		post: func(_ net.Conn, in *bufio.Reader, r *request) {
			requests <- r
			j.feed(in, 0)
		},
	}})
	options.URL = "rtsp://192.0.2.1/live?channel=1"
	play(t, options)
	get, post := <-requests, <-requests
	if get.uri != "/live?channel=1" || post.uri != get.uri || get.header.Get("Accept") != tunnelType ||
		post.header.Get("Content-Type") != tunnelType || get.header.Get("Host") != "192.0.2.1:80" {
		t.Errorf("asked %+v and %+v", get, post)
	}
	cookie := get.header.Get("X-Sessioncookie")
	if len(cookie) < 16 || post.header.Get("X-Sessioncookie") != cookie {
		t.Errorf("cookies %q and %q", cookie, post.header.Get("X-Sessioncookie"))
	}
}

func TestATunnelIsLookedForAtThePortsOfHTTPAndOfTheURL(t *testing.T) {
	page := halves{get: func(conn net.Conn, _ *bufio.Reader, _ *request) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>")
	}}
	rtspOnly := halves{get: func(conn net.Conn, _ *bufio.Reader, _ *request) {
		_, _ = io.WriteString(conn, "RTSP/1.0 400 Bad Request\r\n\r\n")
	}}
	noise := halves{get: func(conn net.Conn, _ *bufio.Reader, _ *request) { _, _ = io.WriteString(conn, "220 mail ready\r\n") }}
	for name, c := range map[string]struct {
		url     string
		byPort  map[string]halves
		dialled string
		want    error
	}{
		"HTTP's first":               {"rtsp://192.0.2.1/live", map[string]halves{"80": {}, "554": {}}, "80 554", ErrTransportRefused},
		"a page is none":             {"rtsp://192.0.2.1/live", map[string]halves{"80": page}, "80 554", ErrTransportRefused},
		"RTSP without tunnels":       {"rtsp://192.0.2.1:554/live", map[string]halves{"554": rtspOnly}, "80 554", ErrTransportRefused},
		"something else":             {"rtsp://192.0.2.1:8554/live", map[string]halves{"8554": noise}, "8554", ErrTransportRefused},
		"another port is the only":   {"rtsp://192.0.2.1:8554/live", map[string]halves{"80": {}}, "8554", nil},
		"with TLS it is HTTPS's":     {"rtsps://192.0.2.1/live", nil, "443 322", nil},
		"nothing listens, one tells": {"rtsp://192.0.2.1/live", map[string]halves{"554": {}}, "80 554", ErrTransportRefused},
	} {
		t.Run(name, func(t *testing.T) {
			w, options := newWeb(t, c.byPort)
			options.URL = c.url
			_, err := Open(t.Context(), options)
			var e *Error
			if !errors.As(err, &e) || e.Step != StepConnect || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if got := w.dialled(); got != c.dialled {
				t.Errorf("dialled %s, want %s", got, c.dialled)
			}
		})
	}
}

// challenged answers a request without a login, or with one that is not wanted,
// with 401.
func challenged(challenge string, wanted func(authorization string) bool, then func(net.Conn, *bufio.Reader, *request)) func(net.Conn, *bufio.Reader, *request) {
	return func(conn net.Conn, in *bufio.Reader, r *request) {
		if !wanted(r.header.Get("Authorization")) {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: %s\r\n\r\n", challenge)
			return
		}
		then(conn, in, r)
	}
}

func TestThePasswordItselfGoesToThePortOfTheURLOnly(t *testing.T) {
	basic := func(authorization string) bool { return strings.HasPrefix(authorization, "Basic ") }
	open := func() halves {
		j := newJoint()
		return halves{
			get:  challenged(`Basic realm="x"`, basic, j.answer),
			post: challenged(`Basic realm="x"`, basic, func(_ net.Conn, in *bufio.Reader, _ *request) { j.feed(in, 0) }),
		}
	}
	_, options := newWeb(t, map[string]halves{"80": open()})
	options = options.withLogin("admin", "secret")
	var e *Error
	if _, err := Open(t.Context(), options); !errors.Is(err, ErrAuth) || !errors.As(err, &e) || !strings.Contains(e.Hint(), "port 80") {
		t.Errorf("at another port: %v, want ErrAuth with a hint", err)
	}
	_, options = newWeb(t, map[string]halves{"80": open()})
	options = options.withLogin("admin", "secret")
	options.URL = "rtsp://192.0.2.1:80/live"
	play(t, options)
}

func TestAPostWhoseNonceIsTooOldIsTriedOnceMore(t *testing.T) {
	var mu sync.Mutex
	posts := 0
	j := newJoint()
	late := newJoint()
	_, options := newWeb(t, map[string]halves{"80": {
		get: func(conn net.Conn, in *bufio.Reader, r *request) {
			mu.Lock()
			first := posts == 0
			mu.Unlock()
			switch {
			case !strings.Contains(r.header.Get("Authorization"), "nonce="):
				_, _ = io.WriteString(conn, "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"x\", nonce=\"one\"\r\n\r\n")
			case first:
				j.answer(conn, in, r)
			default:
				late.answer(conn, in, r)
			}
		},
		post: func(conn net.Conn, in *bufio.Reader, r *request) {
			mu.Lock()
			posts++
			mu.Unlock()
			if !strings.Contains(r.header.Get("Authorization"), `nonce="two"`) {
				_, _ = io.WriteString(conn, "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"x\", nonce=\"two\", stale=true\r\n\r\n")
				_, _ = io.Copy(io.Discard, in)
				return
			}
			late.feed(in, 0)
		},
	}})
	play(t, options.withLogin("admin", "secret"))
	if posts != 2 {
		t.Errorf("%d POSTs, want 2", posts)
	}
}

func TestAPostThatIsRefusedEndsTheTunnelAtOnce(t *testing.T) {
	j := newJoint()
	_, options := newWeb(t, map[string]halves{"80": {
		get: j.answer,
		post: func(conn net.Conn, in *bufio.Reader, _ *request) {
			_, _ = io.WriteString(conn, "HTTP/1.1 405 Method Not Allowed\r\n\r\n")
			_, _ = io.Copy(io.Discard, in)
		},
	}})
	options.RequestTimeout = time.Hour // it is not what ends it
	var e *Error
	if _, err := Open(t.Context(), options); !errors.As(err, &e) || e.Status != 405 || !errors.Is(err, ErrTransportRefused) {
		t.Errorf("got %v, want status 405", err)
	}
}

func TestAPostThatTheCameraEndsIsOpenedAnew(t *testing.T) {
	j := newJoint()
	ended := make(chan struct{}, 10)
	_, options := newWeb(t, map[string]halves{"80": {
		get: j.answer,
		post: func(_ net.Conn, in *bufio.Reader, _ *request) {
			j.feed(in, 1)
			ended <- struct{}{}
		},
	}})
	s := open(t, options) // two requests
	<-ended
	waitUpEnded(t, s)
	if err := s.Setup(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	waitUpEnded(t, s)
	if err := s.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitUpEnded(t, s)
}

// waitUpEnded waits until a session has noticed that its upward half is over.
func waitUpEnded(t *testing.T, s *Session) {
	t.Helper()
	tunnel := s.talk.conn.(*tunnel)
	for timeout := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		tunnel.mu.Lock()
		ended := tunnel.upEnded
		tunnel.mu.Unlock()
		if ended {
			return
		}
		if time.Now().After(timeout) {
			t.Fatal("the end of the POST was not noticed")
		}
	}
}

func TestBothHalvesOfATunnelGoToTheAddressThatThePolicyLetPass(t *testing.T) {
	j := newJoint()
	w, options := newWeb(t, map[string]halves{"8554": {
		get: j.answer, post: func(_ net.Conn, in *bufio.Reader, _ *request) { j.feed(in, 0) },
	}})
	asked := 0
	options.URL = "rtsp://localhost:8554/live"
	options.AllowAddr = func(addr netip.Addr) error {
		asked++
		if asked > 1 {
			return errors.New("not again")
		}
		return nil
	}
	play(t, options)
	if got := w.dialled(); got != "8554 8554" {
		t.Errorf("dialled %s", got)
	}
	options.AllowAddr = func(netip.Addr) error { return errors.New("never") }
	if _, err := Open(t.Context(), options); !errors.Is(err, ErrAddress) {
		t.Errorf("got %v, want ErrAddress", err)
	}
}

func FuzzHTTPHead(f *testing.F) {
	f.Add([]byte(tunnelOpen + "RTSP/1.0 200 OK\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 401 \nWWW-Authenticate: Digest realm=\"x\"\n\n"))
	f.Add([]byte("RTSP/1.0 400 Bad Request\r\n\r\n"))
	f.Add([]byte("HTTP/"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		reply, rest, err := readHTTPHead(strings.NewReader(string(raw)))
		if err != nil {
			return
		}
		if reply.status < 100 || reply.status > 999 || !strings.HasSuffix(string(raw), string(rest)) {
			t.Errorf("status %d, rest %q of %q", reply.status, rest, raw)
		}
	})
}
