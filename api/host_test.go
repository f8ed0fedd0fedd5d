package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWithoutALoginTheAPIIsAskedByKnownNamesOnly(t *testing.T) {
	b := newBench(t, func(o *Options) { o.CheckHosts, o.AllowedHosts = true, []string{"cameras.example.org", "nas"} })
	open := newBench(t, nil)
	ask := func(b *bench, host, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = host
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		return w
	}
	for _, host := range []string{"localhost", "LOCALHOST:8090", "a.localhost:1", "localhost.", "127.0.0.1", "127.0.0.1:8090", "127.8.8.8", "[::1]", "[::1]:8090",
		"[::ffff:127.0.0.1]:1", "cameras.example.org", "Cameras.Example.org:443", "nas:80"} {
		for _, path := range []string{"/api/v1/cameras", "/metrics"} {
			if w := ask(b, host, path); w.Code != http.StatusOK {
				t.Errorf("%s by %q: %d %s", path, host, w.Code, w.Body)
			}
		}
	}
	for _, host := range []string{"", "evil.example", "evil.example:8090", "localhost.evil.example", "notlocalhost", "127.0.0.1.evil.example", "192.168.1.2:8090",
		"0.0.0.0", "[::]:1", "a.cameras.example.org", "[", ":8090", "x:y:z"} {
		for _, path := range []string{"/api", "/api/v1/cameras", "/api/v1/nothing", "/metrics"} {
			if p := b.refused(ask(b, host, path), problemHost); !strings.Contains(p.Detail, "http.allowed_hosts") {
				t.Errorf("it does not say what to do: %s", p.Detail)
			}
			if w := ask(open, host, path); w.Code == http.StatusForbidden {
				t.Errorf("%s by %q is refused where all names are allowed", path, host)
			}
		}
		for _, path := range []string{"/", "/hls/door/index.m3u8", "/watch/door", "/healthz", "/readyz"} {
			if w := ask(b, host, path); w.Code != http.StatusOK {
				t.Errorf("%s by %q: %d", path, host, w.Code)
			}
		}
	}
}
