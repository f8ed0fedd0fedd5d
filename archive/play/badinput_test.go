package play_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/archive/export"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/archive/play"
)

func TestARangeThatIsNoneIsToldSo(t *testing.T) {
	r := newRig(t)
	r.Take(archivetest.LoadClip(t, "h264"), 1, 10*time.Minute).Record(1)
	for title, c := range map[string]struct {
		path   string
		status int
		kind   string
	}{
		"reversed":               {"index.m3u8" + span(time.Minute, 0), 400, "bad-range"},
		"empty":                  {"index.m3u8" + span(time.Minute, time.Minute), 400, "bad-range"},
		"only an end":            {"index.m3u8?to=" + at(0), 400, "bad-range"},
		"no time":                {"index.m3u8?from=yesterday", 400, "bad-range"},
		"a path":                 {"index.m3u8?from=../../etc/passwd", 400, "bad-range"},
		"twice":                  {"index.m3u8?from=5&from=6", 400, "bad-range"},
		"broken encoding":        {"index.m3u8?from=%zz", 400, "bad-range"},
		"too long":               {"index.m3u8?x=" + strings.Repeat("y", 5000), 400, "bad-range"},
		"a source with dots":     {"index.m3u8?source=../main", 400, "bad-range"},
		"a source that is none":  {"index.m3u8?source=sub", 404, "no-recording"},
		"in the future":          {"index.m3u8" + span(2*time.Hour, 3*time.Hour), 404, "no-recording"},
		"from the future on":     {"index.m3u8?from=" + at(2*time.Hour), 404, "no-recording"},
		"before all":             {"index.m3u8" + span(0, time.Minute), 404, "no-recording"},
		"in a gap":               {"index.m3u8" + span(20*time.Minute, 30*time.Minute), 404, "no-recording"},
		"from a gap on, nothing": {"index.m3u8?from=" + at(20*time.Minute), 404, "no-recording"},
		"pictures of nothing":    {"iframes.m3u8" + span(0, time.Minute), 404, "no-recording"},
		"variants of nothing":    {"main.m3u8" + span(0, time.Minute), 404, "no-recording"},
		"variants of the future": {"main.m3u8?from=" + at(2*time.Hour), 404, "no-recording"},
		"a picture of no time":   {"frame", 400, "bad-range"},
		"a picture before all":   {"frame?at=" + at(time.Minute), 404, "no-recording"},
		"a picture in a gap":     {"frame?at=" + at(20*time.Minute), 404, "no-recording"},
		"a picture as JPEG":      {"frame?at=" + at(10*time.Minute) + "&format=jpeg", 406, "no-jpeg"},
		"a picture as GIF":       {"frame?at=" + at(10*time.Minute) + "&format=gif", 400, "bad-range"},
		"a clip of no time":      {"clip.mp4", 404, "not-found"},
		"nothing of this name":   {"index.m3u9", 404, "not-found"},
	} {
		t.Run(title, func(t *testing.T) { r.refused(r.get(c.path), c.status, c.kind) })
	}
	// From a gap on, it begins with the next footage; a century holds what there is.
	for _, path := range []string{"index.m3u8" + span(0, time.Hour), "index.m3u8?from=0&to=4102444800", "index.m3u8?from=" + at(0), "index.m3u8?utm_source=x&token=y"} {
		if got := list(t, r.playlist(path), nil); len(got.entries) != 4 {
			t.Errorf("%s: %d segments", path, len(got.entries))
		}
	}
}

func TestCamerasWithoutRecordingsAreToldFromThoseThatAreNot(t *testing.T) {
	r := newRig(t)
	for camera, kind := range map[string]string{"new": "no-recording", "none": "camera-not-found"} {
		w := httptest.NewRecorder()
		r.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/archive/"+camera+"/index.m3u8", nil))
		r.refused(w, http.StatusNotFound, kind)
	}
	for _, path := range []string{"/archive/", "/archive/door", "/archive//index.m3u8", "/archive/Door/index.m3u8", "/archive/../archive/door/index.m3u8", "/archive/door%2f/index.m3u8"} {
		w := httptest.NewRecorder()
		r.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		r.refused(w, http.StatusNotFound, "not-found")
	}
}

func TestOnlyReadingIsAllowedAndPreflightsAreAnswered(t *testing.T) {
	r := newRig(t)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		w := r.do(method, "index.m3u8")
		r.refused(w, http.StatusMethodNotAllowed, "method-not-allowed")
		if w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: %v", method, w.Header())
		}
	}
	if w := r.do(http.MethodOptions, "index.m3u8"); w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("OPTIONS: %d %v", w.Code, w.Header())
	}
}

// fill puts rows without files into the index: minutes from noon on, back to back.
func fill(t testing.TB, r *rig, minutes int) {
	t.Helper()
	var fragments []layout.Fragment
	for range 30 {
		fragments = append(fragments, layout.Fragment{Bytes: 500_000, Head: 60_000, Duration: 180_000, Keyframe: true})
	}
	files := make([]index.File, minutes)
	for i := range files {
		files[i] = index.File{Stream: r.Stream.ID, Number: int64(i + 1), Run: 1, Epoch: 1, Start: archivetest.Noon.Add(time.Duration(i) * time.Minute),
			Init: 800, Header: 900, Sequence: uint64(i * 30), Fragments: fragments, Format: index.Format{Codecs: "avc1.640028", Width: 1920, Height: 1080, FPS: 25}}
	}
	if err := r.Index.Restore(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
}

func TestOfAnIndexThatSaysWhatCannotBeThereIsNoPicture(t *testing.T) {
	for title, change := range map[string]func(*index.File){
		"a picture within its mark":     func(f *index.File) { f.Fragments[0].Head = 10 },
		"a header of less than nothing": func(f *index.File) { f.Init = -1 },
	} {
		t.Run(title, func(t *testing.T) {
			r := newRig(t)
			f := *r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Record(1)
			f.Fragments = []layout.Fragment{{Bytes: 1100, Head: 100, Duration: 180_000, Keyframe: true}}
			change(&f)
			if err := r.Index.Restore(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			if w := r.get("frame?at=" + at(time.Second)); w.Code != http.StatusServiceUnavailable && w.Code != http.StatusNotFound {
				t.Errorf("%d %.100s", w.Code, w.Body)
			}
		})
	}
}

func TestALongRangeHasLongerSegmentsAndATooLongOneIsRefused(t *testing.T) {
	r := newRig(t)
	const day = 24 * 60
	fill(t, r, 7*day+90)
	r.set(9 * 24 * time.Hour)
	for _, c := range []struct {
		days    time.Duration
		entries int
	}{{1, day * 30}, {2, 2 * day * 6}, {7, 7 * day * 6}} {
		got := list(t, r.playlist("index.m3u8"+span(0, c.days*24*time.Hour)), nil)
		if len(got.entries) != c.entries || int(got.lasts+0.5) != int(c.days)*86400 {
			t.Errorf("%d days: %d entries of %v s", c.days, len(got.entries), got.lasts)
		}
	}
	w := r.get("index.m3u8?from=0&to=4102444800")
	r.refused(w, http.StatusBadRequest, "bad-range")
	if !strings.Contains(w.Body.String(), "at most a week") {
		t.Errorf("it does not say how much there may be: %s", w.Body)
	}
	w = r.get("index.m3u8?from=0")
	r.refused(w, http.StatusBadRequest, "bad-range")
	if !strings.Contains(w.Body.String(), "24h") {
		t.Errorf("it does not say how much there may be: %s", w.Body)
	}
}

func TestAClipIsHandedOverWithItsHeadersAndChecksum(t *testing.T) {
	r := newRig(t)
	r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Record(2)
	clips, err := export.New(r.Index, r.Dir, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clips.Close() })
	r.serve(play.Options{Clips: clips})
	w := r.get("clip.mp4" + span(0, 10*time.Second))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "video/mp4" || w.Header().Get("Drover-Clip-From") == "" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if part := r.get("clip.mp4"+span(0, 10*time.Second), "Range", "bytes=0-9"); part.Code != http.StatusPartialContent || part.Body.Len() != 10 {
		t.Errorf("a part: %d, %d bytes", part.Code, part.Body.Len())
	}
	if sum := r.get("clip.mp4.sha256" + span(0, 10*time.Second)); sum.Code != http.StatusOK || !strings.HasSuffix(sum.Body.String(), ".mp4\n") || len(sum.Body.String()) < 66 {
		t.Errorf("checksum: %d %s", sum.Code, sum.Body)
	}
	r.refused(r.get("clip.mp4"), http.StatusBadRequest, "bad-range")
	r.refused(r.get("clip.mp4"+span(0, time.Minute)+"&gaps=fill"), http.StatusBadRequest, "bad-range")
	r.refused(r.get("clip.mp4"+span(time.Hour, 2*time.Hour)), http.StatusNotFound, "no-recording")
	r.refused(r.get("clip.mp4"+span(0, 100*24*time.Hour)), http.StatusBadRequest, "bad-range")
	busy, err := clips.Clip(context.Background(), export.Request{Camera: "door", From: archivetest.Noon, To: archivetest.Noon.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	r.refused(r.get("clip.mp4"+span(0, 10*time.Second)), http.StatusTooManyRequests, "too-many-requests")
}
