package camera

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/core/media"
)

// pulling runs a puller of a source for the length of a test.
func pulling(t *testing.T, source Source, change func(*Options)) *puller {
	t.Helper()
	pool := media.NewPool()
	options := Options{
		Open: func(SourceSpec) Source { return source }, Store: &memoryStore{}, Pool: pool,
		Random: func() float64 { return 0.999 },
	}
	if change != nil {
		change(&options)
	}
	options.fill()
	p := newPuller("door", SourceSpec{Name: "main"}, false, &options)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		p.ring.Close()
		if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("left in the pool: %+v", stats)
		}
	})
	return p
}

func TestALiveSourceTellsWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pulling(t, &fakeSource{pulls: []func(context.Context, *Feed) error{stream(time.Hour, 0)}}, nil)
		time.Sleep(20*time.Second + 50*time.Millisecond)
		s := p.status()
		if s.State != StateLive || s.Error != "" || s.Transport != TransportTCP || s.GOP != 2*time.Second || s.Reconnects != 0 {
			t.Errorf("status %+v", s)
		}
		if len(s.Tracks) != 2 {
			t.Fatalf("%d tracks, want 2", len(s.Tracks))
		}
		video := s.Tracks[0]
		near := func(got, want float64) bool { return got > 0.95*want && got < 1.05*want }
		if video.Codec != "H264" || video.Width != 640 || !near(video.FPS, 10) || !near(float64(video.BitrateBPS), 80_000) || !video.Playable {
			t.Errorf("video %+v", video)
		}
		if age := time.Since(s.LastFrameAt); age > 100*time.Millisecond {
			t.Errorf("last frame %v ago", age)
		}
	})
}

func TestSilentVideoIsStalledAndReconnectedThoughSoundGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{pulls: []func(context.Context, *Feed) error{stream(40*time.Second, time.Hour), stream(time.Hour, 0)}}
		var states []State
		p := pulling(t, source, func(o *Options) {
			o.StateChanged = func(c Change) { states = append(states, c.State) }
		})
		time.Sleep(50*time.Second + 500*time.Millisecond)
		if s := p.status(); s.State != StateStalled || !strings.Contains(s.Error, "no video for 10s") {
			t.Errorf("after 10 s without video: %s, %q", s.State, s.Error)
		}
		time.Sleep(5 * time.Second)
		if s := p.status(); s.State != StateLive || s.Reconnects != 1 || s.Error != "" {
			t.Errorf("after the reconnect: %+v", s)
		}
		want := []State{StateLive, StateStalled, StateConnecting, StateLive}
		if len(states) != len(want) {
			t.Fatalf("states %v, want %v", states, want)
		}
		for i := range want {
			if states[i] != want[i] {
				t.Errorf("states %v, want %v", states, want)
			}
		}
	})
}

func TestBackoffGrowsToItsCapAndIsForgivenByAStableStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short := func(ctx context.Context, feed *Feed) error {
			feed.Connected(TransportTCP, bothTracks)
			return errors.New("closed at once")
		}
		steady := func(ctx context.Context, feed *Feed) error {
			ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
			defer cancel()
			return stream(time.Hour, 0)(ctx, feed)
		}
		source := &fakeSource{}
		for range 8 {
			source.pulls = append(source.pulls, refuse)
		}
		source.pulls = append(source.pulls, short, steady, refuse)
		pulling(t, source, nil)
		time.Sleep(10 * time.Minute)
		starts := source.starts()
		want := []int{1, 2, 4, 8, 16, 32, 60, 60, 60, 40 + 1, 2, 4}
		for i, seconds := range want {
			if got := starts[i+1].Sub(starts[i]).Round(time.Second); got != time.Duration(seconds)*time.Second {
				t.Errorf("try %d comes %v after the one before, want %d s", i+1, got, seconds)
			}
		}
	})
}

func TestACameraThatRunsForAWhileEachTimeIsNotLeftAloneForLonger(t *testing.T) {
	one := func() float64 { return 1 }
	for _, c := range []struct {
		failures int
		ran      time.Duration
		want     time.Duration
	}{
		{0, 20 * time.Second, time.Second},
		{8, 9 * time.Second, time.Minute}, // it closes too soon to be worth it
		{8, 10 * time.Second, 2 * time.Second},
		{8, 20 * time.Second, 4 * time.Second},
		{1000, 29 * time.Second, 4 * time.Second},
		{1, 29 * time.Second, 2 * time.Second},
		{8, 30 * time.Second, time.Second},
	} {
		b := Backoff{Min: time.Second, Max: time.Minute, Random: one, failures: c.failures}
		b.ran(c.ran)
		if got := b.next(0); got != c.want {
			t.Errorf("after %d failures and %v: got %v, want %v", c.failures, c.ran, got, c.want)
		}
	}
}

func TestJitterIsFull(t *testing.T) {
	random := 0.0
	b := Backoff{Min: time.Second, Max: time.Minute, Random: func() float64 { return random }}
	if got := b.next(0); got != 0 {
		t.Errorf("got %v, want 0", got)
	}
	random = 0.5
	if got := b.next(time.Minute); got != time.Minute+time.Second {
		t.Errorf("got %v, want the floor and half of 2 s", got)
	}
	b.failures = 1000
	if got := b.next(0); got != 30*time.Second {
		t.Errorf("got %v, want half of the cap", got)
	}
}

func TestACameraThatWantsToBeLeftAloneIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{pulls: []func(context.Context, *Feed) error{func(context.Context, *Feed) error {
			return &PullError{Step: "setup", Message: "the camera serves no more sessions", RetryAfter: time.Minute}
		}}}
		p := pulling(t, source, nil)
		time.Sleep(59 * time.Second)
		if n := len(source.starts()); n != 1 {
			t.Errorf("%d tries in the first minute, want 1", n)
		}
		if s := p.status(); s.State != StateBackoff || s.Error != "the camera serves no more sessions" || time.Until(s.NextTryAt) <= 0 {
			t.Errorf("status %+v", s)
		}
	})
}

func TestDeadCamerasDoNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := NewDialLimit(2)
		share := func(o *Options) { o.Dials = dials }
		for range 20 {
			pulling(t, &fakeSource{pulls: []func(context.Context, *Feed) error{hang}}, share)
		}
		synctest.Wait()
		p := pulling(t, &fakeSource{pulls: []func(context.Context, *Feed) error{stream(time.Hour, 0)}}, share)
		time.Sleep(12 * time.Second)
		if s := p.status(); s.State != StateLive {
			t.Errorf("the healthy camera is %s behind 20 dead ones", s.State)
		}
	})
}

func TestAHangingConversationIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{pulls: []func(context.Context, *Feed) error{hang}}
		p := pulling(t, source, func(o *Options) { o.ConnectTimeout = 20 * time.Second })
		time.Sleep(21500 * time.Millisecond)
		if s := p.status(); s.State != StateBackoff || !strings.Contains(s.Error, "more than 20s") {
			t.Errorf("status %+v", s)
		}
	})
}

func TestAPanicCostsOneCameraOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{pulls: []func(context.Context, *Feed) error{
			func(context.Context, *Feed) error { panic("index out of range") },
			stream(time.Hour, 0),
		}}
		p := pulling(t, source, nil)
		time.Sleep(3 * time.Minute)
		if s := p.status(); s.State != StateLive {
			t.Errorf("status %+v", s)
		}
	})
}

func TestRestartConnectsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{pulls: []func(context.Context, *Feed) error{stream(time.Hour, 0), refuse}}
		p := pulling(t, source, nil)
		time.Sleep(5 * time.Second)
		p.Restart()
		synctest.Wait()
		if n := len(source.starts()); n != 2 {
			t.Errorf("%d connections after a restart of a live source, want 2", n)
		}
		time.Sleep(500 * time.Millisecond)
		p.Restart()
		synctest.Wait()
		if n := len(source.starts()); n != 3 {
			t.Errorf("%d connections after a restart while waiting, want 3", n)
		}
	})
}

func TestPicturesWithoutKeyframesAreSaidSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pulling(t, &fakeSource{pulls: []func(context.Context, *Feed) error{func(ctx context.Context, feed *Feed) error {
			feed.Connected(TransportTCP, bothTracks)
			for ctx.Err() == nil {
				feed.Alive(0, time.Now())
				time.Sleep(time.Second)
			}
			return ctx.Err()
		}}}, nil)
		time.Sleep(30 * time.Second)
		if s := p.status(); s.State != StateConnecting || !strings.Contains(s.Error, "no keyframe") || s.Reconnects != 0 {
			t.Errorf("status %+v", s)
		}
	})
}

func TestTheFallbackIsPulledWhileTheURLFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		minute := func(ctx context.Context, feed *Feed) error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return stream(time.Hour, 0)(ctx, feed)
		}
		main := &fakeSource{pulls: []func(context.Context, *Feed) error{refuse, stream(time.Hour, 0)}}
		other := &fakeSource{pulls: []func(context.Context, *Feed) error{minute}}
		options := Options{
			Open: func(spec SourceSpec) Source {
				if spec.URL == "rtsp://other/" {
					return other
				}
				return main
			},
			Store: &memoryStore{}, Pool: media.NewPool(), Random: func() float64 { return 0.999 },
		}
		options.fill()
		p := newPuller("door", SourceSpec{Name: "main", URL: "rtsp://main/", FallbackURL: "rtsp://other/"}, false, &options)
		defer p.ring.Close()
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); p.Run(ctx) }()
		time.Sleep(30 * time.Second)
		if s := p.status(); s.State != StateLive || !s.OnFallback {
			t.Errorf("while the URL fails: %s, on the fallback %t", s.State, s.OnFallback)
		}
		time.Sleep(40 * time.Second)
		if s := p.status(); s.State != StateLive || s.OnFallback {
			t.Errorf("after the fallback's end: %s, on the fallback %t", s.State, s.OnFallback)
		}
		stop()
		<-done
	})
}

func TestASourceMaySayBetterWhyNoFrameComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pulling(t, &fakeSource{pulls: []func(context.Context, *Feed) error{func(ctx context.Context, feed *Feed) error {
			feed.Connected(TransportTCP, bothTracks)
			for ctx.Err() == nil {
				feed.Alive(0, time.Now())
				feed.Waiting("the camera sends no parameter sets")
				time.Sleep(time.Second)
			}
			return ctx.Err()
		}}}, nil)
		time.Sleep(30 * time.Second)
		if s := p.status(); s.State != StateConnecting || s.Error != "the camera sends no parameter sets" || s.Reconnects != 0 {
			t.Errorf("status %+v", s)
		}
	})
}

func TestASlowCameraIsNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pulling(t, &fakeSource{pulls: []func(context.Context, *Feed) error{func(ctx context.Context, feed *Feed) error {
			feed.Connected(TransportTCP, bothTracks[:1])
			for ctx.Err() == nil {
				feed.Alive(0, time.Now())
				select {
				case <-time.After(8 * time.Second):
				case <-ctx.Done():
				}
			}
			return ctx.Err()
		}}}, func(o *Options) { o.StallTimeout = 9 * time.Second })
		time.Sleep(5 * time.Minute)
		if s := p.status(); s.Reconnects != 0 {
			t.Errorf("a camera of a picture in 8 s was connected %d times", s.Reconnects+1)
		}
	})
}
