//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// A playback is what a browser says of a playlist of recordings.
type playback struct {
	First   float64   `json:"first"` // ms to the first picture
	Lasts   float64   `json:"lasts"` // seconds
	Seeks   []float64 `json:"seeks"` // ms to a picture of the new place
	Frames  int       `json:"frames"`
	Errors  []string  `json:"errors"`
	Fatal   string    `json:"fatal"`
	LiveAt  time.Time `json:"liveAt"`
	BackAt  time.Time `json:"backAt"`
	AgainAt time.Time `json:"againAt"`
	Joins   []struct {
		At   float64   `json:"at"`
		Date time.Time `json:"date"`
	} `json:"joins"`
	Playlists []struct {
		Bytes   int    `json:"bytes"`
		Skipped int    `json:"skipped"`
		Entries int    `json:"entries"`
		URL     string `json:"url"`
	} `json:"playlists"`
}

// playInBrowser plays recordings with hls.js.
func playInBrowser(t *testing.T, arguments ...string) playback {
	t.Helper()
	command := exec.CommandContext(t.Context(), "node", append([]string{"browser/archive.mjs"}, arguments...)...)
	command.WaitDelay = 10 * time.Second
	errors := &logBuffer{}
	command.Stderr = errors
	output, err := command.Output()
	if err != nil {
		t.Fatalf("the browser: %v\n%s", err, errors)
	}
	var p playback
	if err := json.Unmarshal(output, &p); err != nil {
		t.Fatalf("the browser says %.300q: %v", output, err)
	}
	if p.Fatal != "" {
		t.Errorf("hls.js gave up: %s, after %q", p.Fatal, p.Errors)
	}
	return p
}

// p95 is of few values the second highest or so.
func p95(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*95/100)]
}

func stampOf(at time.Time) string { return url.QueryEscape(at.UTC().Format(time.RFC3339Nano)) }

// history records what lies in the past of a server that is not started yet.
func history(t *testing.T, folder string, zero time.Time, record func(a *archivetest.Archive)) {
	t.Helper()
	dir := filepath.Join(folder, "archive")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a := archivetest.NewIn(t, dir, zero)
	record(a)
	if err := a.Index.Close(); err != nil {
		t.Fatal(err)
	}
}

// newServerWithHistory starts a server that finds recordings.
func newServerWithHistory(t *testing.T, zero time.Time, record func(a *archivetest.Archive)) *server {
	t.Helper()
	s := &server{t: t, address: freeAddress(t), folder: filepath.Join(t.TempDir(), "data"), log: &logBuffer{}}
	t.Cleanup(s.finish)
	history(t, s.folder, zero, record)
	s.start()
	return s
}

func TestABrowserPlaysARangeOverAGapAndAReconnectAndSeeks(t *testing.T) {
	zero := time.Now().Add(-time.Hour).Truncate(time.Second)
	s := newServerWithHistory(t, zero, func(a *archivetest.Archive) {
		clip := archivetest.LoadClip(t, "h264")
		one := a.Take(clip, 1, 0)
		for range 4 { // files of a minute or so that go on from each other
			one.Record(7)
		}
		one.Skip(25 * 30) // half a minute is missing
		one.Record(7)
		two := a.Take(clip, 2, 10*time.Minute) // the camera comes back
		two.Record(7)
		two.Record(7)
	})
	p := playInBrowser(t, "--url", s.url("/archive/door/index.m3u8?from="+stampOf(zero)+"&to="+stampOf(zero.Add(30*time.Minute))), "--seeks", "10")
	t.Logf("first picture %.0f ms, seeks %.0f ms, p95 %.0f ms; %d frames, errors %q", p.First, p.Seeks, p95(p.Seeks), p.Frames, p.Errors)
	if sent := s.metric("drover_http_kernel_sent_bytes_total"); sent < 1e6 {
		t.Errorf("the kernel sent %v bytes of the recorded files", sent)
	}
	if len(p.Joins) != 2 || len(p.Seeks) != 10 || p.Lasts < 390 || p.Lasts > 394 {
		t.Errorf("%+v", p)
	}
	if len(p.Joins) == 2 {
		if after := p.Joins[1].Date.Sub(zero); after < 10*time.Minute || after > 10*time.Minute+5*time.Second {
			t.Errorf("behind the reconnect it shows what was recorded %v after the beginning", after)
		}
	}
}

func TestAViewerGoesBackFromLiveAndToLiveAgainInOnePlaylist(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	zero := time.Now().Add(-3 * time.Minute).Truncate(time.Second)
	s := newServerWithHistory(t, zero, func(a *archivetest.Archive) {
		take := a.Take(archivetest.LoadClip(t, "h264"), 1, 0)
		take.Record(7)
		take.Record(7) // up to a minute ago
	})
	s.recordCamera("door", rack.Camera("door").URL())
	s.awaitFootage("door", 20*time.Second)
	p := playInBrowser(t, "--url", s.url("/archive/door/index.m3u8"), "--shift", "--back", "60")
	t.Logf("first picture %.0f ms, back and live again %.0f ms; live %v, back %v, again %v; errors %q", p.First, p.Seeks, p.LiveAt, p.BackAt, p.AgainAt, p.Errors)
	if late := time.Since(p.AgainAt); late > 40*time.Second || p.BackAt.After(p.LiveAt.Add(-50*time.Second)) {
		t.Errorf("%v behind now, and %v behind live", late, p.LiveAt.Sub(p.BackAt))
	}
	skips := 0
	for _, l := range p.Playlists {
		if strings.Contains(l.URL, "_HLS_skip") && l.Skipped > 0 {
			skips++
		}
	}
	if skips == 0 {
		t.Errorf("hls.js got no delta update: %+v", p.Playlists)
	}
	// The playlist keeps to the rules while it grows.
	s.await("ffmpeg reads the time shift", func() error {
		command := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-live_start_index", "-5", "-t", "4", "-i", s.url("/archive/door/index.m3u8"), "-f", "null", "-")
		command.WaitDelay = time.Second
		output, err := command.CombinedOutput()
		if err != nil || len(output) > 0 {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
}

func TestWhatIsRecordedOverAReconnectIsPlayedAsOne(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	s := newServer(t, "")
	begun := time.Now()
	s.recordCamera("door", rack.Camera("door").URL())
	s.awaitFootage("door", 12*time.Second)
	growing := "/archive/door/index.m3u8?from=" + stampOf(begun)
	versions := []string{string(s.get(growing))}
	rack.Down()
	s.awaitState("door", "backoff", "connecting")
	if err := rack.Up(); err != nil {
		t.Fatal(err)
	}
	s.awaitState("door", "live")
	before := s.recordings("door")
	s.await("more is recorded", func() error {
		if r := s.recordings("door"); r.covered() < before.covered()+8 {
			return fmt.Errorf("%v s", r.covered())
		}
		return nil
	})
	ended := time.Now()
	versions = append(versions, string(s.get(growing)))
	s.stop()
	s.start()
	versions = append(versions, string(s.get(growing)))
	s.awaitState("door", "live")
	s.awaitFootage("door", 5*time.Second)
	versions = append(versions, string(s.get(growing)))
	for i := 1; i < len(versions); i++ {
		if !strings.HasPrefix(versions[i], versions[i-1]) {
			t.Errorf("a playlist that grows became another:\n%s\nand then\n%s", versions[i-1], versions[i])
		}
	}
	query := "?from=" + stampOf(begun) + "&to=" + stampOf(ended)
	p := playInBrowser(t, "--url", s.url("/archive/door/index.m3u8"+query), "--seeks", "10")
	t.Logf("first picture %.0f ms, seeks %.0f ms, p95 %.0f ms; joins %v, errors %q", p.First, p.Seeks, p95(p.Seeks), p.Joins, p.Errors)
	if len(p.Joins) == 0 {
		t.Error("the reconnect is no discontinuity")
	}
	for _, path := range []string{"index.m3u8", "main.m3u8"} {
		output, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", s.url("/archive/door/"+path+query), "-f", "null", "-").CombinedOutput()
		if err != nil || len(output) > 0 {
			t.Errorf("ffmpeg on %s: %v: %s", path, err, output)
		}
	}
	if a := s.post("/api/v1/cameras/door/bookmarks", `{"from":"`+begun.UTC().Format(time.RFC3339)+`","to":"`+ended.UTC().Format(time.RFC3339)+`","name":"all","keep":true}`); a.status != http.StatusCreated {
		t.Errorf("a bookmark: %d %s", a.status, a.body)
	}
	if r := s.recordings("door"); len(r.Bookmarks) != 1 || len(r.Spans) == 0 {
		t.Errorf("the timeline: %+v", r)
	}
	// What a bookmark keeps is not deleted, and what is deleted is gone and told.
	if n := s.deleteRecordings("door", query); n != 0 {
		t.Errorf("%d files were deleted that a bookmark keeps", n)
	}
	if a, err := s.do(http.MethodDelete, "/api/v1/cameras/door/bookmarks/1", nil, ""); err != nil || a.status != http.StatusNoContent {
		t.Errorf("removing the bookmark: %d, %v", a.status, err)
	}
	if n := s.deleteRecordings("door", query); n == 0 {
		t.Error("nothing was deleted")
	}
	causes := map[string]bool{}
	for _, g := range s.recordings("door").Gaps {
		causes[g.Cause] = true
	}
	if !causes["by_request"] {
		t.Errorf("causes of gaps: %v", causes)
	}
}

// deleteRecordings deletes and returns how many files that took.
func (s *server) deleteRecordings(camera, query string) int {
	s.t.Helper()
	a, err := s.do(http.MethodDelete, "/api/v1/cameras/"+camera+"/recordings"+query, nil, "")
	var deleted struct{ Files int }
	if err != nil || a.status != http.StatusOK || json.Unmarshal(a.body, &deleted) != nil {
		s.t.Fatalf("deleting recordings: %d %s, %v", a.status, a.body, err)
	}
	return deleted.Files
}

// A recordingsView is what the API says of recordings, as far as these tests look.
type recordingsView struct {
	Spans []struct {
		From, To time.Time
		Coverage float64 `json:"coverage_ratio"`
	} `json:"spans"`
	Gaps []struct {
		Cause string `json:"cause"`
	} `json:"gaps"`
	Bookmarks []struct {
		Name string `json:"name"`
	} `json:"bookmarks"`
}

// covered is how many seconds there are.
func (r recordingsView) covered() float64 {
	total := 0.0
	for _, s := range r.Spans {
		total += s.To.Sub(s.From).Seconds() * s.Coverage
	}
	return total
}

func (s *server) recordings(camera string) recordingsView {
	s.t.Helper()
	var r recordingsView
	if err := json.Unmarshal(s.get("/api/v1/cameras/"+camera+"/recordings?resolution=1"), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// awaitFootage waits until so much more of a camera is recorded.
func (s *server) awaitFootage(camera string, more time.Duration) {
	s.t.Helper()
	before := s.recordings(camera).covered()
	s.await(fmt.Sprintf("%v of camera %s are recorded", more, camera), func() error {
		if got := s.recordings(camera).covered() - before; got < more.Seconds() {
			return fmt.Errorf("%v s", got)
		}
		return nil
	})
}

// recordCamera adds a camera that is recorded.
func (s *server) recordCamera(id, source string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"id": id, "url": source, "record": map[string]any{"mode": "continuous"}})
	if err != nil {
		s.t.Fatal(err)
	}
	if a := s.post("/api/v1/cameras", string(body)); a.status != http.StatusCreated {
		s.t.Fatalf("POST of camera %s: %d %s", id, a.status, a.body)
	}
}
