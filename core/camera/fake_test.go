package camera

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSource runs a script for each connection, the last one for all further.
type fakeSource struct {
	pulls   []func(ctx context.Context, feed *Feed) error
	mu      sync.Mutex
	started []time.Time
}

func (s *fakeSource) Pull(ctx context.Context, feed *Feed) error {
	s.mu.Lock()
	n := len(s.started)
	s.started = append(s.started, time.Now())
	s.mu.Unlock()
	return s.pulls[min(n, len(s.pulls)-1)](ctx, feed)
}

func (s *fakeSource) starts() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.started)
}

var (
	videoTrack = &media.Track{Kind: media.KindVideo, Codec: media.CodecH264, ClockRate: 90000}
	audioTrack = &media.Track{ID: 1, Kind: media.KindAudio, Codec: media.CodecAAC, ClockRate: 16000}
	bothTracks = []TrackOffer{
		{Codec: "H264", Kind: media.KindVideo, Playable: true},
		{Codec: "AAC", Kind: media.KindAudio, Playable: true, SampleRate: 16000},
	}
)

// stream sends video for a time, then audio alone for another, then nothing.
func stream(video, audio time.Duration) func(ctx context.Context, feed *Feed) error {
	return func(ctx context.Context, feed *Feed) error {
		feed.Connected(TransportTCP, bothTracks)
		arenas := []*media.Arena{media.NewArena(feed.Pool, 1), media.NewArena(feed.Pool, 1)}
		defer arenas[0].Close()
		defer arenas[1].Close()
		clocks := feed.Timeline.Connect(90000, 16000)
		begun := time.Now()
		for i := 0; ; i++ {
			if elapsed := time.Since(begun); elapsed >= video+audio {
				<-ctx.Done()
				return ctx.Err()
			}
			for id, track := range []*media.Track{videoTrack, audioTrack} {
				if id == 0 && time.Since(begun) >= video {
					continue
				}
				arenas[id].Begin()
				if err := arenas[id].Append(make([]byte, 1000)); err != nil {
					return err
				}
				f, err := arenas[id].Finish()
				if err != nil {
					return err
				}
				f.Track = track
				f.Params = &media.Params{Width: 640, Height: 360}
				f.PTS = clocks[id].PTS(uint32(i*track.ClockRate/10), time.Now())
				f.DTS = f.PTS
				f.Keyframe, f.Entry = i%20 == 0, i%20 == 0 && id == 0
				feed.Alive(id, time.Now())
				feed.Write(id, f, time.Now())
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

func hang(ctx context.Context, _ *Feed) error {
	<-ctx.Done()
	return ctx.Err()
}

func refuse(context.Context, *Feed) error { return errors.New("refused") }

// memoryStore is a Store that forgets.
type memoryStore struct {
	mu    sync.Mutex
	specs map[string]Spec
	fail  error
}

func (s *memoryStore) Cameras(context.Context) ([]Spec, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var specs []Spec
	for _, spec := range s.specs {
		specs = append(specs, spec)
	}
	return specs, s.fail
}

func (s *memoryStore) put(spec Spec) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	if s.specs == nil {
		s.specs = map[string]Spec{}
	}
	s.specs[spec.ID] = spec
	return nil
}

func (s *memoryStore) AddCamera(_ context.Context, spec Spec) error    { return s.put(spec) }
func (s *memoryStore) UpdateCamera(_ context.Context, spec Spec) error { return s.put(spec) }
func (s *memoryStore) RemoveCamera(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.specs, id)
	return s.fail
}

// recordingOutput notes what is attached.
type recordingOutput struct {
	mu       sync.Mutex
	attached []string
}

func (o *recordingOutput) Attach(camera, source string, _ *ring.Ring) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attached = append(o.attached, camera+"/"+source)
	return nil
}

func (o *recordingOutput) Detach(camera, source string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.attached, camera+"/"+source); i >= 0 {
		o.attached = slices.Delete(o.attached, i, i+1)
	}
}

func (o *recordingOutput) list() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(slices.Values(o.attached))
}
