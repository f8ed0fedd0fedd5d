//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
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
	s.awaitVariants("door")
	return s, rack
}

// awaitVariants waits until a camera's two sources and their sound are there.
func (s *server) awaitVariants(id string) {
	s.t.Helper()
	s.awaitState(id, "live")
	s.await("both variants are there", func() error {
		return lists(s, "/hls/"+id+"/index.m3u8", "main.index.m3u8", "sub.index.m3u8", "_sound.index.m3u8")
	})
}

// averageRate is what a camera's first source needs, in bits per second.
func (s *server) averageRate(id string) (rate int) {
	s.t.Helper()
	list := string(s.get("/hls/" + id + "/index.m3u8"))
	_, rest, _ := strings.Cut(list, "AVERAGE-BANDWIDTH=")
	if _, err := fmt.Sscanf(rest, "%d,", &rate); err != nil {
		s.t.Fatalf("%v: %s", err, list)
	}
	return rate
}

// steadyFor is how long a picture has to be watched to say that it plays on.
const steadyFor = 8 * time.Second

// mostStill is how long a picture may stand still over the changes of variant. On a
// machine that has little else to do it never does; a player that runs dry even once
// stands still for longer.
const mostStill = 2 * time.Second

// A change is a page, and what it takes to have it change variants.
type change struct {
	playlist string // that the page plays
	limit    int    // bits per second that are too few for main
	main     int    // lines
	sub      int
}

func TestABrowserChangesVariantsWhilePlaying(t *testing.T) {
	t.Run("with low latency", func(t *testing.T) {
		s, _ := twoSources(t)
		b := openBrowser(t, s.url("/watch/door"), ourClock())
		b.changes(change{"live.m3u8", 1_500_000, 720, 270})
	})
	t.Run("in a frame without", func(t *testing.T) {
		s, _ := twoSources(t)
		b := openBrowser(t, s.url("/watch/door"), ourClock(), "--framed")
		b.changes(change{"index.m3u8", 900_000, 720, 270})
	})
	t.Run("of the rack with other keyframes", func(t *testing.T) {
		r := startRack(t, "main:pattern=busy,size=960x540,bitrate=2000,gop=2,audio=aac", "sub:pattern=busy,size=640x360,bitrate=300,gop=3,audio=aac")
		s := newServer(t, "")
		s.addSources("door", map[string]string{"main": r.url("main"), "sub": r.url("sub")})
		s.awaitVariants("door")
		b := openBrowser(t, s.url("/watch/door"), rackClock())
		b.changes(change{"live.m3u8", s.averageRate("door") * 2 / 3, 540, 360})
	})
}

// changesVariable says how often it is limited, for a longer look; once without.
const changesVariable = "DROVER_E2E_CHANGES"

// changes limits what the page may load, and lifts that.
func (b *browser) changes(c change) {
	t := b.t
	t.Helper()
	b.await("main is shown", func(now sight) bool { return now.Height == c.main })
	b.awaitPlaying("main plays")
	b.plays(5 * time.Second) // it has found its pace
	start := b.last
	rounds := 1
	if n, err := strconv.Atoi(os.Getenv(changesVariable)); err == nil {
		rounds = n
	}
	type step struct{ limit, height int }
	for _, step := range slices.Repeat([]step{{c.limit, c.sub}, {0, c.main}}, rounds) {
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
	stalls := b.last.Stalls[len(start.Stalls):]
	t.Logf("stalls, in ms: %v", stalls)
	if still := total(stalls); still > mostStill {
		t.Errorf("it stood still for %v in all", still)
	}
	if b.last.Sessions != start.Sessions || b.last.Mends != start.Mends {
		t.Errorf("the player began anew %d times and was mended %d times", b.last.Sessions-start.Sessions, b.last.Mends-start.Mends)
	}
}

func total(milliseconds []int) (sum time.Duration) {
	for _, ms := range milliseconds {
		sum += time.Duration(ms) * time.Millisecond
	}
	return sum
}

func TestAVariantPlaysOnWhenTheSourceOfItsSoundHasGone(t *testing.T) {
	rack := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "main", Clip: "h264-720p", AAC: true},
		rtsptest.CameraConfig{Path: "sub", Clip: "h264-small", Start: rtsptest.StartNext})
	s := newServer(t, "")
	s.addSources("door", map[string]string{"main": rack.Camera("main").URL(), "sub": rack.Camera("sub").URL()})
	s.awaitVariants("door")
	for name, more := range map[string][]string{"live.m3u8": nil, "index.m3u8": {"--framed"}} {
		t.Run(name, func(t *testing.T) {
			b := openBrowser(t, s.url("/watch/door"), ourClock(), more...)
			b.await("main is shown", func(now sight) bool { return now.Height == 720 })
			b.limit(900_000)
			b.await("sub is shown", func(now sight) bool { return now.Height == 270 })
			b.awaitPlaying("sub plays")
			b.plays(5 * time.Second)
			before := b.last
			if err := rack.Camera("main").Do(rtsptest.Stall()); err != nil {
				t.Fatal(err)
			}
			b.plays(20 * time.Second)
			stalls := b.last.Stalls[len(before.Stalls):]
			t.Logf("stalls, in ms: %v", stalls)
			if still := total(stalls); still > mostStill {
				t.Errorf("it stood still for %v in all", still)
			}
			if b.last.Height != 270 || b.last.Sessions != before.Sessions || b.last.AudioBytes == before.AudioBytes {
				t.Errorf("before %+v, after %+v", before, b.last)
			}
			if err := rack.Camera("main").Do(rtsptest.Resume()); err != nil {
				t.Fatal(err)
			}
			b.plays(5 * time.Second)
		})
	}
}

func TestAnotherSourceTakesOverWhenThatWhichIsShownHasGone(t *testing.T) {
	mains := rtsptest.Start(t, rtsptest.CameraConfig{Path: "main", Clip: "h264-720p", AAC: true})
	subs := rtsptest.Start(t, rtsptest.CameraConfig{Path: "sub", Clip: "h264-small", AAC: true, Start: rtsptest.StartNext})
	s := newServer(t, "")
	s.addSources("door", map[string]string{"main": mains.Camera("main").URL(), "sub": subs.Camera("sub").URL()})
	s.awaitVariants("door")
	pages := map[string]*browser{
		"live.m3u8":  openBrowser(t, s.url("/watch/door"), ourClock()),
		"index.m3u8": openBrowser(t, s.url("/watch/door"), ourClock(), "--framed"),
	}
	all := func(do func(name string, b *browser)) {
		for name, b := range pages {
			do(name, b)
		}
	}
	all(func(_ string, b *browser) {
		b.await("main is shown", func(now sight) bool { return now.Height == 720 })
		b.awaitPlaying("main plays")
	})
	mains.Down()
	away := time.Now()
	all(func(name string, b *browser) {
		b.await("sub is shown", func(now sight) bool { return now.Height == 270 })
		t.Logf("%s: sub is shown %v after main went away", name, time.Since(away).Round(time.Millisecond))
		b.awaitPlaying("sub plays")
	})
	// It has jumped to where sub is by now, and finds its pace.
	all(func(_ string, b *browser) { b.watch(steadyFor / 2); b.plays(steadyFor / 2) })
	if err := mains.Up(); err != nil {
		t.Fatal(err)
	}
	s.post("/api/v1/cameras/door/restart", "") // it need not wait for its next try
	s.await("main is live again", func() error {
		if state := s.camera("door").Status.Sources[0].State; state != "live" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	back := time.Now()
	all(func(name string, b *browser) {
		b.await("main is shown again", func(now sight) bool { return now.Height == 720 })
		t.Logf("%s: main is shown %v after it came back", name, time.Since(back).Round(time.Millisecond))
		b.awaitPlaying("main plays again")
	})
	all(func(_ string, b *browser) { b.watch(steadyFor / 2); b.plays(steadyFor / 2) })
}

// watch watches for a while, whatever there is to see.
func (b *browser) watch(d time.Duration) {
	b.t.Helper()
	began := time.Now()
	b.await("time has passed", func(sight) bool { return time.Since(began) > d })
}

// plays watches for a while, and sees that the video's clock goes as time does, but
// for what it may stand still.
func (b *browser) plays(d time.Duration) {
	b.t.Helper()
	first, began := b.last, time.Now()
	b.watch(d)
	now := b.last
	passed := time.Since(began).Seconds()
	if played := now.Time - first.Time; played < passed*0.9-mostStill.Seconds() || played > passed*1.2+1 {
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
