package hls

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/hls/conform"
)

// inProcess answers a client's requests without a network, for bubbles of
// synctest.
type inProcess struct{ http.Handler }

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// shortened is how long a situation lasts of simulated time: with -short, as with the
// race detector, three quarters of a minute at most.
func shortened(d time.Duration) time.Duration {
	if testing.Short() {
		return min(d, 45*time.Second)
	}
	return d
}

// run lets a camera's time pass, with its pictures.
func (w *watched) run(d time.Duration) {
	for end := time.Now().Add(shortened(d)); time.Now().Before(end); {
		base := w.frameTicks
		if n := len(w.jitter); n > 0 {
			w.frameTicks += w.jitter[(w.shown+1)%n] - w.jitter[w.shown%n]
			w.shown++
		}
		w.picture()
		time.Sleep(w.video.Duration(w.frameTicks))
		w.frameTicks = base
	}
}

// jitter is n times by which pictures are off theirs, at random but each time the
// same.
func jitter(n int, most int64) []int64 {
	random := rand.New(rand.NewPCG(1, 2))
	offsets := make([]int64, n)
	for i := range offsets {
		offsets[i] = random.Int64N(2*most+1) - most
	}
	return offsets
}

func TestLivePlaylistsKeepTheRulesInEverySituation(t *testing.T) {
	type lives struct{ least, most int }
	for _, c := range []struct {
		name   string
		config Config
		setUp  func(w *watched)
		jitter []int64 // ticks by which pictures are off their time
		run    func(w *watched)
		lives  lives // new ones of the playlist with parts
		late   int   // times that a viewer was sent away, at most
	}{
		{name: "25", run: func(w *watched) { w.run(10 * time.Minute) }},
		{name: "25 with sound", setUp: func(w *watched) { w.sound = aacParams() }, run: func(w *watched) { w.run(3 * time.Minute) }},
		{name: "29.97", setUp: func(w *watched) { w.frameTicks, w.gop = 3003, 60 }, run: func(w *watched) { w.run(10 * time.Minute) }},
		{name: "12 with jitter", setUp: func(w *watched) { w.frameTicks, w.gop, w.sound = 7500, 24, aacParams() },
			jitter: jitter(11, 1000), run: func(w *watched) { w.run(10 * time.Minute) }},
		{name: "12 with jitter that nobody could foresee", setUp: func(w *watched) { w.frameTicks, w.gop, w.sound = 7500, 24, aacParams() },
			jitter: jitter(997, 2000), run: func(w *watched) { w.run(10 * time.Minute) }, lives: lives{0, 4}},
		{name: "5", setUp: func(w *watched) { w.frameTicks, w.gop = 18000, 10 }, run: func(w *watched) { w.run(3 * time.Minute) }},
		{name: "a keyframe in each picture", setUp: func(w *watched) { w.gop = 1 }, run: func(w *watched) { w.run(time.Minute) }},
		{name: "a GOP of 12 s", setUp: func(w *watched) { w.gop = 300 }, run: func(w *watched) { w.run(4 * time.Minute) }, lives: lives{0, 2}},
		{name: "a GOP of 60 s", setUp: func(w *watched) { w.gop = 1500 }, run: func(w *watched) {
			for range 5 {
				w.run(time.Minute)
			}
		}, lives: lives{1, 4}},
		{name: "a GOP that grows", run: func(w *watched) {
			w.run(30 * time.Second)
			w.gop, w.count = 500, 0
			w.run(time.Minute)
		}, lives: lives{1, 4}},
		{name: "pictures that become slow", run: func(w *watched) {
			w.run(31 * time.Second)
			w.frameTicks, w.gop = 9000, 20
			w.run(time.Minute)
		}, lives: lives{0, 2}},
		{name: "a long window", config: Config{Window: 20}, run: func(w *watched) { w.run(3 * time.Minute) }},
		{name: "H.265", setUp: func(w *watched) { w.params = h265Params(); w.tracks() }, run: func(w *watched) { w.run(time.Minute) }},
		{name: "reconnects", setUp: func(w *watched) { w.sound = aacParams() }, run: func(w *watched) {
			for i := range 80 {
				w.run(time.Duration(3000+i*370%5000) * time.Millisecond)
				away := time.Duration(i%12) * 500 * time.Millisecond
				w.hub.Away("door", "main")
				time.Sleep(away)
				w.reconnect(away)
			}
			w.run(10 * time.Second)
		}, late: 250},
		{name: "a camera away for a minute", run: func(w *watched) {
			w.run(20 * time.Second)
			time.Sleep(time.Minute)
			w.reconnect(time.Minute)
			w.run(30 * time.Second)
		}, late: 20},
		{name: "resolution changes", run: func(w *watched) {
			for i := range 140 {
				w.run(time.Duration(2500+i*310%3700) * time.Millisecond)
				w.params = []*media.Params{otherH264Params(), h264Params()}[i%2]
				w.count = 0
			}
			w.run(10 * time.Second)
		}},
		{name: "clock jumps", run: func(w *watched) {
			w.run(20 * time.Second)
			w.drift = 300 * time.Millisecond
			w.run(20 * time.Second)
			for i := range 25 { // ingest begins another epoch
				w.reconnect(40 * time.Millisecond)
				w.drift = []time.Duration{time.Hour, -30 * time.Minute, 7 * time.Second}[i%3]
				w.run(23 * time.Second)
			}
		}},
		{name: "loss", setUp: func(w *watched) { w.sound = aacParams() }, run: func(w *watched) {
			for i := range 20 {
				w.run(time.Duration(1300+i*170) * time.Millisecond)
				lost := (w.gop - w.count%w.gop) % w.gop
				w.skipPictures(lost)
				time.Sleep(time.Duration(lost) * 40 * time.Millisecond)
				w.lost = 7
			}
			w.run(10 * time.Second)
		}},
		{name: "sound that loses a frame now and then", setUp: func(w *watched) { w.sound = aacParams() }, run: func(w *watched) {
			for i := range 150 {
				w.run(time.Duration(400+i*90%700) * time.Millisecond)
				w.soundDTS += 1024
			}
			w.run(5 * time.Second)
		}},
		{name: "sound that goes and comes", setUp: func(w *watched) { w.sound = aacParams() }, run: func(w *watched) {
			for range 5 {
				w.run(9 * time.Second)
				w.sound = nil
				w.run(9 * time.Second)
				w.sound = aacParams()
				w.soundDTS = w.dts * 16000 / 90000
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatched(t, c.config)
				if c.setUp != nil {
					c.setUp(w)
				}
				w.jitter = c.jitter
				w.attach()
				w.run(5 * time.Second)
				began := time.Now()
				results := make(chan []conform.Report)
				paths := []string{"live.m3u8", "index.m3u8", "ts/index.m3u8"}
				if w.params.Codec == media.CodecH265 {
					paths = paths[:2]
				}
				ctx, stop := context.WithCancel(t.Context())
				for _, path := range paths {
					go func() {
						reports, err := conform.Watch(ctx, conform.Options{
							URL: "http://drover/hls/door/" + path, Client: &http.Client{Transport: inProcess{w.handler}}, Duration: time.Hour,
						})
						if err != nil {
							t.Error(err)
						}
						results <- reports
					}()
				}
				c.run(w)
				lasted := time.Since(began)
				stop()
				for range paths {
					for _, r := range <-results {
						checkReport(t, r, lasted, c.lives.least, c.lives.most, c.late)
					}
				}
			})
		})
	}
}

// checkReport sees that a viewer saw what it should, and nothing wrong.
func checkReport(t *testing.T, r conform.Report, lasted time.Duration, least, most, late int) {
	t.Helper()
	t.Logf("%d loads, %d lives, %d short, %d segments, %d parts, %d late, %v", r.Loads, r.Restarts, r.Short, r.Segments, r.Parts, r.Late, r.LongestWait)
	for _, v := range r.Violations[:min(len(r.Violations), 5)] {
		t.Errorf("%s: %s", r.URL, v)
	}
	if r.Late > late {
		t.Errorf("%s: sent away %d times", r.URL, r.Late)
	}
	if !strings.Contains(r.URL, ".live.") {
		if r.Segments < 3 || r.Parts != 0 {
			t.Errorf("%s: %d segments, %d parts", r.URL, r.Segments, r.Parts)
		}
		return
	}
	if r.Parts < int(lasted/time.Second) || r.Restarts < least || r.Restarts > most {
		t.Errorf("%s: %d parts in %v, %d new lives", r.URL, r.Parts, lasted, r.Restarts)
	}
}

func TestLivePlaylistsKeepTheRulesOverANetwork(t *testing.T) {
	s := newStage(t, Config{}, true)
	clip := loadClip(t, "h264-bframes")
	stop, fed := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(40 * time.Millisecond)
	defer ticker.Stop()
	ahead := 125 // pictures that are there when the viewer comes
	s.clips.due = func() bool {
		if ahead--; ahead >= 0 {
			return true
		}
		select {
		case <-ticker.C:
			return true
		case <-stop:
			return false
		}
	}
	go func() {
		defer close(fed)
		s.clips.play(clip, 100)
	}()
	s.settle(2)
	reports, err := conform.Watch(t.Context(), conform.Options{URL: s.url + "live.m3u8", Duration: 5 * time.Second})
	close(stop)
	<-fed
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if r.Parts < 20 || r.Segments < 2 || r.Late > 0 || r.Restarts > 0 {
			t.Errorf("%+v", r)
		}
		for _, v := range r.Violations {
			t.Error(v)
		}
	}
}
