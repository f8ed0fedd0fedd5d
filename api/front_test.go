package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

func TestEachPathGoesToWhoAnswersIt(t *testing.T) {
	b := newBench(t, nil)
	for path, want := range map[string]string{
		"/":                        "web /",
		"/watch/door":              "web /watch/door",
		"/assets/app.js":           "web /assets/app.js",
		"/apix":                    "web /apix",
		"/hls/door/index.m3u8":     "media /hls/door/index.m3u8",
		"/hls/":                    "media /hls/",
		"/hls/door/../../api/v1/x": "media /hls/door/../../api/v1/x",
	} {
		if w := b.do("GET", path, ""); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: %d %q, want %q", path, w.Code, w.Body, want)
		}
	}
	for _, path := range []string{"/api", "/api/", "/api/v1", "/api/v1/nothing", "/api/v2/cameras", "/api/v1/cameras/", "/api/v1/cameras/a/b",
		"/hls", "/archive", "/archive/door/index.m3u8", "/s", "/s/", "/s/token", "/s/token/archive/door/index.m3u8"} {
		b.refused(b.do("GET", path, ""), problemNotFound)
		if w := b.do("DELETE", path, ""); w.Code != http.StatusNotFound {
			t.Errorf("DELETE %s: %d", path, w.Code)
		}
	}
}

func TestAWrongMethodIsToldTheRightOnes(t *testing.T) {
	b := newBench(t, nil)
	for path, want := range map[string]string{
		"/api/v1/cameras":              "GET, POST, HEAD",
		"/api/v1/cameras/door":         "GET, PATCH, DELETE, HEAD",
		"/api/v1/cameras/door/restart": "POST",
		"/api/v1/probe":                "POST",
		"/api/v1/events":               "GET, HEAD",
		"/api/v1/openapi.json":         "GET, HEAD",
		"/healthz":                     "GET, HEAD",
		"/metrics":                     "GET, HEAD",
	} {
		for _, method := range []string{"PUT", "OPTIONS", "TRACE"} {
			w := b.do(method, path, "")
			b.refused(w, problemMethod)
			if got := w.Header().Get("Allow"); got != want {
				t.Errorf("%s %s: Allow %q, want %q", method, path, got, want)
			}
		}
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	b := newBench(t, nil)
	for _, path := range []string{"/api/v1/cameras", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/api/v1/events"} {
		if w := b.do("HEAD", path, ""); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := b.do("HEAD", "/api/v1/events", "", "Accept", "text/event-stream"); w.Code != http.StatusOK {
		t.Errorf("a stream's HEAD: %d", w.Code)
	}
}

func TestAWriteFromAnotherSiteIsRefused(t *testing.T) {
	b := newBench(t, nil)
	const body = `{"id":"door","url":"rtsp://h/x"}`
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Origin", "http://example.com:8090"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
	} {
		b.refused(b.do("POST", "/api/v1/cameras", body, headers...), problemCrossOrigin)
		b.refused(b.do("DELETE", "/api/v1/cameras/door", "", headers...), problemCrossOrigin)
		b.refused(b.do("POST", "/api/v1/cameras/door/restart", "", headers...), problemCrossOrigin)
		if w := b.do("GET", "/api/v1/cameras", "", headers...); w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v: GET %d", headers, w.Code)
		}
	}
	if len(b.registry.List()) != 0 {
		t.Fatal("a camera was added")
	}
	// httptest's requests are for example.com.
	if w := b.do("POST", "/api/v1/cameras", body, "Origin", "http://example.com"); w.Code != http.StatusCreated {
		t.Errorf("the own site: %d %s", w.Code, w.Body)
	}
}

func TestABodyMustSayThatItIsJSON(t *testing.T) {
	b := newBench(t, nil)
	const body = `{"id":"door","url":"rtsp://h/x"}`
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/cbor", "application/json; charset=utf-16", "application/jsonx", "json", ";"} {
		b.refused(b.do("POST", "/api/v1/cameras", body, "Content-Type", contentType), problemMediaType)
		b.refused(b.do("PATCH", "/api/v1/cameras/door", "{}", "Content-Type", contentType), problemMediaType)
	}
	b.refused(b.do("POST", "/api/v1/cameras/door/restart", "", "Content-Type", "application/x-www-form-urlencoded"), problemMediaType)
	if w := b.do("POST", "/api/v1/cameras", body, "Content-Type", "application/json; charset=utf-8"); w.Code != http.StatusCreated {
		t.Errorf("with a charset: %d %s", w.Code, w.Body)
	}
}

func TestATooLargeBodyIsRefused(t *testing.T) {
	b := newBench(t, nil)
	large := `{"id":"door","url":"rtsp://h/x","name":"` + strings.Repeat("x", 10<<20) + `"}`
	w := b.do("POST", "/api/v1/cameras", large)
	b.refused(w, problemTooLarge)
	if w.Header().Get("Connection") != "close" {
		t.Error("the connection stays open for the rest of the body")
	}
	b.refused(b.do("PATCH", "/api/v1/cameras/door", large), problemTooLarge)
	b.refused(b.do("POST", "/api/v1/probe", large), problemTooLarge)
	// One that does not say how large it is.
	r := httptest.NewRequest("POST", "/api/v1/cameras", io.MultiReader(strings.NewReader(large)))
	r.Header.Set("Content-Type", "application/json")
	w = httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	b.refused(w, problemTooLarge)
	// Of exactly the limit, a body is read.
	padded := `{"id":"door","url":"rtsp://h/x"}`
	padded += strings.Repeat(" ", maxBodyBytes-len(padded))
	if w := b.do("POST", "/api/v1/cameras", padded); w.Code != http.StatusCreated {
		t.Errorf("1 MiB: %d %.200s", w.Code, w.Body)
	}
}

func TestAPanicIsAProblemOfOneRequest(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Media = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })
		o.Web = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			panic("broken")
		})
		o.Viewers = func(string) int { panic("broken") }
	})
	b.addFileCamera("door")
	b.refused(b.do("GET", "/api/v1/cameras", "", "X-Request-Id", "req-1"), problemInternal)
	if !strings.Contains(b.log.String(), "request=req-1") || !strings.Contains(b.log.String(), "broken") {
		t.Errorf("the log does not say which request: %s", b.log.String())
	}
	b.refused(b.do("GET", "/hls/door/index.m3u8", ""), problemInternal)
	func() {
		defer func() {
			if reason := recover(); reason != http.ErrAbortHandler {
				t.Errorf("an answer cut short ended with %v", reason)
			}
		}()
		b.do("GET", "/", "")
		t.Error("an answer cut short looks whole")
	}()
	b.must(http.StatusOK, "GET", "/healthz", "")
}

func TestAnswersCarryTheHeadersThatBrowsersNeed(t *testing.T) {
	b := newBench(t, nil)
	api := b.do("GET", "/api/v1/cameras", "").Header()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Access-Control-Allow-Origin": "",
	} {
		if got := api.Get(name); got != want {
			t.Errorf("API: %s: %q, want %q", name, got, want)
		}
	}
	if id := api.Get("X-Request-Id"); len(id) < 16 {
		t.Errorf("request id %q", id)
	}
	policy := b.do("GET", "/", "").Header().Get("Content-Security-Policy")
	for _, want := range []string{"script-src 'self';", "worker-src 'self' blob:;", "media-src 'self' blob:;"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the app's policy lacks %s: %s", want, policy)
		}
	}
	if media := b.do("GET", "/hls/door/index.m3u8", "").Header(); media.Get("Cache-Control") != "" || media.Get("Content-Security-Policy") != "" {
		t.Errorf("HLS has headers that are not its own: %v", media)
	}
}

func TestARequestIDOfAProxyIsKeptIfItIsHarmless(t *testing.T) {
	b := newBench(t, nil)
	for id, kept := range map[string]bool{"abc-123_X.9": true, "a b": false, "a\"b": false, strings.Repeat("a", 65): false} {
		if got := b.do("GET", "/healthz", "", "X-Request-Id", id).Header().Get("X-Request-Id"); (got == id) != kept || got == "" {
			t.Errorf("%q became %q", id, got)
		}
	}
}

func TestReadinessSaysWhatIsWrong(t *testing.T) {
	broken := errors.New("the disk is gone")
	var failure error
	b := newBench(t, func(o *Options) {
		o.Checks = append(o.Checks, Check{Name: "disk", Run: func(context.Context) error { return failure }})
	})
	if got := b.must(http.StatusOK, "GET", "/readyz", "").Body.String(); !strings.Contains(got, `"ready":true`) {
		t.Errorf("got %s", got)
	}
	failure = broken
	want := `{"ready":false,"checks":[{"name":"store","ok":true,"reason":""},{"name":"disk","ok":false,"reason":"the disk is gone"}]}`
	if got := strings.TrimSpace(b.must(http.StatusServiceUnavailable, "GET", "/readyz", "").Body.String()); got != want {
		t.Errorf("got %s", got)
	}
	b.must(http.StatusOK, "GET", "/healthz", "")
}

func TestMetricsAreServed(t *testing.T) {
	b := newBench(t, nil)
	w := b.must(http.StatusOK, "GET", "/metrics", "")
	if !strings.Contains(w.Body.String(), `drover_camera_viewers{camera="door"} 0`) {
		t.Errorf("got %.300s", w.Body)
	}
}

func TestMissingOptionsAreNamed(t *testing.T) {
	if _, err := New(Options{}); err == nil || !strings.Contains(err.Error(), "Cameras") {
		t.Errorf("got %v", err)
	}
}

func TestTheDescriptionIsOpenAPIAndHasEveryRoute(t *testing.T) {
	b := newBench(t, nil)
	w := b.must(http.StatusOK, "GET", "/api/v1/openapi.json", "")
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Responses   map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(document.OpenAPI, "3.1.") {
		t.Errorf("version %s", document.OpenAPI)
	}
	found := 0
	for _, route := range allRoutes(t, b) {
		method, path, _ := strings.Cut(route, " ")
		operation, ok := document.Paths[path][strings.ToLower(method)]
		if !ok || operation.OperationID == "" || len(operation.Responses) == 0 {
			t.Errorf("%s is not described", route)
		}
		found++
	}
	described := 0
	for _, methods := range document.Paths {
		described += len(methods)
	}
	if described != found || found < 12 {
		t.Errorf("%d operations are described, there are %d", described, found)
	}
	for _, want := range []string{`"writeOnly": true`, `"application/problem+json"`, `"text/event-stream"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the description lacks %s", want)
		}
	}
}

// allRoutes returns "GET /path" of each route there is.
func allRoutes(t *testing.T, b *bench) []string {
	t.Helper()
	router, ok := b.handler.(*front).routes.(chi.Routes)
	if !ok {
		t.Fatal("the routes are not chi's")
	}
	var all []string
	if err := chi.Walk(router, func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		all = append(all, method+" "+path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
