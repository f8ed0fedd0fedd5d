//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A link is what a share's maker gives away.
type link struct {
	ID, Watch, Playlist string
}

func (s *server) share(body string) link {
	s.t.Helper()
	a := s.post("/api/v1/shares", body)
	var given link
	if err := json.Unmarshal(a.body, &given); err != nil || a.status != http.StatusCreated {
		s.t.Fatalf("POST of a share: %d %s", a.status, a.body)
	}
	return given
}

func TestALinkPlaysInABrowserWhichReportsHowItGoes(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door"})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	given := s.share(`{"camera":"door","max_viewers":1}`)
	b := openBrowser(t, s.url(given.Watch), ourClock())
	b.awaitPlaying("the camera plays by the link")

	var playback struct {
		Players, Playing, Starts int
		Latency                  struct {
			P50 float64 `json:"p50_seconds"`
		}
		BitrateBPS int64 `json:"bitrate_bps"`
	}
	s.await("the page has reported", func() error {
		if err := json.Unmarshal(s.get("/api/v1/cameras/door/playback"), &playback); err != nil {
			return err
		}
		if playback.Players != 1 || playback.Playing != 1 || playback.Starts != 1 || playback.Latency.P50 <= 0 || playback.BitrateBPS <= 0 {
			return fmt.Errorf("got %+v", playback)
		}
		return nil
	})
	if metrics := string(s.get("/metrics")); !strings.Contains(metrics, `drover_player_start_seconds_count{camera="door"} 1`) {
		t.Error("the metrics do not show it")
	}

	// The browser has the one place.
	if a, err := s.do("GET", given.Playlist, nil, ""); err != nil || a.status != http.StatusTooManyRequests {
		t.Errorf("a second viewer: %d, %v", a.status, err)
	}
	if a, err := s.do("DELETE", "/api/v1/shares/"+given.ID, nil, ""); err != nil || a.status != http.StatusNoContent {
		t.Fatalf("the link could not be taken back: %d, %v", a.status, err)
	}
	s.stop()
	s.start()
	if a, err := s.do("GET", given.Watch, nil, ""); err != nil || a.status != http.StatusForbidden {
		t.Errorf("a link that was taken back, after a restart: %d, %v", a.status, err)
	}
	b.await("the page says that it may not", func(now sight) bool { return mentions(now.Text, "not allowed") })
}
