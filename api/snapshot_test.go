package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
)

// pictures is a function as Pictures.
type pictures func(id string) (camera.Picture, error)

func (p pictures) Picture(id string) (camera.Picture, error) { return p(id) }

func TestASnapshotIsTheCamerasOwnJPEG(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	b := newBench(t, func(o *Options) {
		o.Pictures = pictures(func(id string) (camera.Picture, error) {
			if id != "door" {
				t.Errorf("asked for %q", id)
			}
			return camera.Picture{JPEG: []byte("\xff\xd8picture\xff\xd9"), At: at}, nil
		})
	})
	w := b.must(http.StatusOK, "GET", "/api/v1/cameras/door/snapshot.jpg", "")
	header := w.Header()
	if w.Body.String() != "\xff\xd8picture\xff\xd9" || header.Get("Content-Type") != "image/jpeg" ||
		header.Get("Last-Modified") != "Wed, 04 Mar 2026 05:06:07 GMT" || !strings.Contains(header.Get("Cache-Control"), "no-store") {
		t.Errorf("%q, %v", w.Body, header)
	}
	b.must(http.StatusOK, "HEAD", "/api/v1/cameras/door/snapshot.jpg", "")
	if w := b.do("GET", "/api/v1/cameras/door/snapshot.jpg", "", "Accept", "image/jpeg"); w.Code != http.StatusOK {
		t.Errorf("to a client that takes nothing else: %d %s", w.Code, w.Body)
	}
}

func TestASnapshotThatCannotBeHadSaysWhy(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		kind   string
		says   string
	}{
		{camera.ErrNotFound, http.StatusNotFound, "camera-not-found", "no camera door"},
		{camera.ErrNoJPEG, http.StatusConflict, "no-snapshot", "does not transcode"},
		{camera.ErrNoPicture, http.StatusServiceUnavailable, "camera-not-live", "try again"},
	} {
		b := newBench(t, func(o *Options) {
			o.Pictures = pictures(func(string) (camera.Picture, error) { return camera.Picture{}, c.err })
		})
		w := b.must(c.status, "GET", "/api/v1/cameras/door/snapshot.jpg", "")
		if body := w.Body.String(); !strings.Contains(body, "/problems/"+c.kind+`"`) || !strings.Contains(body, c.says) || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%v: %s, %v", c.err, body, w.Header())
		}
		if retry := w.Header().Get("Retry-After"); (retry != "") != (c.status == http.StatusServiceUnavailable) {
			t.Errorf("%v: Retry-After %q", c.err, retry)
		}
	}
}

func TestTheDescriptionTellsOfSnapshots(t *testing.T) {
	b := newBench(t, nil)
	var document struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]any
			}
		}
	}
	if err := json.Unmarshal(b.must(http.StatusOK, "GET", "/api/v1/openapi.json", "").Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	responses := document.Paths["/api/v1/cameras/{id}/snapshot.jpg"]["get"].Responses
	if content := responses["200"].Content; len(content) != 1 || content["image/jpeg"] == nil {
		t.Errorf("200 has content %v", content)
	}
	for _, status := range []string{"404", "409", "503"} {
		if _, ok := responses[status]; !ok {
			t.Errorf("no word of %s", status)
		}
	}
}
