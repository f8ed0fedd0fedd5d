package hls

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/drover-video/drover/core/memfile"
	"github.com/drover-video/drover/core/wire"
)

// wayVariable says how a rig's requests reach its handler: by a call, where it is
// not set, or over a real connection.
const wayVariable = "DROVER_TEST_WAY"

// The ways there are, besides.
const (
	wayNetHTTP = "net-http"
	wayAhead   = "ahead"
)

// TestTheHandlerAnswersTheSameByEveryWay runs the handler's own tests over real
// connections, with segments that become memory files.
func TestTheHandlerAnswersTheSameByEveryWay(t *testing.T) {
	for _, way := range []string{wayNetHTTP, wayAhead} {
		t.Run(way, func(t *testing.T) {
			t.Setenv(wayVariable, way)
			for _, c := range []struct {
				name string
				test func(*testing.T)
			}{
				{"headers", TestHeadersAreThoseThatCachesNeed},
				{"methods", TestOptionsAndOtherMethods},
				{"ranges", TestRangesOfASegment},
				{"every range", TestEveryRangeOfASegmentIsItsBytes},
				{"not modified", TestNotModified},
				{"gzip", TestGzipIsForPlaylistsAndHasAnETagOfItsOwn},
				{"queries", TestQueryChangesNoAnswer},
				{"multivariant", TestMultivariantNamesWhatIsThere},
				{"H.265", TestH265IsNotInMPEGTSAndSaysSo},
				{"transport streams", TestTSIsRenderedOnceAndTheSameEachTime},
				{"counters of transport streams", TestTSCountersGoOnOverSegmentsRenderedInAnyOrder},
				{"counts", TestPlaylistRequestsCountAsViewersAndBytes},
			} {
				t.Run(c.name, c.test)
			}
		})
	}
}

// A line is a rig's handler behind a real connection.
type line struct {
	url      string
	client   *http.Client
	counters wire.Counters
}

func newLine(t testing.TB, way string, handler http.Handler) *line {
	t.Helper()
	tcp, err := wire.Listen(t.Context(), "127.0.0.1:0", "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{url: "http://" + tcp.Addr().String()}
	options := wire.Options{Patience: time.Minute, Counters: &l.counters, ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute}
	if way == wayAhead {
		options.Handler, options.Prefixes = handler, []string{"/hls/"}
	}
	listener := wire.NewListener(tcp, options)
	server := &http.Server{Handler: handler}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	transport := &http.Transport{DisableCompression: true}
	l.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Shutdown(context.Background()); err != nil { // it waits for handlers
			t.Error(err)
		}
		if err := listener.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended
		if ahead := l.counters.Stats().Ahead; memfile.Sendable && (ahead > 0) != (way == wayAhead) {
			t.Errorf("%d requests were answered ahead of net/http", ahead)
		}
		if stats := l.counters.Stats(); stats.Open != 0 {
			t.Errorf("%d connections are left", stats.Open)
		}
	})
	return l
}

// do sends a request and reads the answer to its end.
func (l *line) do(t testing.TB, request *http.Request) *http.Response {
	t.Helper()
	sent, err := http.NewRequest(request.Method, l.url+request.URL.RequestURI(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sent.Header = request.Header
	response, err := l.client.Do(sent)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response
}

// way returns the line that a rig is to use, or nil.
func way(t testing.TB, handler http.Handler) *line {
	way := os.Getenv(wayVariable)
	if way == "" {
		return nil
	}
	return newLine(t, way, handler)
}

// filesOfWay returns what segments may become.
func filesOfWay() *memfile.Budget {
	if os.Getenv(wayVariable) == "" {
		return nil
	}
	return memfile.NewBudget(100, 1<<30)
}

func TestTheKernelSendsSegmentsAndRangesThroughTheHandler(t *testing.T) {
	if !memfile.Sendable {
		return // and TestTheHandlerAnswersTheSameByEveryWay shows that it works without
	}
	for _, way := range []string{wayNetHTTP, wayAhead} {
		t.Run(way, func(t *testing.T) { kernelSends(t, way) })
	}
}

func kernelSends(t *testing.T, way string) {
	r, segment, _ := promoting(t, 10)
	want := bodyOf(t, r.get(segment))
	l := newLine(t, way, r.handler)
	ask := func(method, asked string) string {
		request, err := http.NewRequest(method, "http://x/hls/"+segment, nil)
		if err != nil {
			t.Fatal(err)
		}
		if asked != "" {
			request.Header.Set("Range", asked)
		}
		return bodyOf(t, l.do(t, request))
	}
	for range promoteAt + 1 {
		if ask(http.MethodGet, "") != want {
			t.Error("other bytes")
		}
	}
	if got := ask(http.MethodGet, "bytes=100-59999"); got != want[100:60000] {
		t.Error("a range of other bytes")
	}
	ask(http.MethodHead, "")
	if stats := l.counters.Stats(); stats.KernelSends != 3 {
		t.Errorf("%d kernel sends, want those from request %d on and the range", stats.KernelSends, promoteAt)
	}
}
