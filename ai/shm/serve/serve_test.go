//go:build linux

package serve_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/ai/shm"
	"github.com/drover-video/drover/ai/shm/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves a rig until the test ends, or stop is called.
func start(t *testing.T, rig *aitest.Rig, options serve.Options) (path string, stop func()) {
	t.Helper()
	// The folder of a test may be too long a name for a socket.
	folder, err := os.MkdirTemp("", "tap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	options.Hub, options.Log, options.Path = rig.Hub, slog.New(slog.DiscardHandler), filepath.Join(folder, "tap.sock")
	if options.DataBytes == 0 {
		options.DataBytes = 1 << 20
	}
	server, err := serve.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	work.Go(func() { _ = rig.Hub.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		work.Wait()
	})
	t.Cleanup(stop)
	return options.Path, stop
}

type worker struct {
	*shm.Conn
	t *testing.T
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, path string, cameras ...string) worker {
	t.Helper()
	conn, err := shm.Open(soon(t), path, &schema.WatchRequest{Cameras: cameras, MaxBehindMs: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return worker{conn, t}
}

// frame returns the next one.
func (w worker) frame() *shm.Frame {
	w.t.Helper()
	for {
		item, err := w.Next(soon(w.t))
		if err != nil {
			w.t.Fatal(err)
		}
		if item.Frame != nil {
			return item.Frame
		}
	}
}

// ends returns what the connection ends with.
func (w worker) ends() error {
	w.t.Helper()
	for {
		if _, err := w.Next(soon(w.t)); err != nil {
			return err
		}
	}
}

func code(err error) string {
	var refusal *shm.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

func TestTwentyWorkersReadOneMemoryIntoWhichEachFrameIsWrittenOnce(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	path, _ := start(t, rig, serve.Options{})
	var workers []worker
	for range 20 {
		workers = append(workers, open(t, path, "door"))
	}
	for range 30 {
		n := door.Write()
		for i, w := range workers {
			f := w.frame()
			if f.Slot.Sequence != n || aitest.Number(f.Data) != n || f.Missed != 0 || f.Config.GetCamera() != "door" {
				t.Fatalf("worker %d got frame %d, %d missed, want %d", i, f.Slot.Sequence, f.Missed, n)
			}
		}
	}
	if stats := rig.Hub.Stats().Workers; len(stats) != 1 || stats[0].Open != 1 || stats[0].Sent != 30 {
		t.Errorf("got %+v, want one subscription of 30 frames", stats)
	}
}

func TestAWorkerThatComesLaterBeginsOnTheNewestKeyframe(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.GOP = 4
	path, _ := start(t, rig, serve.Options{})
	first := open(t, path, "door")
	for range 7 {
		door.Write()
	}
	for range 7 {
		first.frame()
	}
	second := open(t, path, "door")
	for _, want := range []uint64{5, 6, 7} {
		if f := second.frame(); f.Slot.Sequence != want {
			t.Fatalf("got frame %d, want %d", f.Slot.Sequence, want)
		}
	}
}

func TestAWorkerThatReadsNothingLosesOnlyItsOwnFrames(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes, door.GOP = 10_000, 10
	path, _ := start(t, rig, serve.Options{})
	stuck, good := open(t, path, "door"), open(t, path, "door")
	door.Write()
	stuck.frame()
	good.frame()
	for range 1000 { // ten times around
		n := door.Write()
		if f := good.frame(); f.Slot.Sequence != n || f.Missed != 0 {
			t.Fatalf("got frame %d, %d missed, want %d", f.Slot.Sequence, f.Missed, n)
		}
	}
	f := stuck.frame()
	if f.Slot.Sequence != 1+f.Missed+1 || f.Missed < 900 || !f.Keyframe() {
		t.Errorf("got frame %d, %d missed", f.Slot.Sequence, f.Missed)
	}
}

func TestNobodyCanWriteToTheMemory(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	rig.Attach("door", "main")
	path, _ := start(t, rig, serve.Options{})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"cameras":["*"], "something_new":1}`)); err != nil {
		t.Fatal(err)
	}
	control := make([]byte, 100)
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1000), control)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		t.Fatal(messages, err)
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(descriptors) != 2 {
		t.Fatal(descriptors, err)
	}
	for _, d := range descriptors {
		defer unix.Close(d)
	}
	if _, err := unix.Mmap(descriptors[0], 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		t.Error("it can be mapped for writing")
	}
	if _, err := unix.Write(descriptors[0], []byte("x")); err == nil {
		t.Error("it can be written to")
	}
	if err := unix.Ftruncate(descriptors[0], 0); err == nil {
		t.Error("it can be cut off, and the server with it")
	}
}

func TestAWorkerIsToldWhatIsWrong(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	rig.Attach("door", "main")
	rig.Attach("yard", "main")
	rig.Attach("gate", "main")
	path, stop := start(t, rig, serve.Options{MaxSets: 2, MaxWorkers: 3})
	refused := func(request *schema.WatchRequest) string {
		conn, err := shm.Open(soon(t), path, request)
		if err == nil {
			conn.Close()
		}
		return code(err)
	}
	if got := refused(&schema.WatchRequest{}); got != "invalid_argument" {
		t.Errorf("no camera named: got %q", got)
	}
	if got := refused(&schema.WatchRequest{Cameras: []string{"nobody"}}); got != "not_found" {
		t.Errorf("an unknown camera: got %q", got)
	}
	door, _ := open(t, path, "door"), open(t, path, "yard")
	if got := refused(&schema.WatchRequest{Cameras: []string{"gate"}}); got != "resource_exhausted" {
		t.Errorf("a memory too many: got %q", got)
	}
	open(t, path, "door")
	if got := refused(&schema.WatchRequest{Cameras: []string{"door"}}); got != "resource_exhausted" {
		t.Errorf("a worker too many: got %q", got)
	}
	stop()
	if got := code(door.ends()); got != "unavailable" {
		t.Errorf("when the server stopped: got %q", got)
	}
}

func TestACameraThatIsRemovedEndsWhoAskedForIt(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	path, _ := start(t, rig, serve.Options{MaxSets: 1})
	w := open(t, path, "door")
	door.Write()
	w.frame()
	rig.Know("door")
	door.Detach()
	if err := w.ends(); code(err) != "not_found" || !strings.Contains(err.Error(), "removed") {
		t.Errorf("got %v", err)
	}
	w.Close()
	forgotten(t, rig)
	// The same request later is another memory.
	again := rig.Attach("door", "main")
	w = open(t, path, "door")
	again.Write()
	if f := w.frame(); f.Slot.Sequence != 1 {
		t.Errorf("got %+v", f.Slot)
	}
}

// forgotten waits until the server has nothing of workers left.
func forgotten(t *testing.T, rig *aitest.Rig) {
	t.Helper()
	for limit := soon(t); rig.Hub.Stats().Workers[0].Open > 0; time.Sleep(time.Millisecond) {
		if err := limit.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAWorkerThatDiesIsForgotten(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	path, _ := start(t, rig, serve.Options{MaxSets: 1})
	for range 3 {
		w := open(t, path, "door")
		door.Write()
		w.frame()
		w.Close()
		forgotten(t, rig)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	path, _ := start(t, rig, serve.Options{})
	w := open(t, path, "door")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	for {
		if _, err := w.Next(ctx); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			break
		}
	}
	door.Write() // and goes on with another
	if f := w.frame(); f.Slot.Sequence != 1 {
		t.Errorf("got %+v", f.Slot)
	}
}

func TestAFrameTooLargeForTheMemoryIsMissed(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.GOP = 3
	path, _ := start(t, rig, serve.Options{DataBytes: 1 << 20})
	w := open(t, path, "door")
	for range 7 {
		door.Bytes = 1000
		if door.Written() == 3 {
			door.Bytes = 300_000 // a keyframe: what builds upon it is of no use either
		}
		door.Write()
	}
	for _, want := range []uint64{1, 2, 3, 7} {
		if f := w.frame(); f.Slot.Sequence != want || (f.Missed == 3) != (want == 7) {
			t.Errorf("got frame %d, %d missed, want %d", f.Slot.Sequence, f.Missed, want)
		}
	}
	if missed := rig.Hub.Stats().Workers[0].Missed; missed != 3 {
		t.Errorf("%d frames counted as missed, want 3", missed)
	}
}

func TestASocketThatWasLeftBehindIsTakenOver(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	path := filepath.Join(os.TempDir(), "drover-tap-left.sock")
	left, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	server, err := serve.Listen(serve.Options{Hub: rig.Hub, Log: slog.New(slog.DiscardHandler), Path: path})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	// Anything else is left alone.
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	if server, err := serve.Listen(serve.Options{Hub: rig.Hub, Log: slog.New(slog.DiscardHandler), Path: path}); err == nil {
		server.Close()
		t.Error("a file was taken for a socket")
	}
}
