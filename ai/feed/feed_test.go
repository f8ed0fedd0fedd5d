package feed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watcher reads a mailbox in a test.
type watcher struct {
	*feed.Mailbox
	t *testing.T
}

func watch(t *testing.T, rig *aitest.Rig, in *schema.WatchRequest) *watcher {
	t.Helper()
	request, err := feed.NewRequest(in)
	if err != nil {
		t.Fatal(err)
	}
	mailbox, err := rig.Hub.OpenMailbox(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mailbox.Close)
	return &watcher{mailbox, t}
}

func (w *watcher) next() feed.Delivery {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d, err := w.Next(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *watcher) status(camera string, state feed.State) feed.Status {
	w.t.Helper()
	d := w.next()
	if d.Status.Camera != camera || d.Status.State != state {
		w.t.Fatalf("got %+v, want state %d of %s", d, state, camera)
	}
	return d.Status
}

func (w *watcher) config() feed.Config {
	w.t.Helper()
	d := w.next()
	if d.Config == nil {
		w.t.Fatalf("got %+v, want a configuration", d)
	}
	return *d.Config
}

// A look at a frame that was released.
type look struct {
	number, missed uint64
	config         uint32
	data           []byte
}

func (w *watcher) frame() look {
	w.t.Helper()
	d := w.next()
	if d.Frame.Frame == nil {
		w.t.Fatalf("got %+v, want a frame", d)
	}
	defer d.Frame.Release()
	data := d.Frame.AppendData(nil)
	return look{number: aitest.Number(data), missed: d.Frame.Missed, config: d.Frame.Config.Number, data: data}
}

func (w *watcher) frames(numbers ...uint64) {
	w.t.Helper()
	for _, want := range numbers {
		if got := w.frame(); got.number != want {
			w.t.Fatalf("got frame %d, want %d", got.number, want)
		}
	}
}

// write writes frames, each of which comes as far as it goes: tests run in bubbles of
// their own time, which stand still when it has.
func write(c *aitest.Camera, n int) {
	for range n {
		c.Write()
		synctest.Wait()
	}
}

func all(cameras ...string) *schema.WatchRequest { return &schema.WatchRequest{Cameras: cameras} }

func TestAWorkerBeginsOnTheNewestKeyframeAndGetsEveryFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		door.GOP = 5
		write(door, 7)
		w := watch(t, rig, all("door"))
		w.status("door", feed.StateWatching)
		if c := w.config(); c.Params.Width != 640 || !c.AnnexB || c.Number == 0 {
			t.Errorf("got %+v", c)
		}
		w.frames(6, 7)
		write(door, 2)
		w.frames(8, 9)
	})
}

func TestAnnexBHasStartCodesAndBeginsKeyframesWithParameterSets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		write(door, 2)
		w := watch(t, rig, all("door"))
		w.status("door", feed.StateWatching)
		w.config()
		key, other := w.frame().data, w.frame().data
		start := []byte{0, 0, 0, 1}
		want := append(append(append(append([]byte{}, start...), door.Params.SPS...), start...), door.Params.PPS...)
		if !bytes.HasPrefix(key, want) {
			t.Errorf("the keyframe begins with % x", key[:min(64, len(key))])
		}
		if bytes.Count(key, start) != 4 || bytes.Count(other, start) != 2 || !bytes.HasPrefix(other, append(start, 0x06)) {
			t.Errorf("%d and %d start codes", bytes.Count(key, start), bytes.Count(other, start))
		}
		prefixed := watch(t, rig, &schema.WatchRequest{Cameras: []string{"door"}, Format: schema.Format_FORMAT_LENGTH_PREFIXED})
		prefixed.status("door", feed.StateWatching)
		prefixed.config()
		if data := prefixed.frame().data; !bytes.HasPrefix(data, []byte{0, 0, 0, 4, 0x06}) || len(data) != door.Bytes {
			t.Errorf("the keyframe begins with % x", data[:16])
		}
	})
}

func TestASlowWorkerGoesOnWithTheNewestGOPAndHearsWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		door.GOP = 10
		w := watch(t, rig, all("door"))
		write(door, 5)
		w.status("door", feed.StateWatching)
		w.config()
		w.frames(1, 2)
		write(door, 7) // 3 to 12 wait, with a keyframe in 11
		time.Sleep(feed.DefaultMaxBehind + time.Second)
		write(door, 1)
		got := w.frame()
		if got.number != 11 || got.missed != 8 {
			t.Errorf("got frame %d, %d missed, want 11 and 8: 3 to 10", got.number, got.missed)
		}
		if next := w.frame(); next.number != 12 || next.missed != 0 {
			t.Errorf("got frame %d, %d missed, want 12 and 0", next.number, next.missed)
		}
		w.frames(13)
		stats := rig.Hub.Stats()
		if len(stats.Workers) != 1 || stats.Workers[0].Missed != 8 || stats.Workers[0].Sent != 5 || stats.Workers[0].Open != 1 {
			t.Errorf("got %+v", stats)
		}
	})
}

func TestWithoutANewerKeyframeASlowWorkerWaitsForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		door.GOP = 10
		w := watch(t, rig, all("door"))
		write(door, 4)
		time.Sleep(time.Hour)
		write(door, 5) // 1 to 9 are of one GOP
		write(door, 3)
		w.status("door", feed.StateWatching)
		w.config()
		if got := w.frame(); got.number != 11 || got.missed != 10 {
			t.Errorf("got frame %d, %d missed, want 11 and 10", got.number, got.missed)
		}
	})
}

func TestOfKeyframesOnlyTheNewestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		door.GOP = 4
		w := watch(t, rig, &schema.WatchRequest{Cameras: []string{"door"}, Selection: schema.Selection_SELECTION_KEYFRAMES})
		write(door, 4*3+2)
		w.status("door", feed.StateWatching)
		w.config()
		if got := w.frame(); got.number != 13 || got.missed != 3 {
			t.Errorf("got frame %d, %d missed, want 13 and 3: 1, 5 and 9", got.number, got.missed)
		}
		write(door, 3)
		if got := w.frame(); got.number != 17 || got.missed != 0 {
			t.Errorf("got frame %d, %d missed, want 17 and 0: others were not asked for", got.number, got.missed)
		}
	})
}

func TestARateThinsACameraDownToWhatCanBeDecoded(t *testing.T) {
	for _, c := range []struct {
		fps  float64
		want []uint64
	}{
		{fps: 25, want: []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{fps: 30, want: []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{fps: 6.25, want: []uint64{1, 5, 9}},           // every fourth is a keyframe
		{fps: 3.125, want: []uint64{1, 5}},             // and every second of those, after the first two
		{fps: 12.5, want: []uint64{1, 2, 5, 6, 9, 10}}, // a keyframe and the one behind it
	} {
		t.Run(fmt.Sprint(c.fps), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := aitest.New(t, feed.Options{})
				door := rig.Attach("door", "main")
				door.GOP = 4
				w := watch(t, rig, &schema.WatchRequest{Cameras: []string{"door"}, MaxFps: c.fps})
				write(door, 12)
				w.status("door", feed.StateWatching)
				w.config()
				var got []uint64
				for range c.want {
					got = append(got, w.frame().number)
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("got frames %d, want %d", got, c.want)
				}
				nothing(t, w)
			})
		})
	}
}

// nothing proves that no delivery waits.
func nothing(t *testing.T, w *watcher) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if d, err := w.Next(ctx); err == nil {
		t.Errorf("got %+v, want nothing", d)
		d.Frame.Release()
	}
}

func TestANewConfigurationComesBeforeTheFramesItIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		door.GOP = 2
		w := watch(t, rig, all("door"))
		write(door, 2)
		same := *door.Params
		door.Params = &same // the camera says the same again
		write(door, 2)
		other := same
		other.PPS = []byte{0x68, 1, 2, 3}
		door.Params = &other
		write(door, 2)
		w.status("door", feed.StateWatching)
		first := w.config()
		for range 4 {
			if got := w.frame(); got.config != first.Number {
				t.Errorf("frame %d has configuration %d, want %d", got.number, got.config, first.Number)
			}
		}
		second := w.config()
		if second.Number == first.Number || !bytes.Equal(second.Params.PPS, other.PPS) {
			t.Errorf("got %+v", second)
		}
		if got := w.frame(); got.config != second.Number || got.number != 5 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAPictureOfAnotherSizeHasAnotherConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		door.GOP = 1
		door.Track = &media.Track{Kind: media.KindVideo, Codec: media.CodecJPEG, ClockRate: 90000}
		w := watch(t, rig, all("door"))
		for _, width := range []int{640, 640, 1920} {
			door.Params = &media.Params{Codec: media.CodecJPEG, Width: width, Height: 480}
			write(door, 1)
		}
		w.status("door", feed.StateWatching)
		first := w.config()
		w.frames(1, 2)
		if second := w.config(); second.Number == first.Number || second.Params.Width != 1920 {
			t.Errorf("got %+v", second)
		}
		w.frames(3)
	})
}

func TestARemovedCameraIsToldAndTheLastOneEndsTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door, yard := rig.Attach("door", "main"), rig.Attach("yard", "main")
		w := watch(t, rig, all("door", "yard"))
		write(door, 1)
		write(yard, 1)
		rig.Know("door")
		door.Detach()
		seen := map[string]feed.State{}
		for range 2 {
			d := w.next()
			seen[d.Status.Camera] = d.Status.State
		}
		if seen["door"] != feed.StateRemoved || seen["yard"] != feed.StateWatching {
			t.Errorf("got %v", seen)
		}
		w.config()
		w.frames(1) // of yard
		rig.Know("yard")
		yard.Detach()
		w.status("yard", feed.StateRemoved)
		if _, err := w.Next(context.Background()); !errors.Is(err, feed.ErrRemoved) {
			t.Errorf("got %v, want %v", err, feed.ErrRemoved)
		}
	})
}

func TestACameraThatGoesAndComesIsWatchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		rig.Know("door", "main")
		w := watch(t, rig, all("door"))
		w.status("door", feed.StateWaiting)
		if rig.Wanted("door") == 0 {
			t.Error("a camera on demand was not asked for")
		}
		for range 2 {
			door := rig.Attach("door", "main")
			w.status("door", feed.StateWatching)
			write(door, 1)
			w.config()
			w.frames(1)
			door.Detach()
			w.status("door", feed.StateWaiting)
		}
	})
}

func TestAllCamerasAreThoseAddedLaterToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		rig.Attach("door", "main")
		w := watch(t, rig, all("*"))
		w.status("door", feed.StateWatching)
		yard := rig.Attach("yard", "main")
		w.status("yard", feed.StateWatching)
		rig.Know("yard")
		yard.Detach()
		w.status("yard", feed.StateRemoved)
		rig.Attach("yard", "main")
		w.status("yard", feed.StateWatching)
	})
}

func TestACameraWithoutTheSourceAskedForGivesItsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		rig.Know("door", "main", "sub")
		rig.Know("yard", "main")
		for _, c := range [][2]string{{"door", "main"}, {"door", "sub"}, {"yard", "main"}} {
			rig.Attach(c[0], c[1])
		}
		w := watch(t, rig, &schema.WatchRequest{Cameras: []string{"door", "yard"}, Source: "sub"})
		got := map[string]string{}
		for range 2 {
			d := w.next()
			got[d.Status.Camera] = d.Status.Source
		}
		if got["door"] != "sub" || got["yard"] != "main" {
			t.Errorf("got %v", got)
		}
		nothing(t, w)
	})
}

func TestWhatMakesNoSenseIsRefusedWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{MaxWorkers: 1})
		rig.Attach("door", "main")
		for name, in := range map[string]*schema.WatchRequest{
			"no camera":             {},
			"a star among others":   all("door", "*"),
			"no id":                 all("../door"),
			"an unknown selection":  {Cameras: []string{"door"}, Selection: 9},
			"an unknown format":     {Cameras: []string{"door"}, Format: 9},
			"a negative rate":       {Cameras: []string{"door"}, MaxFps: -1},
			"a long wait":           {Cameras: []string{"door"}, MaxBehindMs: 3600_000},
			"a worker with spaces":  {Cameras: []string{"door"}, Worker: "a b"},
			"a source with slashes": {Cameras: []string{"door"}, Source: "a/b"},
			"too many names":        {Cameras: make([]string, 5000)},
		} {
			if _, err := feed.NewRequest(in); !errors.Is(err, feed.ErrRequest) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		open := func(ids ...string) error {
			request, err := feed.NewRequest(all(ids...))
			if err != nil {
				t.Fatal(err)
			}
			mailbox, err := rig.Hub.OpenMailbox(request)
			if err == nil {
				t.Cleanup(mailbox.Close)
			}
			return err
		}
		if err := open("door", "nobody"); !errors.Is(err, feed.ErrUnknownCamera) || !bytes.Contains([]byte(err.Error()), []byte("nobody")) {
			t.Errorf("an unknown camera: %v", err)
		}
		if err := open("door"); err != nil {
			t.Errorf("a good request after a bad one: %v", err)
		}
		if err := open("door"); !errors.Is(err, feed.ErrTooMany) || rig.Hub.Stats().Refused != 1 {
			t.Errorf("one worker too many: %v, %d refused", err, rig.Hub.Stats().Refused)
		}
	})
}

func TestTwoHundredWorkersThatReadNothingHoldNoMoreThanOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		door := rig.Attach("door", "main")
		for range 200 {
			watch(t, rig, all("door"))
		}
		for range 40 {
			write(door, door.GOP)
			time.Sleep(time.Second)
		}
		// The ring has its share, and the workers together what is not too old.
		if held := rig.Pool.Stats().Frames - int64(door.Ring.Stats().Frames); held > int64(4*door.GOP) {
			t.Errorf("200 workers hold %d frames of a camera that sends %d a second", held, door.GOP)
		}
		missed := rig.Hub.Stats().Workers[0].Missed
		if least := uint64(200 * 36 * door.GOP); missed < least {
			t.Errorf("%d frames are counted as missed, want %d or more", missed, least)
		}
	})
}

func TestTheHubAsksForCamerasOnDemandAndEndsAllWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		rig.Know("door", "main")
		w := watch(t, rig, all("door"))
		w.status("door", feed.StateWaiting)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- rig.Hub.Run(ctx) }()
		time.Sleep(2500 * time.Millisecond)
		if n := rig.Wanted("door"); n != 3 {
			t.Errorf("a camera on demand was asked for %d times in two and a half seconds, want 3", n)
		}
		rig.Know("door") // removed while it was not pulled: nobody is told
		w.status("door", feed.StateRemoved)
		if _, err := w.Next(context.Background()); !errors.Is(err, feed.ErrRemoved) {
			t.Errorf("got %v", err)
		}
		rig.Know("door", "main")
		w = watch(t, rig, all("door"))
		w.status("door", feed.StateWaiting)
		cancel()
		if _, err := w.Next(context.Background()); !errors.Is(err, feed.ErrClosed) {
			t.Errorf("got %v", err)
		}
		<-ended
		if _, err := rig.Hub.OpenMailbox(feed.Request{}); !errors.Is(err, feed.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheNewestKeyframeIsToBeHadByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := aitest.New(t, feed.Options{})
		rig.Know("door", "main", "sub")
		door := rig.Attach("door", "main")
		door.GOP = 3
		if _, err := rig.Hub.Newest("door", ""); !errors.Is(err, camera.ErrNoPicture) {
			t.Errorf("before the first: %v", err)
		}
		write(door, 5)
		f, err := rig.Hub.Newest("door", "")
		if err != nil {
			t.Fatal(err)
		}
		if n := aitest.Number(f.Payload()); n != 4 || !f.Keyframe || f.Track.Kind != media.KindVideo {
			t.Errorf("got frame %d", n)
		}
		f.Release()
		for _, c := range []struct {
			id, source string
			want       error
		}{{"door", "sub", camera.ErrNoPicture}, {"door", "other", camera.ErrNotFound}, {"yard", "", camera.ErrNotFound}} {
			if _, err := rig.Hub.Newest(c.id, c.source); !errors.Is(err, c.want) {
				t.Errorf("%s/%s: got %v, want %v", c.id, c.source, err, c.want)
			}
		}
	})
}
