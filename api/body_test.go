package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drover-video/drover/core/config"
)

// impatient is a bench whose bodies have to come at once.
func impatient(t *testing.T, change func(*Options)) *bench {
	b := newBench(t, change)
	b.handler.(*front).bodyTimeout = 20 * time.Millisecond
	return b
}

func longHeader(l *config.HTTP) { l.ReadHeaderTimeout, l.IdleTimeout = time.Hour, time.Hour }

func TestABodyThatDoesNotComeHoldsNoConnection(t *testing.T) {
	s := serve(t, impatient(t, nil).handler, longHeader)
	defer s.end()
	for _, request := range []string{"GET /hls/door/index.m3u8", "POST /hls/door/index.m3u8", "GET /", "POST /", "GET /s/x/hls/door/a",
		"GET /archive", "GET /healthz", "GET /metrics", "GET /api/v1/cameras", "POST /api/v1/cameras"} {
		for _, announced := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
			conn := s.send(request + " HTTP/1.1\r\nHost: x\r\n" + announced + "\r\n\r\n")
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if isTimeout(err) || !strings.HasPrefix(string(answer), "HTTP/1.1 ") {
				t.Errorf("%s, %s: %q, %v", request, announced, answer, err)
			}
		}
	}
}

func TestTheDeadlineOfABodyEndsWithIt(t *testing.T) {
	b := impatient(t, func(o *Options) {
		o.Media = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/read") {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			late, stop := context.WithTimeout(r.Context(), 60*time.Millisecond)
			defer stop()
			<-late.Done()
			fmt.Fprint(w, r.Context().Err())
		})
	})
	s := serve(t, b.handler, longHeader)
	defer s.end()
	// The context of a request ends with its connection's read deadline.
	conn := s.send("")
	reader := bufio.NewReader(conn)
	for _, path := range []string{"read", "unread", "read", "unread"} {
		if _, err := fmt.Fprintf(conn, "POST /hls/door/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", path); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if text, err := io.ReadAll(response.Body); string(text) != "<nil>" || err != nil {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}

func TestABodyThatDoesNotComeEndsOneStreamOfHTTP2Alone(t *testing.T) {
	b := impatient(t, func(o *Options) {
		o.Media = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			fmt.Fprint(w, err)
		})
	})
	s := serve(t, b.handler, longHeader)
	defer s.end()
	var dials atomic.Int64
	transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	ask := func(body io.Reader) string {
		response, err := (&http.Client{Transport: transport}).Post("http://"+s.address+"/hls/door/x", "", body)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body) // What came is compared.
		return string(text)
	}
	never, end := io.Pipe()
	defer end.Close()
	if got := ask(never); !strings.Contains(got, "timeout") {
		t.Errorf("a body that does not come: %s", got)
	}
	if got := ask(strings.NewReader("{}")); got != "<nil>" || dials.Load() != 1 {
		t.Errorf("after it: %s, by connection %d", got, dials.Load())
	}
}

func TestABodyThatIsNotSentAsItsHeaderSaysIsTheClientsFault(t *testing.T) {
	b := newBench(t, nil)
	s := serve(t, b.handler, longHeader)
	defer s.end()
	for name, rest := range map[string]string{
		"a chunk without a size":  "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"after a good one":        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n",
		"an end before the whole": "Content-Length: 1000\r\n\r\n{}",
	} {
		for _, path := range []string{"/api/v1/cameras", "/api/v1/probe"} {
			conn := s.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + rest)
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			text := string(answer)
			if err != nil || !strings.HasPrefix(text, "HTTP/1.1 400 ") || !strings.Contains(text, problemMalformed.path) ||
				!strings.Contains(text, "application/problem+json") {
				t.Errorf("%s, %s: %q, %v", name, path, text, err)
			}
		}
	}
}
