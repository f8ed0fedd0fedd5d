package camera

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/core/media"
)

var (
	jpegTrack  = &media.Track{Kind: media.KindVideo, Codec: media.CodecJPEG, ClockRate: 90000}
	jpegOffers = []TrackOffer{{Codec: "MJPEG", Kind: media.KindVideo, Reason: "not in HLS"}}
)

// jpegs sends the pictures given, one a second, and then hangs or ends.
func jpegs(end error, pictures ...string) func(ctx context.Context, feed *Feed) error {
	return func(ctx context.Context, feed *Feed) error {
		feed.Connected(TransportTCP, jpegOffers)
		arena := media.NewArena(feed.Pool, 1)
		defer arena.Close()
		clock := feed.Timeline.Connect(90000)[0]
		for i, picture := range pictures {
			arena.Begin()
			if err := arena.Append([]byte(picture)); err != nil {
				return err
			}
			f, err := arena.Finish()
			if err != nil {
				return err
			}
			f.Track, f.Params = jpegTrack, &media.Params{Codec: media.CodecJPEG}
			f.PTS = clock.PTS(uint32(i*90000), time.Now())
			f.DTS, f.Keyframe, f.Entry, f.Wall = f.PTS, true, true, time.Now()
			feed.Alive(0, time.Now())
			feed.Write(0, f, time.Now())
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
		}
		if end != nil {
			return end
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestThePictureOfACameraIsItsNewestJPEG(t *testing.T) {
	for _, c := range []struct {
		name  string
		pulls map[string]func(context.Context, *Feed) error // by source
		spec  func(*Spec)
		want  string
		err   error
	}{
		{"MJPEG", map[string]func(context.Context, *Feed) error{"main": jpegs(nil, "one", "two")}, nil, "two", nil},
		{"MJPEG of the second source", map[string]func(context.Context, *Feed) error{"main": stream(time.Hour, 0), "sub": jpegs(nil, "sub")}, nil, "sub", nil},
		{"H.264", map[string]func(context.Context, *Feed) error{"main": stream(time.Hour, 0)}, nil, "", ErrNoJPEG},
		{"MJPEG that has sent nothing", map[string]func(context.Context, *Feed) error{"main": jpegs(nil)}, nil, "", ErrNoPicture},
		{"a camera that does not answer", map[string]func(context.Context, *Feed) error{"main": hang}, nil, "", ErrNoPicture},
		{"a camera that has gone", map[string]func(context.Context, *Feed) error{"main": jpegs(errors.New("gone"), "old")}, nil, "", ErrNoPicture},
		{"switched off", map[string]func(context.Context, *Feed) error{"main": jpegs(nil, "one")}, func(s *Spec) { s.Enabled = false }, "", ErrNoPicture},
		{"on demand, and nobody asked before", map[string]func(context.Context, *Feed) error{"main": jpegs(nil, "one")}, func(s *Spec) { s.OnDemand = true }, "", ErrNoPicture},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sources []string
				for name := range c.pulls {
					sources = append(sources, name)
				}
				spec := simple("door", slices.Sorted(slices.Values(sources))...)
				if c.spec != nil {
					c.spec(&spec)
				}
				pool := media.NewPool()
				registry, err := NewRegistry(context.Background(), Options{
					Open: func(s SourceSpec) Source {
						return &fakeSource{pulls: []func(context.Context, *Feed) error{c.pulls[s.Name], hang}}
					},
					Store: &memoryStore{}, Pool: pool,
				}, []Spec{spec})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- registry.Run(ctx) }()
				time.Sleep(4500 * time.Millisecond)
				synctest.Wait()
				got, err := registry.Picture("door")
				if string(got.JPEG) != c.want || !errors.Is(err, c.err) || (got.At.IsZero() != (c.want == "")) {
					t.Errorf("got %q of %v, %v; want %q, %v", got.JPEG, got.At, err, c.want, c.err)
				}
				if _, err := registry.Picture("yard"); !errors.Is(err, ErrNotFound) {
					t.Errorf("of no camera: %v", err)
				}
				if spec.OnDemand {
					time.Sleep(1500 * time.Millisecond)
					synctest.Wait()
					if got, err := registry.Picture("door"); string(got.JPEG) != "one" || err != nil {
						t.Errorf("once it is pulled: %q, %v", got.JPEG, err)
					}
				}
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if stats := pool.Stats(); stats.Frames != 0 {
					t.Errorf("left in the pool: %+v", stats)
				}
			})
		})
	}
}
