package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// segmentBytes is more than a connection's buffer and one call of discardBody take.
const segmentBytes = 3 << 20

// An origin serves a window of segments that the test moves.
type origin struct {
	*httptest.Server
	segment string

	mu       sync.Mutex // guards what follows
	first    int
	count    int
	asked    map[string]int
	override http.HandlerFunc // answers segments instead, unless nil
}

func newOrigin(t *testing.T, size int) *origin {
	o := &origin{count: 5, segment: strings.Repeat("x", size), asked: map[string]int{}}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.Close)
	return o
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked[r.URL.Path]++
	body := ""
	switch {
	case r.URL.Path == "/index.m3u8":
		body = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmain.m3u8\n"
	case r.URL.Path == "/main.m3u8":
		body = fmt.Sprintf("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:%d\n#EXT-X-MAP:URI=\"init.mp4\"\n", o.first)
		for i := range o.count {
			body += fmt.Sprintf("#EXTINF:2,\n%d.m4s\n", o.first+i)
		}
	case o.override != nil:
		o.override(w, r)
		return
	default:
		body = o.segment
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	fmt.Fprint(w, body)
}

func (o *origin) move(first int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first = first
}

func (o *origin) viewer(t *testing.T) *viewer {
	t.Helper()
	start, err := url.Parse(o.URL + "/index.m3u8")
	if err != nil {
		t.Fatal(err)
	}
	v := &viewer{
		conn:  newConnection(start.Host, start.Host, "", make([]byte, discardBytes)),
		start: start, poll: time.Second, stall: time.Hour, tally: newTally(),
	}
	t.Cleanup(v.conn.close)
	v.open()
	if len(v.tracks) != 1 {
		t.Fatalf("%d tracks, want 1; failures: %v", len(v.tracks), v.tally.failures)
	}
	return v
}

func TestAViewerFetchesEachNewSegmentOnce(t *testing.T) {
	o := newOrigin(t, segmentBytes)
	v := o.viewer(t)
	for first := range 4 {
		o.move(first)
		v.advance(context.Background(), v.tracks[0])
		v.advance(context.Background(), v.tracks[0])
	}
	if len(v.tally.failures) != 0 {
		t.Fatalf("failures: %v", v.tally.example)
	}
	want := map[string]int{"/index.m3u8": 1, "/main.m3u8": 8, "/init.mp4": 1}
	for i := 2; i <= 7; i++ {
		want[fmt.Sprintf("/%d.m4s", i)] = 1
	}
	if fmt.Sprint(o.asked) != fmt.Sprint(want) {
		t.Errorf("asked %v, want %v", o.asked, want)
	}
	if got := v.tally.bytes[kindSegment].Load(); got != 6*segmentBytes {
		t.Errorf("%d bytes of segments, want %d", got, 6*segmentBytes)
	}
}

func TestFailuresAreCountedByKind(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		move   int
		want   string
	}{
		{"a segment that is gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, 1, "segment: status 404"},
		{"a server that hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 1, "segment: closed"},
		{"a body that ends early", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "short")
		}, 1, "segment: cut short"},
		{"a body without a length", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "part")
			w.(http.Flusher).Flush()
		}, 1, "segment: no length"},
		{"a window that moved on unseen", nil, 9, "playlist: segments missed"},
		{"a window that went back", nil, -5, "playlist: sequence went back"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := newOrigin(t, segmentBytes)
			v := o.viewer(t)
			v.advance(context.Background(), v.tracks[0])
			o.mu.Lock()
			o.override = test.answer
			o.mu.Unlock()
			o.move(test.move)
			v.advance(context.Background(), v.tracks[0])
			if len(v.tally.failures) != 1 || v.tally.failures[test.want] != 1 {
				t.Errorf("failures %v, want one %q", v.tally.example, test.want)
			}
			// The viewer goes on with a connection that works.
			o.mu.Lock()
			o.override = nil
			o.mu.Unlock()
			o.move(test.move + 1)
			v.advance(context.Background(), v.tracks[0])
			if len(v.tally.failures) != 1 {
				t.Errorf("failures after recovery: %v", v.tally.example)
			}
		})
	}
}

func TestAnotherHostIsNeverAsked(t *testing.T) {
	o := newOrigin(t, segmentBytes)
	v := o.viewer(t)
	for _, uri := range []string{"http://192.0.2.1/x.m4s", "//192.0.2.1/x.m4s", "https://" + v.start.Host + "/x.m4s"} {
		if _, err := v.resolve(v.start, uri); err == nil {
			t.Errorf("%s would have been asked", uri)
		}
	}
}

func TestACrowdSeesNoFailureAndLeavesInTime(t *testing.T) {
	o := newOrigin(t, 100)
	start, err := url.Parse(o.URL + "/index.m3u8")
	if err != nil {
		t.Fatal(err)
	}
	report := run(context.Background(), options{
		url: start, viewers: 20, duration: time.Second, poll: 100 * time.Millisecond, mode: modePaced,
	})
	if report.Failed != 0 {
		t.Errorf("failures: %v", report.Examples)
	}
	var segments uint64
	for _, k := range report.Kinds {
		if k.Kind == "segment" {
			segments = k.Requests
		}
	}
	if segments != 20*joinSegments {
		t.Errorf("%d segments fetched, want %d", segments, 20*joinSegments)
	}
	var text strings.Builder
	if err := report.print(&text); err != nil || !strings.Contains(text.String(), "failed    0") {
		t.Errorf("printed %q, %v", text.String(), err)
	}
}

func TestAHerdThatIsFastOrRepeatsAsksAgainAtOnceAndCountsAfterItsWarmUp(t *testing.T) {
	o := newOrigin(t, segmentBytes)
	for _, c := range []struct {
		mode mode
		path string
		kind kind
	}{{modeFast, "/index.m3u8", kindSegment}, {modeRepeat, "/main.m3u8", kindObject}} {
		start, err := url.Parse(o.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		r := run(context.Background(), options{
			url: start, viewers: 3, duration: 3 * time.Second, warmup: time.Second, poll: time.Hour, mode: c.mode, pid: os.Getpid(),
		})
		if got := r.Kinds[c.kind].Requests; r.Failed != 0 || got < 4 {
			t.Errorf("%s: %d requests, failures %v", c.mode, got, r.Examples)
		}
		if r.Usage == nil || r.Usage.CPUSeconds <= 0 {
			t.Errorf("%s: the process used %+v", c.mode, r.Usage)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for path := range o.asked {
		if path != "/index.m3u8" && path != "/main.m3u8" && path != "/4.m4s" {
			t.Errorf("%s was asked for, which is not the newest", path)
		}
	}
}

func TestOptionsOutOfBoundsAreRefused(t *testing.T) {
	for _, args := range []string{
		"-viewers 0", "-viewers 20001", "-duration 0s", "-duration 2h", "-url https://x/", "-url door", "-ramp 2m", "-poll 1ms", "-pid -1", "-warmup 2h", "-mode slow", "-header x", "-header=x:\r\n",
	} {
		if _, err := parseOptions(strings.Fields(args)); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
	if _, err := parseOptions(nil); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}
