package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/footage"
)

var tenOClock = time.Date(2025, 12, 1, 10, 0, 0, 0, time.UTC)

// An archive knows of one camera, and remembers what it was asked.
type archive struct {
	asked      footage.Query
	resolution time.Duration
	zone       *time.Location
	timeline   footage.Timeline
	bookmarks  map[int64]footage.Bookmark
	fail       error
}

func (a *archive) Recorded(camera string) bool { return camera == "gone" }

func (a *archive) Timeline(_ context.Context, q footage.Query, resolution time.Duration) (footage.Timeline, error) {
	a.asked, a.resolution = q, resolution
	return a.timeline, a.fail
}

func (a *archive) Days(_ context.Context, q footage.Query, zone *time.Location) ([]footage.Day, error) {
	a.asked, a.zone = q, zone
	return []footage.Day{{Date: "2025-12-01", Bytes: 7, Covered: 90 * time.Second}}, a.fail
}

func (a *archive) Delete(_ context.Context, q footage.Query) (footage.Deleted, error) {
	a.asked = q
	return footage.Deleted{Files: 2, Bytes: 99}, a.fail
}

func (a *archive) Bookmarks(_ context.Context, _ string, from, to time.Time, _ int) ([]footage.Bookmark, error) {
	a.asked.From, a.asked.To = from, to
	var all []footage.Bookmark
	for _, b := range a.bookmarks {
		all = append(all, b)
	}
	return all, a.fail
}

func (a *archive) AddBookmark(_ context.Context, _ string, b footage.Bookmark) (int64, error) {
	if a.fail != nil {
		return 0, a.fail
	}
	b.ID = 17
	a.bookmarks = map[int64]footage.Bookmark{17: b}
	return 17, nil
}

func (a *archive) RemoveBookmark(_ context.Context, _ string, id int64) error {
	if _, ok := a.bookmarks[id]; !ok {
		return footage.ErrNotFound
	}
	delete(a.bookmarks, id)
	return nil
}

func newArchiveBench(t *testing.T) (*bench, *archive) {
	t.Helper()
	a := &archive{}
	b := newBench(t, func(o *Options) {
		o.Archive = a
		o.Recorded = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "recorded ", r.URL.Path) })
	})
	b.addFileCamera("door")
	return b, a
}

func TestATimelineSaysWhatThereIsAndWhatThereIsNot(t *testing.T) {
	b, a := newArchiveBench(t)
	minute := func(n int) time.Time { return tenOClock.Add(time.Duration(n) * time.Minute) }
	a.timeline = footage.Timeline{Source: "main", Bytes: 123, Covered: 15 * time.Minute,
		Spans:     []footage.Span{{From: minute(0), To: minute(20), Bytes: 123, Covered: 15 * time.Minute}},
		Gaps:      []footage.Gap{{From: minute(20), To: minute(21), Cause: "network", Detail: "no route"}, {From: minute(30), Cause: "camera_off"}},
		Bookmarks: []footage.Bookmark{{ID: 3, From: minute(1), To: minute(2), Kind: "user", Name: "fox", Keep: true}}, MoreGaps: true}
	w := b.must(http.StatusOK, "GET", "/api/v1/cameras/door/recordings?from=2025-12-01T10:00:00Z&to=1764585000&resolution=2.5", "")
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "$schema")
	back, _ := json.Marshal(got)
	const want = `{"bookmarks":[{"from":"2025-12-01T10:01:00.000000Z","id":3,"keep":true,"kind":"user","name":"fox","to":"2025-12-01T10:02:00.000000Z"}],` +
		`"bytes":123,"coverage_ratio":0.5,"from":"2025-12-01T10:00:00.000000Z","gaps":[{"cause":"network","detail":"no route","from":"2025-12-01T10:20:00.000000Z","to":"2025-12-01T10:21:00.000000Z"},` +
		`{"cause":"camera_off","detail":"","from":"2025-12-01T10:30:00.000000Z"}],"more_gaps":true,"resolution_seconds":2.5,"source":"main",` +
		`"spans":[{"bytes":123,"coverage_ratio":0.75,"from":"2025-12-01T10:00:00.000000Z","to":"2025-12-01T10:20:00.000000Z"}],"to":"2025-12-01T10:30:00.000000Z","zone":"UTC"}`
	if string(back) != want {
		t.Errorf("got\n%s\nwant\n%s", back, want)
	}
	if a.resolution != 2500*time.Millisecond || a.asked != (footage.Query{Camera: "door", From: minute(0), To: minute(30)}) {
		t.Errorf("asked %+v, %v", a.asked, a.resolution)
	}
}

func TestATimelineWithoutARangeIsOfTheLastDay(t *testing.T) {
	b, a := newArchiveBench(t)
	b.must(http.StatusOK, "GET", "/api/v1/cameras/door/recordings?source=sub", "")
	if a.asked.To.Sub(a.asked.From) != 24*time.Hour || time.Since(a.asked.To) > time.Minute || a.asked.Source != "sub" || a.resolution != 86400*time.Millisecond {
		t.Errorf("asked %+v, %v", a.asked, a.resolution)
	}
	b.must(http.StatusOK, "GET", "/api/v1/cameras/gone/recordings", "") // removed, and its recordings are there
}

func TestDaysAreThoseOfAZone(t *testing.T) {
	b, a := newArchiveBench(t)
	w := b.must(http.StatusOK, "GET", "/api/v1/cameras/door/recordings/days?from=0&to=1764583200000&zone=Europe/Berlin", "")
	if !strings.Contains(w.Body.String(), `"days":[{"date":"2025-12-01","bytes":7,"covered_seconds":90}]`) || a.zone.String() != "Europe/Berlin" {
		t.Errorf("got %s of %v", w.Body, a.zone)
	}
	for _, zone := range []string{"Local", "../../etc/passwd", "/etc/passwd", "Nowhere/Town", "Europe%2F..%2F..%2Fx"} {
		b.refused(b.do("GET", "/api/v1/cameras/door/recordings/days?zone="+zone, ""), problemInvalid)
	}
}

func TestADeletionNeedsItsRangeInFull(t *testing.T) {
	b, a := newArchiveBench(t)
	const path = "/api/v1/cameras/door/recordings"
	w := b.must(http.StatusOK, "DELETE", path+"?from=2025-12-01T10:00:00Z&to=2025-12-01T11:00:00Z", "")
	if !strings.Contains(w.Body.String(), `"files":2,"bytes":99`) || a.asked.To.Sub(a.asked.From) != time.Hour {
		t.Errorf("got %s, asked %+v", w.Body, a.asked)
	}
	for _, query := range []string{"", "?from=0", "?to=1764583200", "?from=5&to=5", "?from=6&to=5", "?from=x&to=y", "?from=..&to=%2e%2e"} {
		b.refused(b.do("DELETE", path+query, ""), problemInvalid)
	}
	b.refused(b.do("DELETE", path+"?from=0&to=5", "", "Origin", "https://evil.example"), problemCrossOrigin)
}

func TestBookmarksAreMadeListedAndRemoved(t *testing.T) {
	b, a := newArchiveBench(t)
	const path = "/api/v1/cameras/door/bookmarks"
	w := b.must(http.StatusCreated, "POST", path, `{"from":"2025-12-01T10:00:00Z","to":"1764583260.5","name":"fox","keep":true}`)
	if got := w.Header().Get("Location"); got != path+"/17" || !strings.Contains(w.Body.String(), `"id":17`) || !strings.Contains(w.Body.String(), `"kind":"user"`) {
		t.Errorf("got %s %s", got, w.Body)
	}
	if want := (footage.Bookmark{ID: 17, From: tenOClock, To: tenOClock.Add(60500 * time.Millisecond), Kind: "user", Name: "fox", Keep: true}); a.bookmarks[17] != want {
		t.Errorf("kept %+v", a.bookmarks[17])
	}
	if w := b.must(http.StatusOK, "GET", path+"?from=5", ""); !strings.Contains(w.Body.String(), `"name":"fox"`) || !a.asked.To.IsZero() {
		t.Errorf("got %s, asked %+v", w.Body, a.asked)
	}
	b.must(http.StatusNoContent, "DELETE", path+"/17", "")
	b.refused(b.do("DELETE", path+"/17", ""), problemNoBookmark)
	for _, body := range []string{`{}`, `{"from":"x","to":"y"}`, `{"from":"5","to":"5"}`, `{"from":"0","to":"1764583200","keep":true}`,
		`{"from":"5","to":"6","name":"` + strings.Repeat("x", 201) + `"}`} {
		b.refused(b.do("POST", path, body), problemInvalid)
	}
	a.fail = footage.ErrTooMany
	b.refused(b.do("POST", path, `{"from":"5","to":"6"}`), problemBookmarks)
}

func TestBadRangesOfRecordingsAreToldSo(t *testing.T) {
	b, a := newArchiveBench(t)
	const path = "/api/v1/cameras/door/recordings"
	for _, query := range []string{"?from=6&to=5", "?from=5&to=5", "?from=x", "?to=../../x", "?from=" + strings.Repeat("1", 41), "?resolution=-1",
		"?from=2999-01-01T00:00:00Z", "?source=" + strings.Repeat("x", 64)} {
		b.refused(b.do("GET", path+query, ""), problemInvalid)
	}
	b.refused(b.do("GET", "/api/v1/cameras/none/recordings", ""), problemNoCamera)
	b.must(http.StatusOK, "GET", path+"?from=0&to=4102444800", "") // a century and more
	b.must(http.StatusOK, "GET", path+"?from=0&to=100&resolution=NaN", "")
	if a.resolution != 100*time.Millisecond {
		t.Errorf("a resolution that is no number is %v", a.resolution)
	}
	a.fail = errors.New("the disk /secret/place is on fire")
	w := b.do("GET", path, "")
	b.refused(w, problemInternal)
	if strings.Contains(w.Body.String(), "fire") || !strings.Contains(b.log.String(), "on fire") {
		t.Errorf("told %s, logged %s", w.Body, b.log.String())
	}
}

func TestWithoutAnArchiveThatIsSaid(t *testing.T) {
	b := newBench(t, nil)
	b.addFileCamera("door")
	for _, path := range []string{"/api/v1/cameras/door/recordings", "/api/v1/cameras/door/recordings/days", "/api/v1/cameras/door/bookmarks"} {
		b.refused(b.do("GET", path, ""), problemNoArchive)
	}
	b.refused(b.do("GET", "/archive/door/index.m3u8", ""), problemNotFound)
}

func TestRecordingsAreServedBesideTheLivePictureAndBehindALinkForThem(t *testing.T) {
	b, _ := newArchiveBench(t)
	if w := b.do("GET", "/archive/door/index.m3u8?from=5", ""); w.Body.String() != "recorded /archive/door/index.m3u8" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	token := func(action string) string {
		w := b.must(http.StatusCreated, "POST", "/api/v1/shares", `{"camera":"door","action":"`+action+`"}`)
		var given GivenShare
		_ = json.Unmarshal(w.Body.Bytes(), &struct{ Token *string }{&given.Token})
		return "/s/" + given.Token
	}
	watch, all := token("watch"), token("archive")
	for path, want := range map[string]string{
		all + "/archive/door/main/20261130T120000.000Z-1.mp4": "recorded /archive/door/main/20261130T120000.000Z-1.mp4",
		all + "/archive/door/index.m3u8":                      "recorded /archive/door/index.m3u8",
		all + "/hls/door/index.m3u8":                          "media /hls/door/index.m3u8",
		all + "/watch/door":                                   "web /watch/door",
		watch + "/hls/door/index.m3u8":                        "media /hls/door/index.m3u8",
	} {
		if w := b.do("GET", path, ""); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	b.refused(b.do("GET", watch+"/archive/door/index.m3u8", ""), problemShareInvalid)
	b.refused(b.do("GET", all+"/archive/yard/index.m3u8", ""), problemShareInvalid)
	b.refused(b.do("GET", all+"/archive/door/../yard/index.m3u8", ""), problemNotFound)
	b.refused(b.do("GET", all+"/api/v1/cameras", ""), problemNotFound)
	b.must(http.StatusUnprocessableEntity, "POST", "/api/v1/shares", `{"camera":"door","action":"everything"}`)
}
