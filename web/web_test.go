package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const script = "console.log('a script of the app');"

func builtApp(t *testing.T) http.Handler {
	t.Helper()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := io.WriteString(w, script); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return newHandler(fstest.MapFS{
		".gitkeep":              {},
		"index.html":            {Data: []byte("<!doctype html><title>Drover</title>")},
		"favicon.svg":           {Data: []byte("<svg/>")},
		"assets/main-abc.js":    {Data: []byte(script)},
		"assets/main-abc.js.gz": {Data: compressed.Bytes()},
		"assets/main-abc.css":   {Data: []byte("a{}")},
	})
}

func answer(h http.Handler, method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, res *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestEachPathAnswersWithItsStatusTypeAndCaching(t *testing.T) {
	const immutable = "public, max-age=31536000, immutable"
	html := "text/html; charset=utf-8"
	for _, c := range []struct {
		path                       string
		status                     int
		contentType, cache, frames string
	}{
		{"/", 200, html, "no-cache", "frame-ancestors 'none'"},
		{"/camera/front-door", 200, html, "no-cache", "frame-ancestors 'none'"},
		{"/watch/front-door", 200, html, "no-cache", "frame-ancestors *"},
		{"/favicon.svg", 200, "image/svg+xml", "no-cache", ""},
		{"/assets/main-abc.js", 200, "text/javascript; charset=utf-8", immutable, ""},
		{"/assets/main-abc.css", 200, "text/css; charset=utf-8", immutable, ""},
		{"/assets/main-old.js", 404, html, "no-store", ""},
		{"/assets/", 404, html, "no-store", ""},
		{"/assets/main-abc.js.gz", 404, html, "no-store", ""},
		{"/index.html", 404, html, "no-store", ""},
		{"/.gitkeep", 404, html, "no-store", ""},
		{"/watch/", 404, html, "no-store", ""},
		{"/camera", 404, html, "no-store", ""},
		{"/camera/a/b", 404, html, "no-store", ""},
		{"/../web.go", 404, html, "no-store", ""},
		{"//assets/main-abc.js", 404, html, "no-store", ""},
	} {
		res := answer(builtApp(t), http.MethodGet, "http://drover.test"+c.path)
		if res.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", c.path, res.StatusCode, c.status)
		}
		if got := res.Header.Get("Content-Type"); got != c.contentType {
			t.Errorf("%s: Content-Type %q, want %q", c.path, got, c.contentType)
		}
		if got := res.Header.Get("Cache-Control"); got != c.cache {
			t.Errorf("%s: Cache-Control %q, want %q", c.path, got, c.cache)
		}
		if got := res.Header.Get("Content-Security-Policy"); c.frames != "" && !strings.HasSuffix(got, c.frames) {
			t.Errorf("%s: Content-Security-Policy %q does not end with %q", c.path, got, c.frames)
		}
	}
}

func TestScriptIsGzippedOnlyForThoseWhoAcceptIt(t *testing.T) {
	h := builtApp(t)
	plain := answer(h, http.MethodGet, "/assets/main-abc.js")
	zipped := answer(h, http.MethodGet, "/assets/main-abc.js", "Accept-Encoding", "br, gzip")

	if got := bodyOf(t, plain); got != script || plain.Header.Get("Content-Encoding") != "" {
		t.Errorf("plain body %q, encoding %q", got, plain.Header.Get("Content-Encoding"))
	}
	if zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("Content-Encoding %q, want gzip", zipped.Header.Get("Content-Encoding"))
	}
	body := bodyOf(t, zipped)
	if got := zipped.Header.Get("Content-Length"); got != strconv.Itoa(len(body)) {
		t.Errorf("Content-Length %s for %d bytes", got, len(body))
	}
	r, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := io.ReadAll(r)
	if err != nil || string(unzipped) != script {
		t.Errorf("unzipped %q, %v", unzipped, err)
	}
	for _, res := range []*http.Response{plain, zipped} {
		if res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Vary %q", res.Header.Get("Vary"))
		}
	}
	if plain.Header.Get("ETag") == zipped.Header.Get("ETag") {
		t.Error("both encodings have one ETag")
	}
}

func TestKnownETagAnswersNotModified(t *testing.T) {
	h := builtApp(t)
	for _, target := range []string{"/", "/watch/door", "/favicon.svg", "/assets/main-abc.js"} {
		etag := answer(h, http.MethodGet, target, "Accept-Encoding", "gzip").Header.Get("ETag")
		if etag == "" {
			t.Fatalf("%s: no ETag", target)
		}
		res := answer(h, http.MethodGet, target, "Accept-Encoding", "gzip", "If-None-Match", etag)
		if body := bodyOf(t, res); res.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s: status %d with %d bytes, want 304 and none", target, res.StatusCode, len(body))
		}
	}
}

func TestHeadHasTheHeadersOfGetAndNoBody(t *testing.T) {
	h := builtApp(t)
	for _, target := range []string{"/", "/assets/main-abc.js", "/nothing"} {
		get := answer(h, http.MethodGet, target, "Accept-Encoding", "gzip")
		head := answer(h, http.MethodHead, target, "Accept-Encoding", "gzip")
		if body := bodyOf(t, head); body != "" {
			t.Errorf("%s: HEAD has a body of %d bytes", target, len(body))
		}
		for _, name := range []string{"Content-Length", "Content-Type", "ETag", "Cache-Control"} {
			if got, want := head.Header.Get(name), get.Header.Get(name); got != want {
				t.Errorf("%s: HEAD has %s %q, GET has %q", target, name, got, want)
			}
		}
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	res := answer(builtApp(t), http.MethodPost, "/")
	if res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("status %d, Allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
}

func TestUnbuiltAppSaysHowToBuildIt(t *testing.T) {
	h := newHandler(fstest.MapFS{".gitkeep": {}})
	res := answer(h, http.MethodGet, "/")
	if body := bodyOf(t, res); res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "Run make") {
		t.Errorf("status %d, body %q", res.StatusCode, body)
	}
}

func TestEmbeddedHandlerAnswersItsPage(t *testing.T) {
	// Built or not, the page is there and names the product.
	res := answer(Handler(), http.MethodGet, "/")
	if body := bodyOf(t, res); !strings.Contains(body, "Drover") {
		t.Errorf("status %d, body %q", res.StatusCode, body)
	}
}

func TestAcceptEncodingIsReadAsTheRFCSays(t *testing.T) {
	for _, c := range []struct {
		headers []string
		want    bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"gzip"}, true},
		{[]string{"GZIP"}, true},
		{[]string{"br;q=1.0, gzip;q=0.5"}, true},
		{[]string{"br", "gzip"}, true},
		{[]string{"gzip; Q=0"}, false},
		{[]string{"gzip;q=0, *"}, false},
		{[]string{"*"}, true},
		{[]string{"*;q=0"}, false},
		{[]string{"identity, br"}, false},
		{[]string{"gzip;q=abc"}, false},
		{[]string{"gzipped"}, false},
	} {
		if got := acceptsGzip(c.headers); got != c.want {
			t.Errorf("%q: %v, want %v", c.headers, got, c.want)
		}
	}
}

func FuzzAcceptEncodingNeverPanics(f *testing.F) {
	for _, seed := range []string{"gzip", "gzip;q=0", ";;q=,=", "*;q=NaN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if acceptsGzip([]string{header}) && !strings.Contains(header, "*") && !strings.Contains(strings.ToLower(header), "gzip") {
			t.Errorf("%q is taken for gzip", header)
		}
	})
}
