package tap_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/rpc"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/ai/shm/serve"
	"github.com/drover-video/drover/ai/tap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server is one that can be stopped and started again at the same places.
type server struct {
	t               *testing.T
	address, socket string
	stop            func()
}

func newServer(t *testing.T) *server {
	t.Helper()
	folder, err := os.MkdirTemp("", "tap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	s := &server{t: t, address: "127.0.0.1:0", socket: filepath.Join(folder, "tap.sock"), stop: func() {}}
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *server) start(rig *aitest.Rig) {
	s.t.Helper()
	log := slog.New(slog.DiscardHandler)
	grpc, err := rpc.New(rpc.Options{Hub: rig.Hub, Log: log})
	if err != nil {
		s.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	run := func(serve func(context.Context) error) {
		work.Go(func() {
			if err := serve(ctx); err != nil {
				s.t.Error(err)
			}
		})
	}
	run(func(ctx context.Context) error { return grpc.Serve(ctx, listener) })
	run(rig.Hub.Run)
	if runtime.GOOS == "linux" {
		shared, err := serve.Listen(serve.Options{Hub: rig.Hub, Log: log, Path: s.socket, DataBytes: 1 << 20})
		if err != nil {
			s.t.Fatal(err)
		}
		run(shared.Serve)
	}
	s.stop = sync.OnceFunc(func() {
		cancel()
		work.Wait()
	})
}

// ways are the addresses by which a server is dialled.
func (s *server) ways() map[string]string {
	ways := map[string]string{"gRPC": s.address}
	if runtime.GOOS == "linux" {
		ways["shared memory"] = "unix:" + s.socket
	}
	return ways
}

func dial(t *testing.T, target string) *tap.Client {
	t.Helper()
	client, err := tap.Dial(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestFramesComeByEveryWayAsTheyWereSent(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Write()
	s := newServer(t)
	s.start(rig)
	for way, target := range s.ways() {
		t.Run(way, func(t *testing.T) {
			first := uint64(0)
			for f, err := range dial(t, target).Frames(soon(t), tap.Request{Cameras: []string{"door"}, MaxBehind: 10 * time.Second}) {
				if err != nil {
					t.Fatal(err)
				}
				if first == 0 {
					first = f.Sequence
				}
				if f.Camera != "door" || f.Source != "main" || f.Config.GetWidth() != 640 || aitest.Number(f.Data) != f.Sequence ||
					f.PTS != int64(f.Sequence-1)*3600 || f.Epoch != 1 || !f.SenderReport || time.Since(f.Wall) > time.Minute || f.Missed != 0 {
					t.Fatalf("got %+v", f)
				}
				if f.Keyframe && !strings.HasPrefix(string(f.Data), "\x00\x00\x00\x01"+string(door.Params.SPS)) {
					t.Error("a keyframe begins with something else than its parameter sets")
				}
				if f.Sequence == first+4 {
					break
				}
				if f.Sequence == uint64(door.Written()) {
					door.Write()
				}
			}
		})
	}
}

func TestAWorkerComesBackToAServerThatWasAway(t *testing.T) {
	s := newServer(t)
	// Nobody listens at first, and then there are two servers, one after the other.
	rig := aitest.New(t, feed.Options{})
	s.start(rig)
	s.stop()
	for way, target := range s.ways() {
		t.Run(way, func(t *testing.T) {
			var rig *aitest.Rig
			var door *aitest.Camera
			start := func() {
				rig = aitest.New(t, feed.Options{})
				door = rig.Attach("door", "main")
				door.Write()
				s.start(rig)
			}
			defer func() { s.stop() }()
			running, seen := false, 0
			request := tap.Request{Cameras: []string{"door"}, Lost: func(error) {
				if !running {
					running = true
					start()
				}
			}}
			for f, err := range dial(t, target).Frames(soon(t), request) {
				if err != nil {
					t.Fatal(err)
				}
				if f.Sequence != 1 || !f.Keyframe {
					t.Errorf("got %+v", f)
				}
				if seen++; seen == 2 {
					break
				}
				s.stop()
				door.Detach()
				running = false
			}
		})
	}
}

func TestWhatTryingAgainDoesNotMendIsSaid(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	rig.Attach("door", "main")
	s := newServer(t)
	s.start(rig)
	for way, target := range s.ways() {
		t.Run(way, func(t *testing.T) {
			for _, c := range []struct {
				cameras []string
				mention string
			}{{[]string{"nobody"}, "nobody"}, {nil, "name cameras"}} {
				for f, err := range dial(t, target).Frames(soon(t), tap.Request{Cameras: c.cameras}) {
					if f != nil || err == nil || !strings.Contains(err.Error(), c.mention) {
						t.Errorf("got %v, %v", f, err)
					}
				}
			}
		})
	}
}

func TestFramesEndWithTheirContext(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	rig.Know("door", "main")
	s := newServer(t)
	s.start(rig)
	for way, target := range s.ways() {
		t.Run(way, func(t *testing.T) {
			ctx, cancel := context.WithCancel(soon(t))
			statuses := 0
			request := tap.Request{Cameras: []string{"door"}, Status: func(status *schema.Status) {
				statuses++
				if status.GetState() != schema.State_STATE_WAITING {
					t.Errorf("got %v", status)
				}
				cancel()
			}}
			time.AfterFunc(5*time.Second, cancel)
			for f, err := range dial(t, target).Frames(ctx, request) {
				if f != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, %v", f, err)
				}
			}
			if statuses != 1 {
				t.Errorf("told of %d statuses, want 1", statuses)
			}
		})
	}
}

func TestReportsGoByGRPCAlone(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	s := newServer(t)
	s.start(rig)
	for way, target := range s.ways() {
		err := dial(t, target).Report(soon(t), &schema.Detections{Camera: "door"})
		if err == nil || (way == "gRPC") != strings.Contains(err.Error(), "Unimplemented") {
			t.Errorf("%s: got %v", way, err)
		}
	}
}
