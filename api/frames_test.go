package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
)

// stills is a function as Stills.
type stills func(id, source string, format FrameFormat) (StillFrame, error)

func (s stills) Still(id, source string, format FrameFormat) (StillFrame, error) {
	return s(id, source, format)
}

func TestTheLatestFrameComesInTheFormThatIsAskedFor(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	b := newBench(t, func(o *Options) {
		o.Stills = stills(func(id, source string, format FrameFormat) (StillFrame, error) {
			return StillFrame{Data: []byte(id + "/" + source + " " + string(format)), Codec: "H265", Source: "main", Sequence: 12, Epoch: 3, Wall: at}, nil
		})
	})
	for _, c := range []struct{ query, accept, body, kind string }{
		{"", "", "door/ mp4", "video/mp4"},
		{"", "*/*", "door/ mp4", "video/mp4"},
		{"", "video/mp4", "door/ mp4", "video/mp4"},
		{"", "video/h265", "door/ annexb", "video/h265"},
		{"?format=annexb", "", "door/ annexb", "video/h265"},
		{"?format=mp4", "video/h264", "door/ mp4", "video/mp4"},
		{"?source=sub", "image/*, */*", "door/sub mp4", "video/mp4"},
	} {
		w := b.do("GET", "/api/v1/cameras/door/frames/latest"+c.query, "", "Accept", c.accept)
		header := w.Header()
		if w.Code != http.StatusOK || w.Body.String() != c.body || header.Get("Content-Type") != c.kind {
			t.Errorf("%s, Accept %q: %d %s %v", c.query, c.accept, w.Code, w.Body, header)
		}
		if header.Get("Drover-Sequence") != "12" || header.Get("Drover-Epoch") != "3" || header.Get("Drover-Source") != "main" ||
			header.Get("Drover-Time") != "2026-03-04T05:06:07.000008Z" || header.Get("Last-Modified") != "Wed, 04 Mar 2026 05:06:07 GMT" {
			t.Errorf("got %v", header)
		}
	}
	b.must(http.StatusUnprocessableEntity, "GET", "/api/v1/cameras/door/frames/latest?format=png", "")
}

func TestAFrameThatCannotBeHadSaysWhy(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		kind   string
		says   string
	}{
		{camera.ErrNotFound, http.StatusNotFound, "camera-not-found", "no camera door"},
		{camera.ErrNoPicture, http.StatusServiceUnavailable, "camera-not-live", "try again"},
		{ErrNoStill, http.StatusConflict, "no-snapshot", "snapshot.jpg"},
	} {
		b := newBench(t, func(o *Options) {
			o.Stills = stills(func(string, string, FrameFormat) (StillFrame, error) { return StillFrame{}, c.err })
		})
		w := b.must(c.status, "GET", "/api/v1/cameras/door/frames/latest", "")
		if body := w.Body.String(); !strings.Contains(body, "/problems/"+c.kind+`"`) || !strings.Contains(body, c.says) {
			t.Errorf("%v: %s", c.err, body)
		}
	}
}

func TestTheTapIsGuardedLikeTheAPI(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.CheckHosts = true
		o.Tap = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUpgradeRequired) })
	})
	if w := b.do("GET", "http://evil.example/api/v1/tap?camera=*", ""); w.Code != http.StatusForbidden {
		t.Errorf("by another name: %d %s", w.Code, w.Body)
	}
	if w := b.do("GET", "http://localhost/api/v1/tap?camera=*", ""); w.Code != http.StatusUpgradeRequired {
		t.Errorf("by its own name: %d %s", w.Code, w.Body)
	}
	if w := b.do("GET", "http://localhost/api/v1/openapi.json", ""); !strings.Contains(w.Body.String(), `"/api/v1/tap"`) {
		t.Error("it is not described")
	}
}
