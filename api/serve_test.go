package api

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/config"
)

// A served handler with short limits.
type served struct {
	t       *testing.T
	address string
	stop    func()
	secure  *tls.Config
	refused ConnectionCounters
	ended   chan error
}

func serve(t *testing.T, handler http.Handler, change func(*config.HTTP)) *served {
	t.Helper()
	return serveTLS(t, handler, nil, change)
}

func serveTLS(t *testing.T, handler http.Handler, secure *tls.Config, change func(*config.HTTP)) *served {
	t.Helper()
	limits := config.HTTP{ReadHeaderTimeout: 100 * time.Millisecond, IdleTimeout: 100 * time.Millisecond,
		MaxHeaderBytes: 4 << 10, ShutdownGrace: 10 * time.Second, WriteTimeout: time.Second}
	if change != nil {
		change(&limits)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s := &served{t: t, secure: secure, address: tcp.Addr().String(), stop: stop, ended: make(chan error, 1)}
	go func() {
		s.ended <- Serve(ctx, tcp, handler, limits, s.secure, &s.refused, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(stop)
	return s
}

// send opens a connection and writes text to it.
func (s *served) send(text string) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	return conn
}

func (s *served) end() {
	s.t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		s.t.Errorf("Serve: %v", err)
	}
}

func TestAClientThatSendsNoWholeHeaderIsCutOff(t *testing.T) {
	s := serve(t, http.NotFoundHandler(), nil)
	defer s.end()
	answer, _ := io.ReadAll(s.send("GET / HTTP/1.1\r\nHost: x\r\n"))
	if strings.Contains(string(answer), "404") {
		t.Errorf("it was answered: %s", answer)
	}
}

func TestATooLargeHeaderIsRefused(t *testing.T) {
	s := serve(t, http.NotFoundHandler(), nil)
	defer s.end()
	conn := s.send("GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 10<<10) + "\r\n\r\n")
	if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "431") {
		t.Errorf("got %q", line)
	}
}

func TestAClientThatSendsATooLargeBodyToItsEndIsAnswered(t *testing.T) {
	b := newBench(t, nil)
	s := serve(t, b.handler, nil)
	defer s.end()
	conn := s.send("POST /api/v1/cameras HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10485760\r\n\r\n" +
		strings.Repeat(" ", 10<<20))
	if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "413") {
		t.Errorf("got %q, %v", line, err)
	}
}

func TestAnIdleConnectionIsClosed(t *testing.T) {
	s := serve(t, http.NotFoundHandler(), nil)
	defer s.end()
	answer, err := io.ReadAll(s.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 404") {
		t.Errorf("got %q, %v", answer, err)
	}
}

func TestStoppingEndsThoseWhoWaitAndLetsAnswersFinish(t *testing.T) {
	b := newBench(t, nil)
	waiting, writing := make(chan struct{}), make(chan struct{})
	stopping := make(chan struct{})
	mux := http.NewServeMux()
	mux.Handle("/api/", b.handler)
	mux.HandleFunc("/wait", func(_ http.ResponseWriter, r *http.Request) {
		close(waiting)
		<-r.Context().Done()
	})
	mux.HandleFunc("/write", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "begun ")
		close(writing)
		<-stopping
		_, _ = io.WriteString(w, "and ended")
	})
	s := serve(t, mux, nil)
	s.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	stream := s.send("GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
	if _, err := bufio.NewReader(stream).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	writer := s.send("GET /write HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	<-waiting
	<-writing
	s.stop()
	close(stopping)
	answer, err := io.ReadAll(writer)
	if err != nil || !strings.Contains(string(answer), "and ended") {
		t.Errorf("got %q, %v", answer, err)
	}
	s.end()
}

func TestWhatOutlastsTheGraceIsCutOff(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	s := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(begun)
		<-release
	}), func(h *config.HTTP) { h.ShutdownGrace = 10 * time.Millisecond })
	conn := s.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-begun
	s.end()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("it was answered")
	}
	close(release)
}

func TestAClientThatTakesNoByteIsCutOff(t *testing.T) {
	failed := make(chan error, 1)
	b := newBench(t, func(o *Options) {
		o.WriteTimeout = 50 * time.Millisecond
		o.Media = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					failed <- err
					return
				}
			}
		})
	})
	s := serve(t, b.handler, nil)
	s.send("GET /hls/door/1.m4s HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-failed; !isTimeout(err) {
		t.Errorf("got %v", err)
	}
	s.end()
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

func TestAPortThatIsTakenIsAnError(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = tcp.Close()
	err = Serve(t.Context(), tcp, http.NotFoundHandler(), config.HTTP{}, nil, new(ConnectionCounters), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(tcp.Addr())) {
		t.Errorf("got %v", err)
	}
}
