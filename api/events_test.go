package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/event"
)

func (b *bench) publish(cameras ...string) {
	for _, id := range cameras {
		b.registry.events.Publish(event.Event{Kind: event.KindCameraState, Camera: id, Source: "main", State: camera.StateBackoff, Reason: "refused"})
	}
}

func (b *bench) history(query string) EventList {
	b.t.Helper()
	var list struct {
		Events []struct {
			ID     uint64
			Camera string
		}
		Last, Missed uint64
	}
	if err := json.Unmarshal(b.must(http.StatusOK, "GET", "/api/v1/events"+query, "").Body.Bytes(), &list); err != nil {
		b.t.Fatal(err)
	}
	out := EventList{Last: list.Last, Missed: list.Missed}
	for _, e := range list.Events {
		out.Events = append(out.Events, Event{ID: e.ID, Camera: e.Camera})
	}
	return out
}

func ids(l EventList) string {
	text := ""
	for _, e := range l.Events {
		text += e.Camera
	}
	return text
}

func TestTheHistoryIsShownInOrder(t *testing.T) {
	b := newBench(t, nil)
	if got := strings.TrimSpace(b.must(http.StatusOK, "GET", "/api/v1/events", "").Body.String()); got != `{"events":[],"last":5000,"missed":0}` {
		t.Errorf("empty: %s", got)
	}
	b.publish("a")
	want := `{"events":[{"id":5001,"time":"1970-01-01T00:00:05.000Z","kind":"camera.state","camera":"a","source":"main","state":"backoff","reason":"refused"}],"last":5001,"missed":0}`
	if got := strings.TrimSpace(b.must(http.StatusOK, "GET", "/api/v1/events", "").Body.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	b.publish("b", "a", "c")
	for query, want := range map[string]string{
		"": "abac", "?limit=2": "ac", "?after=5001": "bac", "?after=5001&limit=2": "ba", "?camera=a": "aa", "?camera=a&limit=1": "a", "?after=9999": "",
	} {
		if got := ids(b.history(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := b.history("?after=5001&limit=2").Last; got != 5003 {
		t.Errorf("go on after %d, want 5003", got)
	}
	for _, query := range []string{"?limit=0", "?limit=-1", "?limit=1000000000", "?after=-1", "?after=x"} {
		b.refused(b.do("GET", "/api/v1/events"+query, ""), problemInvalid)
	}
}

func TestChangesOfCamerasAreEvents(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	b.must(http.StatusOK, "PATCH", "/api/v1/cameras/door", `{"name":"x"}`)
	b.do("PATCH", "/api/v1/cameras/door", `{"name":5}`)
	b.must(http.StatusNoContent, "DELETE", "/api/v1/cameras/door", "")
	b.do("DELETE", "/api/v1/cameras/door", "")
	got := b.registry.events.Newest(10).Events
	want := []event.Kind{event.KindCameraAdded, event.KindCameraUpdated, event.KindCameraRemoved}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, e := range got {
		if e.Kind != want[i] || e.Camera != "door" {
			t.Errorf("got %+v, want %s", e, want[i])
		}
	}
}

func TestHistoryThatIsNoLongerKeptIsCounted(t *testing.T) {
	b := newBench(t, nil)
	for range 103 {
		b.publish("a")
	}
	if got := b.history("?after=5000"); got.Missed != 3 || len(got.Events) != 100 {
		t.Errorf("missed %d of %d", got.Missed, len(got.Events))
	}
}

// A listener reads a stream message by message.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
	leave func()
}

func listen(t *testing.T, server *httptest.Server, query, lastID string) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d, Content-Type %s", response.StatusCode, got)
	}
	l := &listener{t: t, lines: bufio.NewScanner(response.Body), leave: func() { cancel(); _ = response.Body.Close() }}
	if got := l.next(); got != "retry: 2000" {
		t.Fatalf("first message %q", got)
	}
	return l
}

func (l *listener) next() string {
	l.t.Helper()
	var message []string
	for l.lines.Scan() {
		if l.lines.Text() == "" {
			return strings.Join(message, "\n")
		}
		message = append(message, l.lines.Text())
	}
	l.t.Fatalf("the stream ended: %v", l.lines.Err())
	return ""
}

func (l *listener) wants(parts ...string) {
	l.t.Helper()
	message := l.next()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			l.t.Errorf("got %q, want …%s…", message, part)
		}
	}
}

func TestEventsArriveLive(t *testing.T) {
	b := newBench(t, nil)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	b.publish("old")
	all := listen(t, server, "", "")
	defer all.leave()
	some := listen(t, server, "?camera=c", "")
	defer some.leave()
	resumed := listen(t, server, "", "5000")
	defer resumed.leave()
	resumed.wants("id: 5001", `"camera":"old"`)
	b.publish("b", "c")
	all.wants("id: 5002", `data: {"id":5002,`, `"camera":"b"`, `"state":"backoff"`)
	all.wants("id: 5003", `"camera":"c"`)
	some.wants("id: 5003", `"camera":"c"`)
	resumed.wants("id: 5002")
}

func TestAListenerIsToldWhatItMissed(t *testing.T) {
	b := newBench(t, nil)
	for range 105 {
		b.publish("a")
	}
	server := httptest.NewServer(b.handler)
	defer server.Close()
	l := listen(t, server, "?after=5000", "")
	defer l.leave()
	l.wants("event: missed", `{"missed":5}`)
	l.wants("id: 5006")
}

func TestOnlySoManyListen(t *testing.T) {
	b := newBench(t, nil)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	var listeners []*listener
	for range maxStreams {
		listeners = append(listeners, listen(t, server, "", ""))
	}
	b.refused(b.do("GET", "/api/v1/events", "", "Accept", "text/event-stream"), problemBusy)
	for _, l := range listeners {
		l.leave()
	}
}
