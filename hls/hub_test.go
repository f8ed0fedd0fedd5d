package hls

import (
	"context"
	"errors"
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

func newHub(t testing.TB, config Config) *Hub {
	t.Helper()
	if config.FirstWait == 0 {
		config.FirstWait = -1
	}
	hub, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	return hub
}

// camera makes a ring with a source of frames that writes into it.
func camera(t testing.TB) (*ring.Ring, *source) {
	r := ring.New(ring.Limits{})
	s := newSource(t, media.NewPool(), r.Write)
	t.Cleanup(func() {
		r.Close()
		s.close()
	})
	return r, s
}

// caughtUp reports whether the muxer has taken all that was written.
func caughtUp(r *ring.Ring) bool {
	subscribers := r.Subscribers()
	return len(subscribers) == 1 && subscribers[0].Behind == 0
}

func ask(h http.Handler, path string) (status int, body string) {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/hls/"+path, nil))
	return recorder.Code, recorder.Body.String()
}

func segmentsOf(hub *Hub, id string) uint64 {
	stats, _ := hub.Stats(id)
	n := uint64(0)
	for _, s := range stats.Sources {
		n += s.Segments
	}
	return n
}

func TestWhatTheRingHoldsIsThereAtOnceWithATargetThatCoversIt(t *testing.T) {
	hub := newHub(t, Config{})
	r, s := camera(t)
	s.gops(1)
	s.gop = 125 // 5 s
	s.count = 0
	s.gops(1)
	s.pictures(10)
	handler := NewHandler(hub, nil)
	if err := hub.Attach("door", "main", r); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return segmentsOf(hub, "door") > 0 })
	_, body := ask(handler, "door/main.index.m3u8")
	p, err := conform.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Segments) != 2 || p.TargetDuration != 5 {
		t.Errorf("%d segments, target %d", len(p.Segments), p.TargetDuration)
	}
}

func TestCameraIsUnknownThenNotYetThereThenServedThenUnknown(t *testing.T) {
	hub := newHub(t, Config{})
	handler := NewHandler(hub, nil)
	r, s := camera(t)
	if status, _ := ask(handler, "door/index.m3u8"); status != 404 {
		t.Errorf("before Attach: %d", status)
	}
	if err := hub.Attach("door", "main", r); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"door/index.m3u8", "door/main.index.m3u8", "door/ts/index.m3u8"} {
		if status, _ := ask(handler, path); status != 503 {
			t.Errorf("%s before the first frame: %d", path, status)
		}
	}
	s.gops(3)
	await(t, func() bool { return segmentsOf(hub, "door") == 2 })
	if status, _ := ask(handler, "door/index.m3u8"); status != 200 {
		t.Errorf("live: %d", status)
	}
	hub.Detach("door", "main")
	if status, _ := ask(handler, "door/index.m3u8"); status != 404 {
		t.Errorf("after Detach: %d", status)
	}
	if n := hub.Bytes(); n != 0 {
		t.Errorf("%d bytes held after Detach", n)
	}
}

func TestVariantsAreListedAsTheirSourcesBeginToPublish(t *testing.T) {
	hub := newHub(t, Config{})
	handler := NewHandler(hub, nil)
	main, mainSource := camera(t)
	sub, subSource := camera(t)
	subSource.params = otherH264Params()
	for name, r := range map[string]*ring.Ring{"main": main} {
		if err := hub.Attach("door", name, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := hub.Attach("door", "sub", sub); err != nil {
		t.Fatal(err)
	}
	subSource.gops(2)
	await(t, func() bool { return segmentsOf(hub, "door") == 1 })
	if _, body := ask(handler, "door/index.m3u8"); strings.Contains(body, "main.index.m3u8") || !strings.Contains(body, "sub.index.m3u8") {
		t.Errorf("only sub publishes\n%s", body)
	}
	mainSource.gops(2)
	await(t, func() bool { return segmentsOf(hub, "door") == 2 })
	if _, body := ask(handler, "door/index.m3u8"); strings.Index(body, "main.index.m3u8") > strings.Index(body, "sub.index.m3u8") {
		t.Errorf("both publish\n%s", body)
	}
	hub.Detach("door", "main")
	if _, body := ask(handler, "door/index.m3u8"); strings.Contains(body, "main.index.m3u8") {
		t.Errorf("main is gone\n%s", body)
	}
}

func TestAttachTwiceOrUnderAFalseNameIsAnError(t *testing.T) {
	hub := newHub(t, Config{})
	r, _ := camera(t)
	if err := hub.Attach("door", "main", r); err != nil {
		t.Fatal(err)
	}
	for _, name := range [][2]string{{"door", "main"}, {"Door", "main"}, {"door", "a.b"}, {"", ""}} {
		if hub.Attach(name[0], name[1], r) == nil {
			t.Errorf("%v: no error", name)
		}
	}
	hub.Close()
	if hub.Attach("door", "sub", r) == nil {
		t.Error("attached to a closed hub")
	}
}

func TestSourceAttachedAgainAtOnceGoesOnAboveItsNumbers(t *testing.T) {
	// The clock stands still, or worse.
	now := zero
	hub := newHub(t, Config{Now: func() time.Time { return now }})
	handler := NewHandler(hub, nil)
	r, s := camera(t)
	checker := conform.New()
	for range 10 {
		if err := hub.Attach("door", "main", r); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			s.gops(1)
			await(t, func() bool { return caughtUp(r) })
		}
		await(t, func() bool { return segmentsOf(hub, "door") >= 5 })
		_, body := ask(handler, "door/main.index.m3u8")
		checker.Watch([]byte(body))
		hub.Detach("door", "main")
	}
	for _, v := range checker.Violations() {
		t.Error(v)
	}
}

type brokenStore struct{}

func (brokenStore) NextEpoch(context.Context, string) (int64, error) {
	return 0, errors.New("disk full")
}

func (brokenStore) ReserveDiscontinuities(context.Context, string, int64) (int64, error) {
	return 0, errors.New("disk full")
}

func TestStoreThatFailsCostsNoPicture(t *testing.T) {
	hub := newHub(t, Config{Epochs: brokenStore{}})
	r, s := camera(t)
	if err := hub.Attach("door", "main", r); err != nil {
		t.Fatal(err)
	}
	s.gops(3)
	await(t, func() bool { return segmentsOf(hub, "door") == 2 })
}

// countingStore gives epochs by a clock that never moves.
type countingStore struct {
	epoch         atomic.Int64
	discontinuity atomic.Int64
}

func (c *countingStore) ReserveDiscontinuities(_ context.Context, _ string, count int64) (int64, error) {
	return c.discontinuity.Add(count) - count, nil
}

func (c *countingStore) NextEpoch(context.Context, string) (int64, error) {
	return c.epoch.Add(1), nil
}

func TestLedgerAsksRarelyWhileTheClockRuns(t *testing.T) {
	now := int64(rigEpoch)
	asked := 0
	store := epochFunc(func() int64 { asked++; return now })
	l := &ledger{epochs: store, camera: "door", highest: now, periods: &periods{opened: true, reserved: reservedDiscontinuities}}
	first := sequenceOf(now)
	for i := range uint64(43200) { // a day of 2 s segments
		now += 2000
		l.used(t.Context(), first+i)
		l.wait()
		if i > 8 && first+i >= sequenceOf(l.highest) {
			t.Fatalf("after %d segments a run that began now would begin below them", i)
		}
	}
	if asked > 12 {
		t.Errorf("asked %d times in a day", asked)
	}
}

type epochFunc func() int64

func (f epochFunc) NextEpoch(context.Context, string) (int64, error) { return f(), nil }

func (f epochFunc) ReserveDiscontinuities(context.Context, string, int64) (int64, error) {
	return 0, errors.New("not needed here")
}

func TestLedgerReservesDiscontinuitiesBeforeTheyAreUsed(t *testing.T) {
	now := int64(rigEpoch)
	store := &clockEpochs{now: func() time.Time { return time.UnixMilli(now) }}
	config := &Config{Epochs: store, Now: func() time.Time { return time.UnixMilli(now) }}
	run := func() (first, last uint64) {
		p := newPeriods("door", config)
		if err := p.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		l := &ledger{epochs: store, camera: "door", highest: now, periods: p}
		first, _ = p.join("main", true, true)
		last = first
		for range 10 * reservedDiscontinuities {
			last, _ = p.join("main", true, false)
			l.used(t.Context(), sequenceOf(now))
			l.wait()
		}
		return first, last
	}
	first, last := run()
	if last != first+10*reservedDiscontinuities {
		t.Errorf("numbers %d to %d", first, last)
	}
	if next, _ := run(); next <= last || next > last+2*reservedDiscontinuities {
		t.Errorf("the next run begins at %d, after %d", next, last)
	}
}

func TestRingThatClosesEndsItsMuxerAlone(t *testing.T) {
	hub := newHub(t, Config{Epochs: &countingStore{}})
	handler := NewHandler(hub, nil)
	r, s := camera(t)
	other, otherSource := camera(t)
	for name, r := range map[string]*ring.Ring{"door": r, "yard": other} {
		if err := hub.Attach(name, "main", r); err != nil {
			t.Fatal(err)
		}
	}
	s.gops(2)
	otherSource.gops(2)
	await(t, func() bool { return segmentsOf(hub, "door") == 1 && segmentsOf(hub, "yard") == 1 })
	r.Close()
	await(t, func() bool { status, _ := ask(handler, "door/index.m3u8"); return status == 503 })
	if status, _ := ask(handler, "yard/index.m3u8"); status != 200 {
		t.Errorf("the other camera: %d", status)
	}
}

func TestViewersReadWhileSegmentsComeAndGo(t *testing.T) {
	hub := newHub(t, Config{Linger: -1})
	handler := NewHandler(hub, nil)
	r, s := camera(t)
	s.sound = aacParams()
	if err := hub.Attach("door", "main", r); err != nil {
		t.Fatal(err)
	}
	s.gops(2)
	await(t, func() bool { return segmentsOf(hub, "door") > 0 })
	stop := make(chan struct{})
	var viewers sync.WaitGroup
	var served, gone atomic.Int64
	for i := range 8 {
		viewers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				prefix, suffix := "door/", "m4s"
				if i%2 == 1 {
					prefix, suffix = "door/ts/", "ts"
				}
				_, body := ask(handler, prefix+"main.index.m3u8")
				p, err := conform.Parse([]byte(body))
				if err != nil {
					t.Error(err)
					return
				}
				for _, segment := range p.Segments {
					switch status, body := ask(handler, prefix+segment.URI); {
					case status == 200 && strings.HasSuffix(segment.URI, suffix) && len(body) > 20_000:
						served.Add(1)
					case status == 404:
						gone.Add(1)
					default:
						t.Errorf("%s: %d, %d bytes", segment.URI, status, len(body))
					}
				}
			}
		})
	}
	for range 40 {
		s.gops(1)
		await(t, func() bool { return caughtUp(r) })
	}
	close(stop)
	viewers.Wait()
	if served.Load() == 0 {
		t.Errorf("%d served, %d gone", served.Load(), gone.Load())
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []Config{
		{SegmentDuration: time.Millisecond}, {SegmentDuration: time.Hour}, {Window: 1}, {Window: -1},
		{MaxSegmentBytes: -1}, {MaxSegmentBytes: 1 << 40}, {MaxWindowBytes: 5}, {MaxSegmentDuration: time.Second},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", fmt.Sprintf("%+v", c))
		}
	}
}

// hangingStore answers when the test ends.
type hangingStore struct{ ended chan struct{} }

func (s hangingStore) NextEpoch(context.Context, string) (int64, error) {
	<-s.ended
	return time.Now().UnixMilli(), nil
}

func (s hangingStore) ReserveDiscontinuities(context.Context, string, int64) (int64, error) {
	<-s.ended
	return 100, nil
}

func TestStoreThatHangsCostsNoPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := hangingStore{make(chan struct{})}
		w := newWatched(t, Config{Epochs: store})
		w.drift = time.Since(zero)
		w.attach()
		w.run(10 * time.Second)
		snapshot := (*w.hub.cameras["door"].muxers.Load())[0].published.Load()
		if len(snapshot.segments) < 3 {
			t.Fatalf("%d segments", len(snapshot.segments))
		}
		before := snapshot.segments[len(snapshot.segments)-1].discontinuity()
		close(store.ended) // numbers that come late change none
		w.run(10 * time.Second)
		snapshot = (*w.hub.cameras["door"].muxers.Load())[0].published.Load()
		if after := snapshot.segments[len(snapshot.segments)-1].discontinuity(); after != before {
			t.Errorf("discontinuity sequence %d became %d", before, after)
		}
	})
}
