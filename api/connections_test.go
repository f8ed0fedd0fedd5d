package api

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/config"
)

// keep opens a connection that stays, having been answered once.
func (s *served) keep() net.Conn {
	s.t.Helper()
	conn := s.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusNotFound {
		s.t.Fatalf("got %v, %v", response, err)
	}
	return conn
}

// refusedWith checks the answer to a connection that is one too many.
func (s *served) refusedWith(want kind) {
	s.t.Helper()
	conn := s.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	header := response.Header
	if err != nil || response.StatusCode != want.status || !strings.Contains(string(body), want.path) || header.Get("Retry-After") != "5" ||
		!response.Close || header.Get("Cache-Control") != "no-store" || header.Get("Access-Control-Allow-Origin") != "*" {
		s.t.Errorf("got %v, %v: %s", response, err, body)
	}
	_ = conn.Close()
}

func forever(limits *config.HTTP) { limits.IdleTimeout = time.Hour }

func TestAConnectionTooManyIsRefusedUntilAnotherEnds(t *testing.T) {
	for name, test := range map[string]struct {
		limit func(*config.HTTP)
		want  kind
	}{
		"in all":         {func(l *config.HTTP) { l.MaxConnections = 2 }, problemConnections},
		"of one address": {func(l *config.HTTP) { l.MaxConnectionsPerAddress = 2 }, problemClientConnections},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, http.NotFoundHandler(), func(l *config.HTTP) { forever(l); test.limit(l) })
			defer s.end()
			first := s.keep()
			s.keep()
			for range 3 {
				s.refusedWith(test.want)
			}
			if got := s.refused.All.Load() + s.refused.Address.Load(); got != 3 {
				t.Errorf("%d are counted", got)
			}
			_ = first.Close()
			for deadline := time.Now().Add(time.Minute); ; {
				conn := s.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				response, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err == nil && response.StatusCode == http.StatusNotFound {
					return
				}
				_ = conn.Close()
				if time.Now().After(deadline) {
					t.Fatalf("the place of one that ended stays taken: %v, %v", response, err)
				}
			}
		})
	}
}

func TestAClientThatTakesNoRefusalIsLeftAlone(t *testing.T) {
	s := serve(t, http.NotFoundHandler(), func(l *config.HTTP) { forever(l); l.MaxConnections = 1 })
	s.keep()
	var silent []net.Conn
	for range maxRefusals + 20 {
		// One refused without an answer may be reset before Dial has returned.
		if conn, err := net.Dial("tcp", s.address); err == nil {
			defer conn.Close()
			silent = append(silent, conn)
		}
	}
	for _, conn := range silent {
		if text, err := io.ReadAll(conn); err == nil && !strings.Contains(string(text), " 503 ") || err != nil && len(text) != 0 {
			t.Errorf("got %q, %v", text, err)
		}
	}
	s.end() // It returns when nothing of a refusal runs any more.
}

func TestStoppingDoesNotWaitForWhoIsBeingRefused(t *testing.T) {
	s := serve(t, http.NotFoundHandler(), func(l *config.HTTP) { forever(l); l.MaxConnections = 1 })
	s.keep()
	conn := s.send("")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "503") {
		t.Errorf("got %q, %v", line, err)
	}
	s.end()
}

func TestAClientIsAnAddressOrAHouseholdOfIPv6(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1:5":               "10.0.0.1/32",
		"[::ffff:10.0.0.1]:5":      "10.0.0.1/32",
		"[2001:db8:1:2:3:4:5:6]:5": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:5":         "fe80::/64",
		"[::1]:5":                  "::/64",
	} {
		if got := clientOf(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))); got.String() != want {
			t.Errorf("%s: %v, want %s", address, got, want)
		}
	}
	if got := clientOf(&net.UnixAddr{}); got.IsValid() {
		t.Errorf("a socket of another kind: %v", got)
	}
}

// A broken listener fails once.
type broken struct{ net.Listener }

func (broken) Accept() (net.Conn, error) { return nil, errors.New("too many open files") }

func TestWhatTheListenerSaysIsPassedOn(t *testing.T) {
	c := newConnections(t.Context(), broken{}, 1, 1, nil, &ConnectionCounters{})
	if _, err := c.Accept(); err == nil {
		t.Error("no error")
	}
}
