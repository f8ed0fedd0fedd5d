//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// addSources adds a camera of several sources.
func (s *server) addSources(id string, sources map[string]string) {
	s.t.Helper()
	type source struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	body := struct {
		ID      string   `json:"id"`
		Sources []source `json:"sources"`
	}{ID: id}
	for _, name := range []string{"main", "sub"} {
		if url := sources[name]; url != "" {
			body.Sources = append(body.Sources, source{name, url})
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	if a := s.post("/api/v1/cameras", string(data)); a.status != http.StatusCreated {
		s.t.Fatalf("POST of camera %s: %d %s", id, a.status, a.body)
	}
}

// twoSources is a server of one camera, with a main and a sub stream whose keyframes
// come at other times. Both have the same sound.
func twoSources(t *testing.T) (*server, *rtsptest.Server) {
	t.Helper()
	rack := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "main", Clip: "h264-720p", AAC: true},
		rtsptest.CameraConfig{Path: "sub", Clip: "h264-small", AAC: true, Start: rtsptest.StartNext})
	s := newServer(t, "")
	s.addSources("door", map[string]string{"main": rack.Camera("main").URL(), "sub": rack.Camera("sub").URL()})
	s.awaitState("door", "live")
	s.await("both variants are there", func() error {
		return lists(s, "/hls/door/index.m3u8", "main.index.m3u8", "sub.index.m3u8", "_sound.index.m3u8")
	})
	return s, rack
}

// steadyFor is how long a picture has to be watched to say that it plays on.
const steadyFor = 12 * time.Second

// mostStill is how long a picture may stand still over four changes of variant. On a
// machine that has little else to do it never does; a player that runs dry even once
// stands still for longer.
const mostStill = 2 * time.Second

func TestABrowserChangesVariantsWhilePlaying(t *testing.T) {
	for _, c := range []struct {
		name     string
		playlist string // that the page plays
		low      int    // bits per second that are too few for main, of 2 Mbit/s
		more     []string
	}{
		{"with low latency", "live.m3u8", 1_500_000, nil},
		{"in a frame without", "index.m3u8", 900_000, []string{"--framed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := twoSources(t)
			b := openBrowser(t, s.url("/watch/door"), ourClock(), c.more...)
			b.await("main is shown", func(now sight) bool { return now.Height == 720 })
			b.awaitPlaying("main plays")
			b.plays(5 * time.Second) // it has found its pace
			start := b.last
			for _, step := range []struct{ limit, height int }{{c.low, 270}, {0, 720}, {c.low, 270}, {0, 720}} {
				before, asked := b.last, time.Now()
				b.limit(step.limit)
				b.await("the variant for so much is shown", func(now sight) bool { return now.Height == step.height })
				t.Logf("%d lines are shown %v after the limit became %d bit/s", step.height, time.Since(asked).Round(time.Millisecond), step.limit)
				b.awaitPlaying("it plays")
				b.plays(steadyFor)
				if sound := b.last.AudioBytes - before.AudioBytes; sound < 8000 {
					t.Errorf("%d bytes of sound were decoded in %v", sound, time.Since(asked))
				}
			}
			if got := b.last.Playlist; !strings.HasSuffix(got, c.playlist) {
				t.Errorf("the page plays %s, want %s", got, c.playlist)
			}
			stalls, still := b.last.Stalls[len(start.Stalls):], time.Duration(0)
			for _, stall := range stalls {
				still += time.Duration(stall) * time.Millisecond
			}
			t.Logf("stalls, in ms: %v", stalls)
			if still > mostStill {
				t.Errorf("it stood still for %v in all", still)
			}
			if b.last.Sessions != start.Sessions || b.last.Mends != start.Mends {
				t.Errorf("the player began anew %d times and was mended %d times", b.last.Sessions-start.Sessions, b.last.Mends-start.Mends)
			}
		})
	}
}

// plays watches for a while, and sees that the video's clock goes as time does.
func (b *browser) plays(d time.Duration) {
	b.t.Helper()
	first, began := b.last, time.Now()
	now := b.await("time has passed", func(sight) bool { return time.Since(began) > d })
	passed := time.Since(began).Seconds()
	if played := now.Time - first.Time; played < passed*0.8 || played > passed*1.2+1 {
		b.t.Errorf("%.1f s were played in %.1f s", played, passed)
	}
}

// lists returns nil once a playlist names all of these.
func lists(s *server, path string, names ...string) error {
	body, err := s.tryGet(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.Contains(string(body), name) {
			return &missing{name, string(body)}
		}
	}
	return nil
}

type missing struct{ name, playlist string }

func (m *missing) Error() string { return m.name + " is not in " + m.playlist }
