package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/share"
)

// share makes a share of a camera by the API.
func (b *bench) share(body string) GivenShare {
	b.t.Helper()
	w := b.must(http.StatusCreated, "POST", "/api/v1/shares", body)
	var given struct {
		GivenShare
		CreatedAt time.Time `json:"created_at"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &given); err != nil {
		b.t.Fatalf("%v: %s", err, w.Body)
	}
	given.GivenShare.CreatedAt, given.GivenShare.ExpiresAt = timestamp(given.CreatedAt), timestamp(given.ExpiresAt)
	if w.Header().Get("Location") != "/api/v1/shares/"+given.ID {
		b.t.Errorf("Location %s", w.Header().Get("Location"))
	}
	return given.GivenShare
}

func newShareBench(t *testing.T) *bench {
	b := newBench(t, nil)
	b.addFileCamera("door")
	b.addFileCamera("yard")
	return b
}

func TestALinkLeadsToItsCameraAndNowhereElse(t *testing.T) {
	b := newShareBench(t)
	given := b.share(`{"camera":"door"}`)
	base := "/s/" + given.Token
	if given.Watch != base+"/watch/door" || given.Playlist != base+"/hls/door/index.m3u8" {
		t.Errorf("got %+v", given)
	}
	for path, want := range map[string]string{
		given.Playlist:                         "media /hls/door/index.m3u8",
		base + "/hls/door/main.index.m3u8":     "media /hls/door/main.index.m3u8",
		base + "/hls/door/ts/index.m3u8":       "media /hls/door/ts/index.m3u8",
		base + "/hls/door/main.5.7.m4s?a=b":    "media /hls/door/main.5.7.m4s",
		given.Watch:                            "web /watch/door",
		base + "/watch/door?muted":             "web /watch/door",
		base + "/hls/door/live.m3u8?_HLS_msn=": "media /hls/door/live.m3u8",
	} {
		if w := b.do("GET", path, ""); w.Code != http.StatusOK || w.Body.String() != want || w.Header().Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s: %d %q, want %q", path, w.Code, w.Body, want)
		}
	}
	for _, path := range []string{"/hls/yard/index.m3u8", "/watch/yard", "/hls/doo/index.m3u8", "/hls/door2/index.m3u8", "/hls/yard/door/index.m3u8"} {
		w := b.do("GET", base+path, "")
		b.refused(w, problemShareInvalid)
		if !strings.Contains(w.Header().Get("Cache-Control"), "no-store") || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
	}
	for _, path := range []string{"", "/", "/hls", "/hls/", "/watch/", "/api/v1/cameras", "/", "/camera/door", "/metrics", "/archive/door/index.m3u8",
		"/hls/door/../yard/index.m3u8", "/hls/door//index.m3u8", "/hls/./door/index.m3u8", "/hls/door/%69ndex.m3u8", "/hls/door/a%2fb", "/hls/door/.."} {
		w := b.do("GET", base+path, "")
		b.refused(w, problemNotFound)
		if w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: no CORS", path)
		}
	}
}

func TestALinkThatDoesNotHoldIsRefusedWithTheReason(t *testing.T) {
	b := newShareBench(t)
	short, revoked := b.share(`{"camera":"door","expires_in":"1m"}`), b.share(`{"camera":"door"}`)
	b.must(http.StatusNoContent, "DELETE", "/api/v1/shares/"+revoked.ID, "")
	b.refused(b.do("DELETE", "/api/v1/shares/"+revoked.ID, ""), problemNoShare)
	b.clock.Add(int64(time.Minute))
	for _, test := range []struct {
		token string
		want  kind
	}{
		{short.Token, problemShareExpired},
		{revoked.Token, problemShareRevoked},
		{short.Token[:len(short.Token)-1] + "_", problemShareInvalid},
		{"x", problemShareInvalid},
		{strings.Repeat("A", 5000), problemShareInvalid},
	} {
		for _, path := range []string{"/hls/door/index.m3u8", "/hls/door/main.1.2.m4s", "/watch/door"} {
			w := b.do("GET", "/s/"+test.token+path, "")
			b.refused(w, test.want)
			header := w.Header()
			if !strings.Contains(header.Get("Cache-Control"), "no-store") || header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("headers %v", header)
			}
		}
		page := b.do("GET", "/s/"+test.token+"/watch/door", "", "Accept", "text/html,*/*;q=0.8")
		if page.Code != test.want.status || !strings.Contains(page.Body.String(), "<h1>"+test.want.title) ||
			!strings.Contains(page.Header().Get("Cache-Control"), "no-store") || strings.Contains(page.Body.String(), "href=") {
			t.Errorf("page: %d %v %s", page.Code, page.Header(), page.Body)
		}
		// A preflight is answered as ever: else the player would not learn why.
		if w := b.do("OPTIONS", "/s/"+test.token+"/hls/door/index.m3u8", ""); w.Code != http.StatusOK {
			t.Errorf("preflight: %d", w.Code)
		}
	}
}

func TestALinkIsShownOnceAndListedUntilItEnds(t *testing.T) {
	b := newShareBench(t)
	given := b.share(`{"camera":"door","name":"for the neighbours","expires_in":"2h","max_viewers":3}`)
	if given.Action != "watch" || given.MaxViewers != 3 || given.Name != "for the neighbours" ||
		time.Time(given.ExpiresAt).Sub(time.Time(given.CreatedAt)) > 2*time.Hour {
		t.Errorf("got %+v", given)
	}
	b.do("GET", given.Playlist, "")
	list := b.must(http.StatusOK, "GET", "/api/v1/shares", "").Body.String()
	if !strings.Contains(list, `"id":"`+given.ID+`"`) || !strings.Contains(list, `"viewers":1`) || strings.Contains(list, given.Token) {
		t.Errorf("got %s", list)
	}
	if strings.Contains(b.log.String(), given.Token) {
		t.Error("the token is in the log")
	}
	if !strings.Contains(b.log.String(), "/s/[redacted]/hls/door/index.m3u8") {
		t.Errorf("the request is not: %s", b.log.String())
	}
	b.clock.Add(int64(2 * time.Hour))
	if got := b.must(http.StatusOK, "GET", "/api/v1/shares", "").Body.String(); strings.TrimSpace(got) != `{"shares":[]}` {
		t.Errorf("got %s", got)
	}
}

func TestABadShareIsNotMade(t *testing.T) {
	b := newShareBench(t)
	for body, want := range map[string]kind{
		`{"camera":"attic"}`:                                                      problemNoCamera,
		`{"camera":"../x"}`:                                                       problemNoCamera,
		`{}`:                                                                      problemInvalid,
		`{"camera":"door","action":"steer"}`:                                      problemInvalid,
		`{"camera":"door","expires_in":"soon"}`:                                   problemInvalid,
		`{"camera":"door","expires_in":"0s"}`:                                     problemInvalid,
		`{"camera":"door","expires_in":"-5h"}`:                                    problemInvalid,
		`{"camera":"door","expires_in":"4000d"}`:                                  problemInvalid,
		`{"camera":"door","expires_in":"100000d"}`:                                problemInvalid,
		`{"camera":"door","max_viewers":-1}`:                                      problemInvalid,
		`{"camera":"door","max_viewers":20001}`:                                   problemInvalid,
		`{"camera":"door","token":"x"}`:                                           problemInvalid,
		`{"camera":"door","expires_at":"2020-01-01T00:00:00Z"}`:                   problemInvalid,
		`{"camera":"door","expires_in":"1h","expires_at":"2999-01-01T00:00:00Z"}`: problemInvalid,
		`{"camera":"door","expires_at":"9999-01-01T00:00:00Z"}`:                   problemInvalid,
	} {
		b.refused(b.do("POST", "/api/v1/shares", body), want)
	}
	if got := b.must(http.StatusOK, "GET", "/api/v1/shares", "").Body.String(); strings.TrimSpace(got) != `{"shares":[]}` {
		t.Errorf("made all the same: %s", got)
	}
}

func TestARemovedCamerasLinksDoNotOpenTheNextOfItsName(t *testing.T) {
	b := newBench(t, nil)
	const body = `{"id":"hall","url":"rtsp://h/x"}`
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", body)
	given := b.share(`{"camera":"hall"}`)
	b.must(http.StatusNoContent, "DELETE", "/api/v1/cameras/hall", "")
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", body)
	b.refused(b.do("GET", given.Playlist, ""), problemShareRevoked)
	again, err := share.Open(t.Context(), b.registry.store, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Check(given.Token); !errors.Is(err, share.ErrRevoked) {
		t.Errorf("after a restart: %v", err)
	}
}

func TestAViewerMoreThanALinkAllowsIsAskedToWait(t *testing.T) {
	b := newShareBench(t)
	given := b.share(`{"camera":"door","max_viewers":1}`)
	get := func(path, address string) *http.Response {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr = address + ":5000"
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		return w.Result()
	}
	if got := get(given.Playlist, "10.0.0.1"); got.StatusCode != http.StatusOK {
		t.Errorf("the first: %d", got.StatusCode)
	}
	second := get(given.Playlist, "10.0.0.2")
	body, _ := io.ReadAll(second.Body)
	if second.StatusCode != http.StatusTooManyRequests || second.Header.Get("Retry-After") != "10" ||
		second.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(string(body), problemShareFull.path) {
		t.Errorf("the second: %d %v %s", second.StatusCode, second.Header, body)
	}
	if got := get(given.Playlist, "10.0.0.1"); got.StatusCode != http.StatusOK {
		t.Errorf("the first again: %d", got.StatusCode)
	}
	if got := get(given.Watch, "10.0.0.2"); got.StatusCode != http.StatusOK {
		t.Errorf("the page itself: %d", got.StatusCode)
	}
}

func TestALinkToRecordingsThatIsFullGivesNothingOfThem(t *testing.T) {
	b, _ := newArchiveBench(t)
	given := b.share(`{"camera":"door","action":"archive","max_viewers":1}`)
	base := "/s/" + given.Token + "/archive/door/"
	get := func(method, path, address string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.RemoteAddr = address + ":5000"
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{"clip.mp4?from=1&to=2", "clip.mp4.sha256?from=1&to=2", "frame?at=1", "index.m3u8?from=1&to=2", "main/20261130T120000.000Z-1.mp4", "boxes.vtt?at=1"} {
		if w := get("GET", base+path, "10.0.0.1"); w.Code != http.StatusOK {
			t.Errorf("%s, for the first: %d %s", path, w.Code, w.Body)
		}
		b.refused(get("GET", base+path, "10.0.0.2"), problemShareFull)
		b.clock.Add(int64(time.Minute)) // the first is gone
		if w := get("HEAD", base+path, "10.0.0.2"); w.Code != http.StatusOK {
			t.Errorf("%s, for the next: %d", path, w.Code)
		}
		b.refused(get("GET", base+path, "10.0.0.1"), problemShareFull)
		b.clock.Add(int64(time.Minute))
	}
	if w := get("OPTIONS", base+"clip.mp4", "10.0.0.3"); w.Code != http.StatusOK {
		t.Errorf("a preflight: %d", w.Code)
	}
}

func TestAProxyIsToldWhetherALinkIsGood(t *testing.T) {
	b := newShareBench(t)
	given, other := b.share(`{"camera":"door","max_viewers":1}`), b.share(`{"camera":"door"}`)
	check := func(uri, client string) (int, string) {
		w := b.do("GET", "/api/v1/shares/check", "", "X-Original-URI", uri, "X-Real-IP", client)
		return w.Code, w.Header().Get("Cache-Control")
	}
	base := "/s/" + given.Token
	for _, uri := range []string{given.Playlist, base + "/hls/door/main.1.2.m4s?x=y", given.Watch, given.Watch + "?%2e%2e"} {
		if status, cache := check(uri, "10.0.0.1"); status != http.StatusNoContent || cache != "max-age=10" {
			t.Errorf("%s: %d, %s", uri, status, cache)
		}
	}
	for _, uri := range []string{"", "/", "/hls/door/index.m3u8", "/s/x/hls/door/index.m3u8", base, base + "/hls/yard/index.m3u8",
		base + "/api/v1/cameras", base + "/hls/door/../yard/index.m3u8", base + "/hls/door/%2e%2e/yard/index.m3u8", base + "/hls//door/x",
		"http://h" + given.Playlist} {
		if status, cache := check(uri, "10.0.0.1"); status != http.StatusForbidden || !strings.Contains(cache, "no-store") {
			t.Errorf("%s: %d, %s", uri, status, cache)
		}
	}
	if status, _ := check(given.Playlist, "10.0.0.2"); status != http.StatusForbidden {
		t.Errorf("a viewer too many: %d", status)
	}
	if status, _ := check(other.Playlist, ""); status != http.StatusNoContent {
		t.Errorf("a proxy that does not say for whom it asks: %d", status)
	}
	b.must(http.StatusNoContent, "DELETE", "/api/v1/shares/"+given.ID, "")
	b.clock.Add(int64(24 * time.Hour))
	for _, uri := range []string{given.Playlist, other.Playlist} {
		if status, _ := check(uri, "10.0.0.1"); status != http.StatusForbidden {
			t.Errorf("revoked or expired: %d", status)
		}
	}
}

func FuzzSharedPath(f *testing.F) {
	for _, path := range []string{"/s/t/hls/door/index.m3u8", "/s/t/watch/door", "/s//hls/x", "/s/t/hls/../x/y", "/s/"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		s, ok := parseShared(path)
		if !ok {
			return
		}
		if path != fmt.Sprintf("/s/%s%s", s.token, s.path) || !strings.HasPrefix(s.path+"/", "/"+s.tree+"/"+s.camera+"/") ||
			strings.ContainsAny(s.token+s.camera, "/%") || s.camera == ".." {
			t.Errorf("%q: %+v", path, s)
		}
		if strings.Contains(loggedPath("/s/SECRET/"+path), "SECRET") {
			t.Errorf("%q: the token is logged", path)
		}
	})
}
