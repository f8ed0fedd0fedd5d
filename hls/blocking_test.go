package hls

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/hls/conform"
)

// A request is one under way.
type request struct {
	path   string
	cancel context.CancelFunc
	done   atomic.Bool
	*httptest.ResponseRecorder
}

// asking starts a request.
func asking(h http.Handler, path string) *request {
	ctx, cancel := context.WithCancel(context.Background())
	r := &request{path: path, cancel: cancel, ResponseRecorder: httptest.NewRecorder()}
	go func() {
		defer cancel()
		h.ServeHTTP(r.ResponseRecorder, httptest.NewRequest(http.MethodGet, "/hls/"+path, nil).WithContext(ctx))
		r.done.Store(true)
	}()
	return r
}

// A watched is a hub with one camera whose frames come when the test says so, in
// the bubble of a synctest.
type watched struct {
	*source
	hub     *Hub
	ring    *ring.Ring
	handler http.Handler
	jitter  []int64 // ticks by which pictures are off their time
	shown   int
}

func newWatched(t *testing.T, config Config) *watched {
	t.Helper()
	hub, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{hub: hub, ring: ring.New(ring.Limits{}), handler: NewHandler(hub, nil)}
	pool := media.NewPool()
	w.source = newSource(t, pool, w.ring.Write)
	t.Cleanup(func() {
		hub.Close()
		w.ring.Close()
		w.source.close()
		if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("frames leaked: %+v", stats)
		}
	})
	return w
}

func (w *watched) attach() {
	w.t.Helper()
	if err := w.hub.Attach("door", "main", w.ring); err != nil {
		w.t.Fatal(err)
	}
}

// pass lets a camera's time pass, with its pictures.
func (w *watched) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		w.picture()
		time.Sleep(w.video.Duration(w.frameTicks))
		synctest.Wait()
	}
}

// live has low latency begun, and returns its playlist.
func (w *watched) live() *conform.Playlist {
	w.t.Helper()
	r := asking(w.handler, "door/main.live.m3u8")
	synctest.Wait()
	if !r.done.Load() || r.Code != 200 {
		w.t.Fatalf("%d %s", r.Code, r.Body)
	}
	p, err := conform.Parse(r.Body.Bytes())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (p *request) playlist(t *testing.T) *conform.Playlist {
	t.Helper()
	parsed, err := conform.Parse(p.Body.Bytes())
	if err != nil {
		t.Fatalf("%s: %v\n%s", p.path, err, p.Body)
	}
	return parsed
}

// has reports whether a playlist has what a directive asks for, as the standard
// puts it. part is -1 where none is asked for.
func has(p *conform.Playlist, msn uint64, part int) bool {
	end := p.MediaSequence + uint64(len(p.Segments))
	if part < 0 {
		return msn < end
	}
	parts := func(sequence uint64) int {
		switch {
		case sequence == end && p.Open != nil:
			return len(p.Open.Parts)
		case sequence < end && sequence >= p.MediaSequence:
			return len(p.Segments[sequence-p.MediaSequence].Parts)
		}
		return 0
	}
	if msn < end && part >= parts(msn) {
		msn, part = msn+1, 0 // 6.2.5.2
	}
	return msn < end || msn == end && part < parts(msn)
}

func TestBlockingReloadIsAnsweredExactlyWhenWhatItAsksForIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		w.attach()
		w.pass(5 * time.Second)
		w.live()
		w.pass(2600 * time.Millisecond) // near the edge of a segment
		p := w.live()
		end := p.MediaSequence + uint64(len(p.Segments))
		type question struct {
			*request
			msn  uint64
			part int
		}
		var open []question
		ask := func(msn uint64, part int) {
			path := fmt.Sprintf("door/main.live.m3u8?_HLS_msn=%d", msn)
			if part >= 0 {
				path += fmt.Sprintf("&_HLS_part=%d", part)
			}
			open = append(open, question{asking(w.handler, path), msn, part})
		}
		for msn := end - 1; msn <= end+2; msn++ {
			for part := -1; part < 100; part++ {
				ask(msn, part)
			}
		}
		synctest.Wait()
		answered := 0
		for range 160 { // pictures
			current := w.live()
			var left []question
			for _, q := range open {
				switch {
				case q.msn > end+1:
					if !q.done.Load() || q.Code != 400 || q.Header().Get("Cache-Control") != "no-store" {
						t.Errorf("%s is too far ahead: %d", q.path, q.Code)
					}
				case q.done.Load():
					answered++
					if q.Code != 200 || !has(q.playlist(t), q.msn, q.part) {
						t.Errorf("%s: %d\n%s", q.path, q.Code, q.Body)
					}
					if got := q.Header().Get("Cache-Control"); got != "public, max-age=12" {
						t.Errorf("%s: %s", q.path, got)
					}
				case has(current, q.msn, q.part):
					t.Errorf("%s is not answered, and is there", q.path)
				default:
					left = append(left, q)
				}
			}
			open = left
			w.pass(40 * time.Millisecond)
		}
		if len(open) != 0 || answered != 303 {
			t.Errorf("%d answered, %d not", answered, len(open))
		}
	})
}

func TestHintedPartIsWaitedForAndOthersAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		w.attach()
		w.pass(5 * time.Second)
		for range 40 {
			p := w.live()
			hint := asking(w.handler, "door/"+p.Hint)
			synctest.Wait()
			if hint.done.Load() {
				t.Fatalf("%s: %d before it is there", p.Hint, hint.Code)
			}
			index := 0
			if p.Open != nil {
				index = len(p.Open.Parts)
			}
			beyond := strings.Replace(p.Hint, fmt.Sprintf(".%d.m4s", index), fmt.Sprintf(".%d.m4s", index+1), 1)
			if status, _ := ask(w.handler, "door/"+beyond); status != 404 {
				t.Errorf("%s beyond the hint: %d", beyond, status)
			}
			for !hint.done.Load() {
				w.pass(40 * time.Millisecond)
			}
			if hint.Code != 200 || hint.Header().Get("Cache-Control") != "public, max-age=600, immutable" || hint.Body.Len() < 200 ||
				hint.Header().Get("Content-Length") != fmt.Sprint(hint.Body.Len()) || hint.Header().Get("Etag") != `"`+p.Hint+`"` {
				t.Errorf("%s: %d %v", p.Hint, hint.Code, hint.Header())
			}
			if again := asking(w.handler, "door/"+p.Hint); true {
				synctest.Wait()
				if again.Body.String() != hint.Body.String() {
					t.Errorf("%s has other bytes later", p.Hint)
				}
			}
		}
	})
}

func TestAllWhoWaitAreAnsweredAtOnceWhenTheCameraGoes(t *testing.T) {
	for _, c := range []struct {
		name       string
		end        func(w *watched)
		part, list int
	}{
		{"removed", func(w *watched) { w.hub.Detach("door", "main") }, 404, 503},
		{"its ring is closed", func(w *watched) { w.ring.Close() }, 404, 503},
		{"the server stops", func(w *watched) { w.hub.Close() }, 404, 503},
		{"its connection is lost", func(w *watched) { w.hub.Away("door", "main") }, 503, 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatched(t, Config{})
				w.attach()
				w.pass(5 * time.Second)
				p := w.live()
				var requests []*request
				for range 1000 {
					requests = append(requests, asking(w.handler, fmt.Sprintf("door/main.live.m3u8?_HLS_msn=%d", p.MediaSequence+uint64(len(p.Segments)))),
						asking(w.handler, "door/"+p.Hint))
				}
				synctest.Wait()
				began := time.Now()
				c.end(w)
				synctest.Wait()
				if time.Since(began) != 0 {
					t.Errorf("it took %v", time.Since(began))
				}
				for i, r := range requests {
					want := []int{c.list, c.part}[i%2]
					if !r.done.Load() || r.Code != want || want == 503 && (r.Header().Get("Retry-After") != "1" || r.Header().Get("Cache-Control") != "no-store") {
						t.Fatalf("%s: %v %d %v", r.path, r.done.Load(), r.Code, r.Header())
					}
				}
			})
		})
	}
}

func TestWaiterOfAStalledCameraIsSentAwayAfterThreeTargetDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		w.attach()
		w.pass(5 * time.Second)
		p := w.live()
		began := time.Now()
		list := asking(w.handler, fmt.Sprintf("door/main.live.m3u8?_HLS_msn=%d&_HLS_part=%d", p.MediaSequence+uint64(len(p.Segments)), len(p.Open.Parts)))
		part := asking(w.handler, "door/"+p.Hint)
		for !list.done.Load() || !part.done.Load() {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(began); took < 5*time.Second || took > 6020*time.Millisecond {
			t.Errorf("sent away after %v", took)
		}
		for _, r := range []*request{list, part} {
			if r.Code != 503 || r.Header().Get("Retry-After") != "1" || r.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%d %v", r.Code, r.Header())
			}
		}
	})
}

func TestViewerThatLeavesWhileWaitingLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		early := asking(w.handler, "door/live.m3u8")
		synctest.Wait()
		w.attach()
		var first []*request
		for range 100 {
			first = append(first, asking(w.handler, "door/live.m3u8"))
		}
		synctest.Wait()
		for _, r := range first {
			r.cancel()
		}
		synctest.Wait()
		if n := len(w.hub.lobby.rooms); n != 0 || early.Code != 404 {
			t.Errorf("%d rooms, %d", n, early.Code)
		}
		w.pass(5 * time.Second)
		p := w.live()
		var waiting []*request
		for range 100 {
			waiting = append(waiting, asking(w.handler, fmt.Sprintf("door/main.live.m3u8?_HLS_msn=%d", p.MediaSequence+uint64(len(p.Segments)))))
		}
		synctest.Wait()
		for _, r := range waiting {
			r.cancel()
		}
		synctest.Wait() // and the test's bubble ends with all goroutines
		for _, r := range waiting {
			if !r.done.Load() {
				t.Fatal("one still waits")
			}
		}
	})
}

func TestLowLatencyBeginsWithTheFirstOfManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		w.attach()
		w.pass(5100 * time.Millisecond)
		var requests []*request
		for range 1000 {
			requests = append(requests, asking(w.handler, "door/main.live.m3u8"))
		}
		synctest.Wait()
		for _, r := range requests {
			if !r.done.Load() || r.Code != 200 {
				t.Fatalf("%v %d", r.done.Load(), r.Code)
			}
		}
		// The open segment's frames were cut at once.
		if p := requests[0].playlist(t); p.Open == nil || len(p.Open.Parts) != 5 {
			t.Errorf("%+v", p.Open)
		}
		stats, _ := w.hub.Stats("door")
		if s := stats.Sources[0]; !s.Live || s.Parts != 5 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRequestsBeforeTheFirstKeyframeWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		w.attach()
		var requests []*request
		for i := range 4000 {
			requests = append(requests, asking(w.handler, "door/"+[]string{"index.m3u8", "live.m3u8", "ts/index.m3u8", "main.live.m3u8"}[i%4]))
		}
		time.Sleep(5 * time.Second)
		w.pass(1200 * time.Millisecond)
		for i, r := range requests {
			if live := i%2 == 1; r.done.Load() != live || live && r.Code != 200 {
				t.Fatalf("%s after a second of pictures: %v %d", r.path, r.done.Load(), r.Code)
			}
		}
		w.pass(time.Second)
		for _, r := range requests {
			if !r.done.Load() || r.Code != 200 {
				t.Fatalf("%s after a whole segment: %v %d", r.path, r.done.Load(), r.Code)
			}
		}
		if n := len(w.hub.lobby.rooms); n != 0 {
			t.Errorf("%d rooms are left", n)
		}
	})
}

// A registryOf knows cameras that are attached when somebody asks.
type registryOf struct {
	*Hub
	known  map[string]bool
	wanted func(camera string)
}

func (r registryOf) Lookup(camera string) (*Camera, bool) {
	if c, ok := r.Hub.Lookup(camera); ok {
		return c, true
	}
	if r.known[camera] {
		r.wanted(camera)
	}
	return nil, r.known[camera]
}

func TestCameraOnDemandIsWaitedForUntilItsFirstPlaylist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		var pulled sync.Once
		handler := NewHandler(registryOf{w.hub, map[string]bool{"door": true, "yard": true}, func(camera string) {
			if camera == "door" {
				pulled.Do(func() { w.attach() })
			}
		}}, nil)
		door, yard, nobody := asking(handler, "door/live.m3u8"), asking(handler, "yard/live.m3u8"), asking(handler, "nobody/live.m3u8")
		began := time.Now()
		w.pass(time.Second)
		if !door.done.Load() || door.Code != 200 || !strings.Contains(door.Body.String(), "main.live.m3u8") {
			t.Errorf("door: %d %s", door.Code, door.Body)
		}
		if nobody.Code != 404 {
			t.Errorf("nobody: %d", nobody.Code)
		}
		for !yard.done.Load() {
			w.pass(40 * time.Millisecond)
		}
		if took := time.Since(began); yard.Code != 503 || yard.Header().Get("Retry-After") != "1" || took < DefaultFirstWait || took > DefaultFirstWait+time.Second {
			t.Errorf("yard: %d after %v", yard.Code, took)
		}
	})
}

func TestMoreThanSoManyAreNotWaitedWith(t *testing.T) {
	var l lobby
	var places []*Place
	for range maxPlaces {
		p, ok := l.enter("door", time.Second)
		if !ok {
			t.Fatal("no place")
		}
		places = append(places, p)
	}
	if _, ok := l.enter("door", time.Second); ok {
		t.Error("a place beyond the bound")
	}
	if _, ok := l.enter("yard", time.Second); !ok {
		t.Error("another camera has no place")
	}
	for _, p := range places {
		p.leave()
	}
	if len(l.rooms) != 1 {
		t.Errorf("%d rooms", len(l.rooms))
	}
}

func TestSourcesReportEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, Config{})
		w.attach()
		sub := ring.New(ring.Limits{})
		pool := media.NewPool()
		other := newSource(t, pool, sub.Write)
		other.params = otherH264Params()
		defer other.close()
		defer sub.Close()
		if err := w.hub.Attach("door", "sub", sub); err != nil {
			t.Fatal(err)
		}
		both := func(n int) {
			for range n {
				other.picture()
				w.pass(40 * time.Millisecond)
			}
		}
		both(130)
		w.live()
		both(20)
		main, small := w.live(), asking(w.handler, "door/sub.live.m3u8")
		synctest.Wait()
		p := small.playlist(t)
		if len(main.Reports) != 1 || main.Reports[0].URI != "sub.live.m3u8" || len(p.Reports) != 1 || p.Reports[0].URI != "main.live.m3u8" {
			t.Fatalf("%+v %+v", main.Reports, p.Reports)
		}
		last := p.MediaSequence + uint64(len(p.Segments))
		// It is of when the playlist was rendered, a part ago at most.
		if got, newest := main.Reports[0], len(p.Open.Parts)-1; got.LastMSN != last || got.LastPart < newest-1 || got.LastPart > newest {
			t.Errorf("%+v, want %d.%d", got, last, newest)
		}
		w.hub.Detach("door", "sub")
	})
}

func TestLivePlaylistHitAllocatesNothing(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gops(8)
	r.goLive()
	r.pictures(60)
	p := r.livePlaylist()
	for _, zipped := range []bool{false, true} {
		w := &silentWriter{header: http.Header{}}
		request := playlistRequest(zipped)
		request.URL.Path = "/hls/door/main.live.m3u8"
		request.URL.RawQuery = fmt.Sprintf("_HLS_msn=%d&_HLS_part=0&_HLS_skip=YES", p.MediaSequence+uint64(len(p.Segments)))
		r.handler.ServeHTTP(w, request)
		if n := testing.AllocsPerRun(100, func() { r.handler.ServeHTTP(w, request) }); n != 0 || w.status != 200 {
			t.Errorf("gzip %v: %v allocations, status %d", zipped, n, w.status)
		}
	}
}

func TestPartUnderWayKeepsItsFrames(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(3)
	r.goLive()
	r.pictures(13)
	name := r.livePlaylist().Open.Parts[0].URI
	want := bodyOf(t, r.get("door/"+name))
	ready, more := make(chan struct{}), make(chan struct{})
	w := &stoppingWriter{silentWriter: silentWriter{header: http.Header{}}, ready: ready, more: more}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hls/door/"+name, nil))
	}()
	<-ready
	r.gops(20)
	if status := r.get("door/" + name).StatusCode; status != 404 {
		t.Errorf("part outside the window: %d", status)
	}
	close(more)
	<-done
	if string(w.got) != want {
		t.Error("the response holds other bytes")
	}
}
