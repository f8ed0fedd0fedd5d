package hls

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/hls/conform"
)

// A pair is a camera of two sources in the bubble of a synctest: main as any
// watched camera has it, and sub beside it, smaller, with keyframes at other times.
type pair struct {
	*watched
	sub     *source
	subRing *ring.Ring

	due    [2]time.Time // when each source's next picture is
	away   [2]bool
	silent [2]bool // the sound does not come, though it should
}

func newPair(t *testing.T, config Config) *pair {
	w := newWatched(t, config)
	p := &pair{watched: w, subRing: ring.New(ring.Limits{})}
	pool := media.NewPool()
	p.sub = newSource(t, pool, p.subRing.Write)
	p.sub.params, p.sub.gop, p.sub.bytes = otherH264Params(), 35, 100
	p.sub.tracks()
	p.sub.dts = 7777777 // its timeline is its own
	p.sub.drift = -p.sub.video.Duration(p.sub.dts)
	p.sub.soundDTS = p.sub.dts * 16000 / 90000
	p.sound, p.sub.sound = aacParams(), aacParams()
	t.Cleanup(func() {
		w.hub.Close()
		p.subRing.Close()
		p.sub.close()
		if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("frames leaked: %+v", stats)
		}
		if stats := w.hub.pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("frames of sound leaked: %+v", stats)
		}
	})
	return p
}

func (p *pair) attach() {
	p.t.Helper()
	p.watched.attach()
	if err := p.hub.Attach("door", "sub", p.subRing); err != nil {
		p.t.Fatal(err)
	}
	p.due = [2]time.Time{time.Now(), time.Now()}
}

// run lets the camera's time pass, with the pictures of both sources.
func (p *pair) run(d time.Duration) {
	for end := time.Now().Add(shortened(d)); ; {
		i, s := 0, p.source
		if p.due[1].Before(p.due[0]) {
			i, s = 1, p.sub
		}
		if !p.due[i].Before(end) {
			time.Sleep(time.Until(end))
			return
		}
		time.Sleep(time.Until(p.due[i]))
		p.due[i] = p.due[i].Add(s.video.Duration(s.frameTicks))
		sound := s.sound
		if p.silent[i] {
			s.sound = nil
			s.soundDTS = (s.dts + s.frameTicks) * 16000 / 90000
		}
		if p.away[i] {
			s.skip(s.video.Duration(s.frameTicks))
		} else {
			s.picture()
		}
		s.sound = sound
	}
}

// back ends the time that a source was away.
func (p *pair) back(i int) {
	s := []*source{p.source, p.sub}[i]
	p.away[i] = false
	s.epoch++
	s.tracks()
	s.count = 0
}

func (p *pair) gone(i int) {
	p.away[i] = true
	p.hub.Away("door", []string{"main", "sub"}[i])
}

func TestVariantsAndTheirSoundKeepTheRulesInEverySituation(t *testing.T) {
	for _, c := range []struct {
		name  string
		setUp func(p *pair)
		run   func(p *pair)
		lives int
		late  int
		stall time.Duration // that sound may take from one part to the next, where pictures go on; 0: a second
	}{
		{name: "two sources", run: func(p *pair) { p.run(5 * time.Minute) }},
		{name: "12 pictures a second beside 25", setUp: func(p *pair) { p.sub.frameTicks, p.sub.gop = 7500, 48 }, run: func(p *pair) { p.run(3 * time.Minute) }, lives: 1},
		{name: "main goes and comes", run: func(p *pair) {
			for i := range 12 {
				p.run(time.Duration(7000+i*430) * time.Millisecond)
				p.gone(0)
				p.run(time.Duration(1+i) * 900 * time.Millisecond)
				p.back(0)
			}
			p.run(20 * time.Second)
		}, late: 150, stall: 5 * time.Second},
		{name: "sub goes and comes", run: func(p *pair) {
			for i := range 12 {
				p.run(time.Duration(7000+i*430) * time.Millisecond)
				p.gone(1)
				p.run(time.Duration(1+i) * 900 * time.Millisecond)
				p.back(1)
			}
			p.run(20 * time.Second)
		}, late: 150},
		{name: "both go and come", run: func(p *pair) {
			for i := range 10 {
				p.run(time.Duration(7000+i*430) * time.Millisecond)
				p.gone(0)
				p.gone(1)
				p.run(time.Duration(1+i) * 900 * time.Millisecond)
				p.back(0)
				p.run(time.Duration(i%3) * 700 * time.Millisecond)
				p.back(1)
			}
			p.run(20 * time.Second)
		}, late: 250, stall: 20 * time.Second},
		{name: "the sound of main dies", run: func(p *pair) {
			p.run(20 * time.Second)
			p.silent[0] = true
			p.run(time.Minute)
			p.silent[0] = false
			p.run(20 * time.Second)
		}, stall: 3 * time.Second},
		{name: "all sound dies", run: func(p *pair) {
			p.run(20 * time.Second)
			p.silent = [2]bool{true, true}
			p.run(time.Minute)
			p.silent = [2]bool{}
			p.run(20 * time.Second)
		}, stall: 3 * time.Second},
		{name: "main alone has sound, and dies", setUp: func(p *pair) { p.sub.sound = nil }, run: func(p *pair) {
			p.run(20 * time.Second)
			p.gone(0)
			p.run(time.Minute)
			p.back(0)
			p.run(20 * time.Second)
		}, late: 70, stall: 4 * time.Second},
		{name: "another resolution", run: func(p *pair) {
			for i := range 20 {
				p.run(time.Duration(4500+i*310%3700) * time.Millisecond)
				p.params = []*media.Params{otherH264Params(), h264Params()}[i%2]
				p.count = 0
			}
			p.run(10 * time.Second)
		}},
		{name: "the time of day becomes known later", run: func(p *pair) {
			p.run(10 * time.Second)
			p.drift -= 700 * time.Millisecond
			p.run(3 * time.Second)
			p.sub.drift -= 700 * time.Millisecond
			p.run(time.Minute)
		}},
		{name: "a GOP that grows", run: func(p *pair) {
			p.run(30 * time.Second)
			p.gop, p.count = 200, 0
			p.run(2 * time.Minute)
		}, lives: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, Config{})
				if c.setUp != nil {
					c.setUp(p)
				}
				p.attach()
				p.run(5 * time.Second)
				results := make(chan []conform.Report)
				paths := []string{"live.m3u8", "index.m3u8", "ts/index.m3u8"}
				ctx, stop := context.WithCancel(t.Context())
				for _, path := range paths {
					go func() {
						reports, err := conform.Watch(ctx, conform.Options{
							URL: "http://drover/hls/door/" + path, Client: &http.Client{Transport: inProcess{p.handler}}, Duration: time.Hour,
						})
						if err != nil {
							t.Error(err)
						}
						results <- reports
					}()
				}
				c.run(p)
				stop()
				for range paths {
					reports := <-results
					sounds := 0
					for _, r := range reports {
						t.Logf("%s: %d loads, %d lives, %d short, %d segments, %d parts, %d late, %v", r.URL, r.Loads, r.Restarts, r.Short, r.Segments, r.Parts, r.Late, r.LongestWait)
						for _, v := range r.Violations[:min(len(r.Violations), 5)] {
							t.Errorf("%s: %s", r.URL, v)
						}
						if r.Late > c.late || r.Restarts > c.lives || r.Segments < 3 {
							t.Errorf("%s: %d late, %d lives, %d segments", r.URL, r.Late, r.Restarts, r.Segments)
						}
						if strings.HasSuffix(r.URL, soundSource+".live.m3u8") {
							sounds++
							if r.LongestWait > max(c.stall, time.Second) {
								t.Errorf("sound stood still for %v", r.LongestWait)
							}
						}
					}
					if want := 3; len(reports) != want && !strings.Contains(reports[0].URL, "/ts/") {
						t.Errorf("%d playlists, want %d", len(reports), want)
					}
				}
			})
		})
	}
}

func TestSoundMadeOnDemandBeginsWithThatOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, Config{OnDemand: true})
		p.drift = time.Since(zero) // pictures are of this moment
		p.sub.drift += p.drift
		p.attach()
		watch := func() {
			seen := 0
			for range 100 {
				ask(p.handler, "door/index.m3u8")
				p.run(100 * time.Millisecond)
				synctest.Wait()
				n := (*p.hub.cameras["door"].muxers.Load())[2].published.Load()
				if n.media == nil {
					continue
				}
				seen++
				for _, s := range n.segments {
					if age := time.Since(s.pdt); age > 25*time.Second {
						t.Fatalf("sound of %v ago is to be had", age)
					}
				}
			}
			if seen < 95 {
				t.Errorf("sound was there %d times of 100", seen)
			}
		}
		watch()
		for range 5 { // nobody asks
			p.run(time.Minute)
		}
		if n := p.hub.Bytes(); n != 0 {
			t.Errorf("%d bytes are held, and nobody watches", n)
		}
		watch()
	})
}
