package feed_test

import (
	"testing"
	"testing/synctest"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
)

// stuck is a sink that takes nothing before it may.
type stuck struct {
	may    chan struct{}
	frames chan look
}

func (s *stuck) Take(_ *feed.Stream, f feed.Frame) {
	<-s.may
	s.frames <- look{number: f.Seq, missed: f.Missed}
	f.Release()
}

func (s *stuck) Status(feed.Status)  {}
func (s *stuck) Forget(*feed.Stream) {}
func (s *stuck) Finish(error)        {}

func TestFramesThatNeverCameToTheSinkAreToldAndCounted(t *testing.T) {
	for _, c := range []struct {
		name    string
		request feed.Request
		want    look
	}{
		{"of all frames", feed.Request{}, look{number: 101, missed: 35}},
		{"of keyframes, others not", feed.Request{Keyframes: true}, look{number: 101, missed: 7}},
		// 101 comes too soon, and what was missed before it stays missed.
		{"with the next frame of a rate", feed.Request{MaxFPS: 0.1}, look{number: 126, missed: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := aitest.New(t, feed.Options{})
				door := rig.Attach("door", "main")
				door.GOP = 5
				sink := &stuck{may: make(chan struct{}), frames: make(chan look, 200)}
				c.request.Cameras = []string{"door"}
				subscription, err := rig.Hub.Open(c.request, sink)
				if err != nil {
					t.Fatal(err)
				}
				defer subscription.Close()
				write(door, 100) // the sink has 1, and 2 to 65 wait for it
				close(sink.may)
				synctest.Wait()
				write(door, 35)
				close(sink.frames)
				got := map[uint64]uint64{}
				for f := range sink.frames {
					if f.missed > 0 {
						got[f.number] = f.missed
					}
				}
				if len(got) != 1 || got[c.want.number] != c.want.missed {
					t.Errorf("got %v missed by number, want %d before %d", got, c.want.missed, c.want.number)
				}
				if n := rig.Hub.Stats().Workers[0].Missed; n != c.want.missed {
					t.Errorf("%d are counted", n)
				}
				sink.frames = make(chan look, 200)
			})
		})
	}
}
