package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// partsPerSegment of the origin.
const partsPerSegment = 4

// An origin is a playlist with parts that grows by a part when the test says so.
type origin struct {
	mu      sync.Mutex
	parts   int // in all
	changed chan struct{}
	refuses bool
}

func newOrigin(t *testing.T) (*origin, *url.URL) {
	o := &origin{parts: 6, changed: make(chan struct{})}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL + "/live.m3u8")
	if err != nil {
		t.Fatal(err)
	}
	return o, at
}

func (o *origin) grow() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parts++
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *origin) state() (parts int, changed chan struct{}, refuses bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.parts, o.changed, o.refuses
}

func playlistOf(parts int) string {
	var text strings.Builder
	text.WriteString("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n")
	for i := range parts {
		fmt.Fprintf(&text, "#EXT-X-PART:DURATION=0.2,URI=\"%d\"\n", i)
		if i%partsPerSegment == partsPerSegment-1 {
			text.WriteString("#EXTINF:0.8,\nx.m4s\n")
		}
	}
	return text.String()
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmain.m3u8\n"
	if r.URL.Path == "/main.m3u8" {
		wanted := 0
		if msn, err := strconv.Atoi(r.FormValue("_HLS_msn")); err == nil {
			part, _ := strconv.Atoi(r.FormValue("_HLS_part"))
			wanted = (msn-7)*partsPerSegment + part + 1
		}
		parts, changed, refuses := o.state()
		for ; parts < wanted; parts, changed, refuses = o.state() {
			select {
			case <-changed:
			case <-r.Context().Done():
				return
			}
		}
		if refuses {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body = playlistOf(parts)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	fmt.Fprint(w, body)
}

func TestEveryPartReachesAllWhoWait(t *testing.T) {
	o, at := newOrigin(t)
	ctx, stop := context.WithCancel(t.Context())
	growing := make(chan struct{})
	go func() {
		defer close(growing)
		for ctx.Err() == nil {
			o.grow()
			_ = pause(ctx, 20*time.Millisecond)
		}
	}()
	r, err := run(t.Context(), options{url: at, viewers: 30, duration: time.Second, ramp: 50 * time.Millisecond, pid: os.Getpid()})
	stop()
	<-growing
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != 0 || r.Parts < 3 || r.Complete != r.Parts || r.Answers != 30*r.Parts || !strings.HasSuffix(r.URL, "/main.m3u8") {
		t.Errorf("got %+v", r)
	}
	if r.CPUSeconds <= 0 || r.Before.Process <= 0 || len(r.Waiting) == 0 {
		t.Errorf("the process used %v s, and held %+v before and %+v then", r.CPUSeconds, r.Before, r.Waiting)
	}
	var text strings.Builder
	if err := r.print(&text); err != nil || !strings.Contains(text.String(), "failed    0") {
		t.Errorf("printed %q, %v", text.String(), err)
	}
}

func TestAServerThatRefusesIsAFailure(t *testing.T) {
	o, at := newOrigin(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tally := newTally(1)
	first, err := arrive(ctx, options{url: at})
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		first.wait(ctx, tally)
	}()
	if err := tally.awaitAll(ctx); err != nil {
		t.Fatal(err)
	}
	o.mu.Lock()
	o.refuses = true
	o.mu.Unlock()
	o.grow()
	for {
		if _, failures := tally.finished(); len(failures) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	<-left
	_, failures := tally.finished()
	for what := range failures {
		if !strings.Contains(what, "503") {
			t.Errorf("failed with %q", what)
		}
	}
}

func TestWhoIsLateHasAllPartsOfItsAnswer(t *testing.T) {
	tally := newTally(2)
	tally.begin()
	at := time.Unix(1000, 0)
	for i := range 5 {
		tally.answered(question{7, i}, question{7, i + 1}, at.Add(time.Duration(i)*time.Second))
	}
	tally.answered(question{7, 0}, question{7, 1}, at)
	tally.answered(question{7, 1}, question{7, 5}, at.Add(5*time.Second)) // one that slept
	rounds, _ := tally.finished()
	if len(rounds) != 2 {
		t.Fatalf("%d rounds, want those that are neither the first nor the last two", len(rounds))
	}
	for i, want := range []time.Duration{4 * time.Second, 3 * time.Second} {
		r := rounds[i]
		if r.question != (question{7, i + 1}) || len(r.after) != 2 || r.after[0] != 0 || r.after[1] != want {
			t.Errorf("round %d is %+v", i, r)
		}
	}
}

func TestWhatComesNextIsCountedFromAPlaylist(t *testing.T) {
	for parts, want := range map[int]question{0: {7, 0}, 3: {7, 3}, 4: {8, 0}, 9: {9, 1}} {
		if got, err := parseNext([]byte(playlistOf(parts))); err != nil || got != want {
			t.Errorf("after %d parts: %v, %v, want %v", parts, got, err, want)
		}
	}
	for _, text := range []string{"", "<html>", "#EXTM3U\n", "#EXT-X-MEDIA-SEQUENCE:x\n", "#EXT-X-MEDIA-SEQUENCE:-1\n"} {
		if _, err := parseNext([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestAnswersThatAreNotWellAreErrors(t *testing.T) {
	if n, err := parseHeader([]byte("HTTP/1.1 200 OK\r\nX: y\r\ncontent-length: 12")); n != 12 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for _, text := range []string{"", "HTTP/1.1 503 No\r\nContent-Length: 1", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999"} {
		if _, err := parseHeader([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestAnotherHostIsNeverAsked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body := "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://192.0.2.1/main.m3u8\n"
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), options{url: at, viewers: 1, duration: time.Second}); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestQuantilesAreOfAll(t *testing.T) {
	var all []time.Duration
	for i := range 100 {
		all = append(all, time.Duration(100-i)*time.Millisecond)
	}
	if got := quantilesOf(all); got != (quantiles{51, 96, 100, 100}) {
		t.Errorf("got %+v", got)
	}
	if got := quantilesOf(nil); got != (quantiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestMemoryIsThatOfEachViewer(t *testing.T) {
	got := medianOf([]memory{{300, 3, 30}, {100, 1, 10}, {200, 2, 20}}).less(memory{100, 0, 0}).each(10)
	if got != (memory{10, 0, 2}) {
		t.Errorf("got %+v", got)
	}
	if m, err := look(0); err != nil || m != (memory{}) {
		t.Errorf("of no process: %+v, %v", m, err)
	}
	if _, err := look(1 << 30); err == nil {
		t.Error("a process that is none has memory")
	}
}

func TestOptionsOutOfBoundsAreRefused(t *testing.T) {
	for _, args := range []string{
		"-viewers 0", "-viewers 20001", "-duration 0s", "-duration 2h", "-url https://x/", "-url door", "-ramp -1s", "-settle 2h", "-pid -1", "-header x",
	} {
		if _, err := parseOptions(strings.Fields(args)); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
	if _, err := parseOptions(nil); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}
