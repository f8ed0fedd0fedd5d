package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// contract is a handler that does all that handlers may, and some that they may
// not, by path. Whatever else it says of the request all there is to say.
func contract(w http.ResponseWriter, r *http.Request) {
	body := strings.Repeat("0123456789abcdef", 64)
	switch strings.TrimPrefix(r.URL.Path, "/hls/") {
	case "declared":
		w.Header().Set("Content-Length", "1024")
		w.Header().Set("Content-Type", "video/mp4")
		_, _ = io.WriteString(w, body)
	case "in-pieces":
		w.Header().Set("Content-Length", "102400")
		for range 100 {
			_, _ = io.WriteString(w, body)
		}
	case "large":
		w.Header().Set("Content-Length", "10485760")
		_, _ = w.Write(bytes.Repeat([]byte(body), 10240))
	case "undeclared":
		_, _ = io.WriteString(w, "<html>"+body)
	case "nothing":
	case "status-alone":
		w.WriteHeader(http.StatusTeapot)
	case "status-unknown":
		w.WriteHeader(799)
	case "no-content":
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(http.StatusNoContent)
		if _, err := io.WriteString(w, "12345"); !errors.Is(err, http.ErrBodyNotAllowed) {
			panic("a body where none may be")
		}
	case "not-modified":
		w.Header().Set("Etag", `"x"`)
		w.WriteHeader(http.StatusNotModified)
	case "too-long":
		w.Header().Set("Content-Length", "5")
		if _, err := io.WriteString(w, "123456"); !errors.Is(err, http.ErrContentLength) {
			panic("more was taken than declared")
		}
		_, _ = io.WriteString(w, "12345")
	case "closing":
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "and no more")
	case "after-the-head":
		w.WriteHeader(http.StatusOK)
		w.Header().Set("X-Late", "1")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "found")
	case "strange-headers":
		w.Header()["X-Twice"] = []string{"1", "2"}
		w.Header().Set("X-Lines", "a\r\nSet-Cookie: b")
		w.Header().Set("X-Blank", "  c  ")
		w.Header().Set("Date", "never")
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, "x")
	case "information":
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "x")
	default:
		read, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %q %q %q %s %d.%d host %q close %v length %d coding %v body %q %v\n", r.Method, r.RequestURI, r.URL.Path, r.URL.RawPath, r.URL.RawQuery,
			r.Proto, r.ProtoMajor, r.ProtoMinor, r.Host, r.Close, r.ContentLength, r.TransferEncoding, read, err)
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			fmt.Fprintf(w, "%s: %q\n", name, r.Header[name])
		}
	}
}

// conversations are all that a client may send over one connection, from the
// simplest to nonsense.
func conversations() map[string]string {
	const head = "GET /hls/x HTTP/1.1\r\nHost: h\r\n"
	all := map[string]string{
		"simple":                       head + "\r\n",
		"two at once":                  head + "\r\n" + head + "\r\n",
		"one and a half":               head + "\r\n" + head,
		"a HEAD and a GET":             "HEAD /hls/x HTTP/1.1\r\nHost: h\r\n\r\n" + head + "\r\n",
		"a query":                      "GET /hls/x?a=1&b=%20&c=%zz&_HLS_msn=18446744073709551616 HTTP/1.1\r\nHost: h\r\n\r\n",
		"an empty query":               "GET /hls/x? HTTP/1.1\r\nHost: h\r\n\r\n",
		"as browsers ask":              head + "Connection: keep-alive\r\nUser-Agent: Mozilla/5.0 (X11)\r\nAccept: */*\r\nOrigin: https://a.example\r\nSec-Fetch-Mode: cors\r\nReferer: https://a.example/x?y=z\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en,de;q=0.9\r\nRange: bytes=0-\r\nIf-None-Match: \"a\", W/\"b\"\r\n\r\n",
		"small letters":                "GET /hls/x HTTP/1.1\r\nhost: h\r\nuser-agent: x\r\nx-forwarded-for: 1, 2\r\n\r\n",
		"a field twice":                head + "X-A: 1\r\nX-B: 2\r\nx-a: 3\r\n\r\n",
		"blanks around a value":        head + "X-A: \t 1 2 \t \r\nX-Empty:\r\n\r\n",
		"bytes above ASCII":            head + "X-A: \xc3\xa4\r\n\r\n",
		"no host":                      "GET /hls/x HTTP/1.1\r\nX: y\r\n\r\n",
		"an empty host":                "GET /hls/x HTTP/1.1\r\nHost:\r\n\r\n",
		"two hosts":                    head + "Host: i\r\n\r\n",
		"a strange host":               "GET /hls/x HTTP/1.1\r\nHost: a/b\r\n\r\n",
		"a host with a port":           "GET /hls/x HTTP/1.1\r\nHost: [::1]:8090\r\n\r\n",
		"HTTP/1.0":                     "GET /hls/x HTTP/1.0\r\n\r\n",
		"HTTP/1.0 that is kept":        "GET /hls/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"HTTP/1.2":                     "GET /hls/x HTTP/1.2\r\nHost: h\r\n\r\n",
		"HTTP/2":                       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"the last request":             head + "Connection: close\r\n\r\n",
		"the last of two":              head + "Connection: close\r\n\r\n" + head + "\r\n",
		"an upgrade":                   head + "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n",
		"kept by name":                 head + "Connection: Keep-Alive\r\n\r\n",
		"an absolute address":          "GET http://h/hls/x HTTP/1.1\r\nHost: other\r\n\r\n",
		"an escaped path":              "GET /hls/%78 HTTP/1.1\r\nHost: h\r\n\r\n",
		"a path that climbs":           "GET /hls/../x HTTP/1.1\r\nHost: h\r\n\r\n",
		"two slashes":                  "GET //hls//x HTTP/1.1\r\nHost: h\r\n\r\n",
		"a fragment":                   "GET /hls/x#y HTTP/1.1\r\nHost: h\r\n\r\n",
		"a blank in the path":          "GET /hls/x y HTTP/1.1\r\nHost: h\r\n\r\n",
		"another path":                 "GET /api HTTP/1.1\r\nHost: h\r\n\r\n",
		"an asterisk":                  "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
		"a body":                       "POST /hls/x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello" + head + "\r\n",
		"a body that looks like one":   fmt.Sprintf("POST /hls/x HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s\r\n", len(head)+2, head),
		"a body in chunks":             "POST /hls/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + head + "\r\n",
		"a GET with a body":            head + "Content-Length: 5\r\n\r\nhello" + head + "\r\n",
		"a GET with an empty body":     head + "Content-Length: 0\r\n\r\n" + head + "\r\n",
		"two lengths":                  head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"a length and chunks":          head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"an expectation":               "POST /hls/x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
		"lines that end in LF":         "GET /hls/x HTTP/1.1\nHost: h\n\n",
		"an LF among the fields":       head + "X-A: 1\nX-B: 2\r\n\r\n",
		"a folded field":               head + "X-A: 1\r\n 2\r\n\r\n",
		"a field without a colon":      head + "X-A\r\n\r\n",
		"a field without a name":       head + ": 1\r\n\r\n",
		"a blank before the colon":     head + "X-A : 1\r\n\r\n",
		"a NUL":                        head + "X-A: \x00\r\n\r\n",
		"a CR":                         head + "X-A: a\rb\r\n\r\n",
		"many fields":                  head + strings.Repeat("X-A: 1\r\n", 100) + "\r\n",
		"long fields":                  head + "Cookie: " + strings.Repeat("x", 20_000) + "\r\n\r\n",
		"fields of middling length":    head + "Cookie: " + strings.Repeat("x", 1_500) + "\r\n\r\n",
		"empty lines first":            "\r\n\r\n" + head + "\r\n",
		"an unknown method":            "BREW /hls/x HTTP/1.1\r\nHost: h\r\n\r\n",
		"a method in small letters":    "get /hls/x HTTP/1.1\r\nHost: h\r\n\r\n",
		"nothing":                      "",
		"noise":                        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"a cache that wants news":      head + "Pragma: no-cache\r\n\r\n",
		"trailers":                     head + "TE: trailers\r\nTrailer: X\r\n\r\n",
		"more after other than simple": "OPTIONS /hls/x HTTP/1.1\r\nHost: h\r\n\r\n" + head + "\r\n",
	}
	for _, path := range []string{"declared", "in-pieces", "large", "undeclared", "nothing", "status-alone", "status-unknown", "no-content", "not-modified", "too-long",
		"closing", "after-the-head", "strange-headers", "information"} {
		all["handler: "+path] = "GET /hls/" + path + " HTTP/1.1\r\nHost: h\r\n\r\n"
		all["handler, HEAD: "+path] = "HEAD /hls/" + path + " HTTP/1.1\r\nHost: h\r\n\r\n"
	}
	return all
}

// An exchanged is one answer, as far as the two ways have to agree on it.
type exchanged struct {
	status, proto string
	header        http.Header
	body          string
	close         bool
}

// converse sends some bytes, as pieces, and returns the answers until the end.
func converse(t *testing.T, address string, pieces ...string) (answers []exchanged) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, piece := range pieces {
		_, _ = io.WriteString(conn, piece) // the server may have had enough
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	reader := bufio.NewReader(conn)
	for methods := methodsOf(strings.Join(pieces, "")); ; {
		method := "GET"
		if len(methods) > 0 {
			method, methods = methods[0], methods[1:]
		}
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		if err != nil {
			return answers
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		// A client that still has something to say when it is refused may see a reset.
		if err != nil && response.StatusCode != http.StatusBadRequest {
			body = append(body, " and then "+err.Error()...)
		}
		if response.Header.Get("Date") != "never" {
			if _, err := http.ParseTime(response.Header.Get("Date")); err != nil && response.StatusCode == http.StatusOK {
				t.Errorf("Date: %v", err)
			}
			response.Header.Del("Date")
		}
		answers = append(answers, exchanged{response.Status, response.Proto, response.Header, string(body), response.Close})
	}
}

func brief(answers []exchanged) string { return fmt.Sprintf("%.1000s", fmt.Sprint(answers)) }

func methodsOf(text string) (methods []string) {
	for line := range strings.Lines(text) {
		if method, _, ok := strings.Cut(line, " /"); ok && strings.Contains(line, " HTTP/") {
			methods = append(methods, strings.TrimSpace(method))
		}
	}
	return methods
}

func TestBothWaysSayTheSame(t *testing.T) {
	var counters Counters
	through := newService(t, throughNetHTTP, http.HandlerFunc(contract), longPatience, &counters)
	ahead := newService(t, aheadOfIt, http.HandlerFunc(contract), longPatience, &counters)
	for name, text := range conversations() {
		t.Run(name, func(t *testing.T) {
			want := converse(t, through.address, text)
			for _, pieces := range [][]string{{text}, {text[:len(text)/2], text[len(text)/2:]}, strings.SplitAfter(text, "\n")} {
				if got := converse(t, ahead.address, pieces...); !reflect.DeepEqual(got, want) {
					t.Errorf("%d pieces of %.200q:\ngot  %s\nwant %s", len(pieces), text, brief(got), brief(want))
				}
			}
		})
	}
	if ahead := counters.Stats().Ahead; canAnswer && ahead == 0 {
		t.Error("nothing was answered ahead of net/http")
	}
}

func TestAnAnswerCutShortNeverLooksWhole(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		handlers := map[string]http.HandlerFunc{
			"less than declared": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10")
				_, _ = io.WriteString(w, "12345")
			},
			"nothing of what was declared": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10")
				w.WriteHeader(http.StatusOK)
			},
			"a panic": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10")
				_, _ = io.WriteString(w, "12345")
				panic("broken")
			},
			"an abort": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		}
		for name, handler := range handlers {
			t.Run(name, func(t *testing.T) {
				var counters Counters
				s := newService(t, way, handler, longPatience, &counters)
				for _, answer := range converse(t, s.address, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n", "GET /x HTTP/1.1\r\nHost: h\r\n\r\n") {
					// The second request may come upon a connection that is closed: a reset.
					if !strings.Contains(answer.body, io.ErrUnexpectedEOF.Error()) && !strings.Contains(answer.body, syscall.ECONNRESET.Error()) {
						t.Errorf("it looks whole: %+v", answer)
					}
				}
			})
		}
	})
}

func TestALongBodyOfUnknownLengthEndsWithTheConnection(t *testing.T) {
	var counters Counters
	body := strings.Repeat("x", 100_000)
	s := newService(t, aheadOfIt, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, body)
	}), longPatience, &counters)
	answers := converse(t, s.address, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
	if len(answers) != 1 || answers[0].body != body {
		t.Errorf("%.500v", answers)
	}
}

func TestARequestEndsWithItsClient(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		var counters Counters
		begun, ended := make(chan struct{}, 1), make(chan error, 1)
		s := newService(t, way, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			<-r.Context().Done()
			ended <- r.Context().Err()
		}), longPatience, &counters)
		for _, leave := range []func(*net.TCPConn){
			func(c *net.TCPConn) { _ = c.Close() },
			func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() }, // by a reset
			func(*net.TCPConn) { s.cancel() },                          // it is the server that ends
		} {
			conn, err := net.Dial("tcp", s.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			<-begun
			leave(conn.(*net.TCPConn))
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the request ended with %v", err)
			}
		}
	})
}

func TestAConnectionGoesOnAfterARequestWhoseClientWasWatched(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		var counters Counters
		s := newService(t, way, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
				t.Error("the client has not left")
			default:
			}
			_, _ = io.WriteString(w, "x")
		}), longPatience, &counters)
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		reader := bufio.NewReader(conn)
		for i := range 50 {
			if _, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
		}
	})
}

func TestClosingEndsWhoWaitsAndLetsAnswersFinish(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		var counters Counters
		begun, more := make(chan struct{}), make(chan struct{})
		s := newService(t, way, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				close(begun)
				<-more
			}
			_, _ = io.WriteString(w, "whole")
		}), longPatience, &counters)
		idle, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer idle.Close()
		_, _ = io.WriteString(idle, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
		reader := bufio.NewReader(idle)
		if response, err := http.ReadResponse(reader, nil); err != nil {
			t.Fatal(err)
		} else if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		busy, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer busy.Close()
		_, _ = io.WriteString(busy, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
		<-begun
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			s.stop()
		}()
		if _, err := reader.ReadByte(); err != io.EOF {
			t.Errorf("who waits for nothing sees %v", err)
		}
		close(more)
		answer, err := io.ReadAll(busy)
		if err != nil || !strings.HasSuffix(string(answer), "whole") {
			t.Errorf("got %q, %v", answer, err)
		}
		<-stopped
		if n := counters.Stats().Open; n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}

func TestWhatOutlastsTheGraceIsCutOff(t *testing.T) {
	var counters Counters
	begun, release := make(chan struct{}), make(chan struct{})
	s := newService(t, aheadOfIt, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(begun)
		<-release
	}), longPatience, &counters)
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.listener.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("it was answered")
	}
	close(release)
}

func TestAConnectionThatSendsNothingIsClosed(t *testing.T) {
	tcp, err := Listen(t.Context(), "127.0.0.1:0", "", longPatience)
	if err != nil {
		t.Fatal(err)
	}
	var counters Counters
	l := NewListener(tcp, Options{Patience: longPatience, Counters: &counters, Handler: http.HandlerFunc(contract), Prefixes: []string{"/"},
		ReadHeaderTimeout: 20 * time.Millisecond, IdleTimeout: 20 * time.Millisecond})
	defer func() {
		if err := l.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	for name, first := range map[string]string{"ever": "", "more": "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"} {
		conn, err := net.Dial("tcp", tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, first)
		answer, err := io.ReadAll(conn)
		if err != nil || (first != "") != bytes.HasPrefix(answer, []byte("HTTP/1.1 200")) {
			t.Errorf("nothing %s: %q, %v", name, answer, err)
		}
		conn.Close()
	}
}

func TestARequestAndItsAnswerAllocateLittle(t *testing.T) {
	if !canAnswer {
		return
	}
	l := NewListener(&net.TCPListener{}, Options{Counters: new(Counters)})
	x := l.newExchange()
	data := []byte("GET /hls/door/main.index.m3u8 HTTP/1.1\r\nHost: h\r\nUser-Agent: player\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n\r\n")
	if n := testing.AllocsPerRun(100, func() {
		if !x.parse(data, []string{"/hls/"}) {
			t.Fatal("it is simple")
		}
	}); n > 1 {
		t.Errorf("%v allocations for a request, want that of its text", n)
	}
}

// What is taken as simple is what net/http would have made of the same bytes, and
// all of them.
func FuzzASimpleRequestIsWhatNetHTTPReads(f *testing.F) {
	for _, text := range conversations() {
		f.Add([]byte(text))
	}
	l := NewListener(&net.TCPListener{}, Options{Counters: new(Counters)})
	f.Fuzz(func(t *testing.T, data []byte) {
		x := l.newExchange()
		if len(data) > maxRequest || !x.parse(data, []string{"/hls/", "/s/"}) {
			return
		}
		reader := bufio.NewReader(bytes.NewReader(data))
		want, err := http.ReadRequest(reader)
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", data, err)
		}
		if rest, _ := io.ReadAll(reader); len(rest) > 0 {
			t.Fatalf("%q: %q is not part of the request", data, rest)
		}
		got := &x.http
		if got.Method != want.Method || got.Host != want.Host || got.RequestURI != want.RequestURI || got.Proto != want.Proto ||
			got.ContentLength != want.ContentLength || want.Body != http.NoBody || want.Close || len(want.TransferEncoding) > 0 {
			t.Fatalf("%q: got %+v\nwant %+v", data, got, want)
		}
		if !reflect.DeepEqual(*got.URL, *want.URL) || !reflect.DeepEqual(*got.URL, *mustParse(t, got.RequestURI)) {
			t.Fatalf("%q: got %#v, want %#v", data, got.URL, want.URL)
		}
		if !reflect.DeepEqual(got.Header, want.Header) {
			t.Fatalf("%q: got %q, want %q", data, got.Header, want.Header)
		}
	})
}

func mustParse(t *testing.T, uri string) *url.URL {
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestOfManyWhoWaitThoseEndWhoLeave(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		const viewers = 60
		var counters Counters
		begun, release := make(chan string, viewers), make(chan struct{})
		left := make(chan string, viewers)
		s := newService(t, way, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- r.URL.Path
			select {
			case <-r.Context().Done():
				left <- r.URL.Path
			case <-release:
				_, _ = io.WriteString(w, r.URL.Path)
			}
		}), longPatience, &counters)
		conns := map[string]net.Conn{}
		for i := range viewers {
			conn, err := net.Dial("tcp", s.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			path := fmt.Sprintf("/%d", i)
			conns[path] = conn
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path)
		}
		for range viewers {
			<-begun
		}
		want := map[string]bool{}
		for i := 0; i < viewers; i += 3 {
			path := fmt.Sprintf("/%d", i)
			want[path] = true
			conns[path].Close()
			delete(conns, path)
		}
		for range len(want) {
			if path := <-left; !want[path] {
				t.Errorf("%s has not left", path)
			}
		}
		close(release)
		for path, conn := range conns {
			reader := bufio.NewReader(conn)
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if body, _ := io.ReadAll(response.Body); string(body) != path {
				t.Errorf("%s got %q", path, body)
			}
		}
	})
}

func TestWhoLeftBeforeItsRequestWaitsIsNotWaitedWith(t *testing.T) {
	byEachWay(t, func(t *testing.T, way string) {
		var counters Counters
		left, ended := make(chan struct{}), make(chan error, 1)
		s := newService(t, way, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/first":
				select {
				case <-r.Context().Done():
					t.Error("the client has not left")
				default:
				}
				_, _ = io.WriteString(w, "x")
			case "/second":
				<-left
				<-r.Context().Done()
				ended <- r.Context().Err()
			}
		}), longPatience, &counters)
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET /first HTTP/1.1\r\nHost: h\r\n\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "GET /second HTTP/1.1\r\nHost: h\r\n\r\n")
		conn.Close()
		close(left)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the second request ended with %v", err)
		}
	})
}
