package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/cmcd"
)

const reports = "e=ps,sid=\"a\",sn=0,sta=s,ts=1000,v=2\ne=ps,sid=\"a\",sn=1,sta=p,ts=1500,ltc=2500,br=(3000),v=2\n" +
	"e=ps,sid=\"a\",sn=2,sta=r,ts=3000,v=2\ne=e,ec=(\"fragLoadError\"),sid=\"a\",sn=3,ts=3100,v=2\ne=ps,sid=\"a\",sn=4,sta=p,ts=4250,v=2\n"

func TestWhatPlayersReportIsToldOfTheirCamera(t *testing.T) {
	b := newShareBench(t)
	base := "/s/" + b.share(`{"camera":"door"}`).Token
	for _, path := range []string{"/hls/door/cmcd", base + "/hls/door/cmcd"} { // the second time, nothing is new
		w := b.do("POST", path, reports, "Content-Type", "application/cmcd", "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site")
		if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
	want := `{"players":1,"playing":1,"stalled":0,"latency":{"p50_seconds":2.5,"p95_seconds":2.5},"bitrate_bps":3000000,` +
		`"starts":1,"start_seconds":0.5,"stalls":1,"stall_seconds":1.25,"errors":[{"code":"fragLoadError","count":1}],"reports":5}`
	if got := strings.TrimSpace(b.must(http.StatusOK, "GET", "/api/v1/cameras/door/playback", "").Body.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := b.must(http.StatusOK, "GET", "/api/v1/cameras/yard/playback", "").Body.String(); !strings.Contains(got, `"reports":0`) || !strings.Contains(got, `"errors":[]`) {
		t.Errorf("another camera: %s", got)
	}
	b.refused(b.do("GET", "/api/v1/cameras/attic/playback", ""), problemNoCamera)
}

func TestReportsThatCannotBeReadAreRefused(t *testing.T) {
	b := newShareBench(t)
	base := "/s/" + b.share(`{"camera":"door"}`).Token
	post := func(path, body, contentType string) kindOfAnswer {
		return func(want kind) {
			t.Helper()
			w := b.do("POST", path, body, "Content-Type", contentType)
			b.refused(w, want)
			if w.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(w.Header().Get("Cache-Control"), "no-store") {
				t.Errorf("headers %v", w.Header())
			}
		}
	}
	post("/hls/door/cmcd", "hello", "application/cmcd")(problemMalformed)
	post("/hls/door/cmcd", " ", "text/plain")(problemMalformed)
	post("/hls/door/cmcd", strings.Repeat("x", cmcd.MaxBatchBytes+1), "application/cmcd")(problemTooLarge)
	post("/hls/door/cmcd", reports, "application/json")(problemMediaType)
	post("/hls/attic/cmcd", reports, "application/cmcd")(problemNoCamera)
	post(base+"/hls/yard/cmcd", reports, "application/cmcd")(problemShareInvalid)
	post("/s/x/hls/door/cmcd", reports, "application/cmcd")(problemShareInvalid)
	if w := b.do("GET", "/hls/door/cmcd", ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET: %d %v", w.Code, w.Header())
	}
	for _, path := range []string{"/hls/door/cmcd", base + "/hls/door/cmcd"} {
		w := b.do("OPTIONS", path, "")
		if w.Code != http.StatusNoContent || !strings.Contains(w.Header().Get("Access-Control-Allow-Methods"), "POST") || w.Header().Get("Access-Control-Allow-Headers") != "Content-Type" {
			t.Errorf("preflight of %s: %d %v", path, w.Code, w.Header())
		}
	}
	if got := b.must(http.StatusOK, "GET", "/api/v1/cameras/door/playback", "").Body.String(); !strings.Contains(got, `"reports":0`) {
		t.Errorf("something was noted: %s", got)
	}
}

type kindOfAnswer func(want kind)

func TestARemovedCamerasFiguresAreForgotten(t *testing.T) {
	b := newBench(t, nil)
	const body = `{"id":"hall","url":"rtsp://h/x"}`
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", body)
	b.do("POST", "/hls/hall/cmcd", reports, "Content-Type", "application/cmcd")
	b.must(http.StatusNoContent, "DELETE", "/api/v1/cameras/hall", "")
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", body)
	if got := b.must(http.StatusOK, "GET", "/api/v1/cameras/hall/playback", "").Body.String(); !strings.Contains(got, `"reports":0`) {
		t.Errorf("got %s", got)
	}
}
