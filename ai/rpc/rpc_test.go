package rpc_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/rpc"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/core/detection"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve serves a rig until the test ends, or stop is called.
func serve(t *testing.T, rig *aitest.Rig, reports rpc.Reports) (address string, stop func()) {
	t.Helper()
	server, err := rpc.New(rpc.Options{Hub: rig.Hub, Reports: reports, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Serve(ctx, listener); err != nil {
			t.Error(err)
		}
	})
	work.Go(func() { _ = rig.Hub.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		work.Wait()
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

func dial(t *testing.T, address string, options ...grpc.DialOption) schema.TapClient {
	t.Helper()
	conn, err := grpc.NewClient(address, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return schema.NewTapClient(conn)
}

// soon bounds what a test waits for.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

type stream struct {
	grpc.ServerStreamingClient[schema.Message]
	t *testing.T
}

func watch(t *testing.T, client schema.TapClient, in *schema.WatchRequest) stream {
	t.Helper()
	s, err := client.Watch(soon(t), in)
	if err != nil {
		t.Fatal(err)
	}
	return stream{s, t}
}

// until returns the next message for which is returns true.
func (s stream) until(is func(*schema.Message) bool) *schema.Message {
	s.t.Helper()
	for {
		m, err := s.Recv()
		if err != nil {
			s.t.Fatal(err)
		}
		if is(m) {
			return m
		}
	}
}

func (s stream) watching() {
	s.t.Helper()
	s.until(func(m *schema.Message) bool { return m.GetStatus().GetState() == schema.State_STATE_WATCHING })
}

func (s stream) frame() *schema.Frame {
	s.t.Helper()
	return s.until(func(m *schema.Message) bool { return m.GetFrame() != nil }).GetFrame()
}

// ends returns the status with which a stream ends.
func (s stream) ends() *status.Status {
	s.t.Helper()
	for {
		if _, err := s.Recv(); err != nil {
			return status.Convert(err)
		}
	}
}

func TestAWorkerGetsConfigurationAndFramesOfManyCamerasOnOneStream(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door, yard := rig.Attach("door", "main"), rig.Attach("yard", "main")
	yard.Bytes = 100_000 // several of HTTP/2's own frames
	address, _ := serve(t, rig, nil)
	s := watch(t, dial(t, address), &schema.WatchRequest{Cameras: []string{"*"}})
	s.watching()
	s.watching()
	next, configs := map[string]uint64{"door": 1, "yard": 1}, map[string]*schema.Config{}
	for range 30 {
		door.Write()
		yard.Write()
	}
	for next["door"] <= 30 || next["yard"] <= 30 {
		m := s.until(func(*schema.Message) bool { return true })
		if c := m.GetConfig(); c != nil {
			configs[c.Camera] = c
			continue
		}
		f := m.GetFrame()
		if configs[f.Camera].GetNumber() != f.Config {
			t.Fatalf("frame %d of %s came before its configuration", f.Sequence, f.Camera)
		}
		if n := aitest.Number(f.Data); f.Sequence != next[f.Camera] || n != f.Sequence || f.Missed != 0 {
			t.Fatalf("got frame %d of %s with the bytes of %d, want %d", f.Sequence, f.Camera, n, next[f.Camera])
		}
		next[f.Camera]++
	}
}

func TestAWorkerIsToldInAStatusWhatIsWrong(t *testing.T) {
	rig := aitest.New(t, feed.Options{MaxWorkers: 1})
	rig.Attach("door", "main")
	address, stop := serve(t, rig, nil)
	client := dial(t, address)
	first := watch(t, client, &schema.WatchRequest{Cameras: []string{"*"}})
	first.watching()
	for _, c := range []struct {
		name    string
		in      *schema.WatchRequest
		code    codes.Code
		mention string
	}{
		{"no camera named", &schema.WatchRequest{}, codes.InvalidArgument, "name cameras"},
		{"one worker too many", &schema.WatchRequest{Cameras: []string{"door"}}, codes.ResourceExhausted, "ai.max_workers"},
		{"a request too large", &schema.WatchRequest{Cameras: []string{strings.Repeat("x", 2<<20)}}, codes.ResourceExhausted, "larger"},
	} {
		if got := watch(t, client, c.in).ends(); got.Code() != c.code || !strings.Contains(got.Message(), c.mention) {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
	stop()
	if got := first.ends(); got.Code() != codes.Unavailable {
		t.Errorf("when the server stopped: got %v", got)
	}
}

func TestACameraThatIsUnknownOrRemovedIsNotFound(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	address, _ := serve(t, rig, nil)
	client := dial(t, address)
	if got := watch(t, client, &schema.WatchRequest{Cameras: []string{"door", "gate"}}).ends(); got.Code() != codes.NotFound || !strings.Contains(got.Message(), "gate") {
		t.Errorf("unknown: got %v", got)
	}
	s := watch(t, client, &schema.WatchRequest{Cameras: []string{"door"}})
	s.watching()
	rig.Know("door")
	door.Detach()
	s.until(func(m *schema.Message) bool { return m.GetStatus().GetState() == schema.State_STATE_REMOVED })
	if got := s.ends(); got.Code() != codes.NotFound {
		t.Errorf("removed: got %v", got)
	}
}

func TestAWorkerThatReadsNothingCostsOthersNoFrameAndHearsWhatItMissed(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = 20_000
	address, _ := serve(t, rig, nil)
	stuck := watch(t, dial(t, address, grpc.WithStaticStreamWindowSize(64<<10)), &schema.WatchRequest{Cameras: []string{"door"}, MaxBehindMs: 20, Worker: "stuck"})
	stuck.watching()
	good := watch(t, dial(t, address), &schema.WatchRequest{Cameras: []string{"door"}, MaxBehindMs: 10_000, Worker: "good"})
	good.watching()
	stuckMissed := func() uint64 {
		for _, w := range rig.Hub.Stats().Workers {
			if w.Worker == "stuck" {
				return w.Missed
			}
		}
		return 0
	}
	for n := uint64(0); n < 300 || stuckMissed() == 0; {
		n = door.Write()
		if f := good.frame(); f.Sequence != n || f.Missed != 0 {
			t.Fatalf("got frame %d, %d missed, want %d", f.Sequence, f.Missed, n)
		}
	}
	// It begins to read, while the camera goes on.
	done := make(chan struct{})
	var camera sync.WaitGroup
	camera.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				door.Write()
			}
		}
	})
	defer camera.Wait()
	defer close(done)
	for next, missed := uint64(1), uint64(0); missed == 0; {
		f := stuck.frame()
		if f.Sequence != next+f.Missed {
			t.Fatalf("got frame %d, %d missed, after %d", f.Sequence, f.Missed, next-1)
		}
		if f.Missed > 0 && !f.Keyframe {
			t.Errorf("frame %d cannot be decoded", f.Sequence)
		}
		next, missed = f.Sequence+1, f.Missed
	}
}

func TestTwoHundredWorkersOnOneCameraAllGetItsFrames(t *testing.T) {
	rig := aitest.New(t, feed.Options{MaxWorkers: 200})
	door := rig.Attach("door", "main")
	address, _ := serve(t, rig, nil)
	var workers []stream
	for range 4 { // of one connection each, which has 64 calls at most
		client := dial(t, address)
		for range 50 {
			workers = append(workers, watch(t, client, &schema.WatchRequest{Cameras: []string{"door"}, MaxBehindMs: 10_000}))
			workers[len(workers)-1].watching()
		}
	}
	if got := watch(t, dial(t, address), &schema.WatchRequest{Cameras: []string{"door"}}).ends(); got.Code() != codes.ResourceExhausted {
		t.Errorf("one more: got %v", got)
	}
	for range 5 {
		n := door.Write()
		for _, w := range workers {
			if f := w.frame(); f.Sequence != n || f.Missed != 0 {
				t.Fatalf("got frame %d, %d missed, want %d", f.Sequence, f.Missed, n)
			}
		}
	}
}

func TestAWorkerThatDiesLeavesNothingBehind(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = 50_000
	address, _ := serve(t, rig, nil)
	conns := make(chan net.Conn, 1)
	client := dial(t, address, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			select {
			case conns <- conn:
			default: // it dials anew
			}
		}
		return conn, err
	}))
	s := watch(t, client, &schema.WatchRequest{Cameras: []string{"door"}})
	s.watching()
	for range 60 { // more than the connection takes
		door.Write()
	}
	s.frame()
	(<-conns).Close()
	s.ends()
	for limit := soon(t); rig.Hub.Stats().Workers[0].Open > 0; time.Sleep(time.Millisecond) {
		if err := limit.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// reports takes what is not said to be wrong.
type reports struct {
	mu    sync.Mutex
	taken []string
}

func (r *reports) Report(_ context.Context, in *schema.Detections) error {
	switch in.GetCamera() {
	case "gate":
		return feed.ErrUnknownCamera
	case "nonsense":
		return rpc.ErrInvalid
	case "flood":
		return rpc.ErrTooFast
	case "broken":
		return errors.New("secret of the server")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = append(r.taken, in.GetCamera())
	return nil
}

func TestReportsReachWhoTakesThem(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	taker := new(reports)
	address, _ := serve(t, rig, taker)
	client := dial(t, address)
	s, err := client.Report(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Send(&schema.Detections{Camera: "door", Detections: []*schema.Detection{{Label: "person"}, {Label: "cat"}}}); err != nil {
			t.Fatal(err)
		}
	}
	summary, err := s.CloseAndRecv()
	if err != nil || summary.Reports != 3 || summary.Detections != 6 || len(taker.taken) != 3 {
		t.Errorf("got %v, %v, %d taken", summary, err, len(taker.taken))
	}
	for camera, want := range map[string]codes.Code{
		"door": codes.OK, "gate": codes.NotFound, "nonsense": codes.InvalidArgument, "flood": codes.ResourceExhausted, "broken": codes.Internal,
	} {
		_, err := client.ReportOne(soon(t), &schema.Detections{Camera: camera})
		if got := status.Convert(err); got.Code() != want || strings.Contains(got.Message(), "secret") {
			t.Errorf("%s: got %v, want %v", camera, got, want)
		}
	}
}

// gate is who takes reports one by one, when the test says so.
type gate struct {
	entered, pass chan struct{}
	now, most     atomic.Int64
	detections    atomic.Int64
}

func (g *gate) Report(_ context.Context, in *schema.Detections) error {
	n := g.now.Add(1)
	defer g.now.Add(-1)
	for most := g.most.Load(); n > most && !g.most.CompareAndSwap(most, n); most = g.most.Load() {
	}
	g.detections.Store(int64(len(in.Detections)))
	g.entered <- struct{}{}
	<-g.pass
	return nil
}

func TestOfManyReportsAtOnceFewAreDecodedAndNoneWithTooMuch(t *testing.T) {
	const calls, atOnce = 60, 16
	rig := aitest.New(t, feed.Options{})
	taker := &gate{entered: make(chan struct{}, calls), pass: make(chan struct{})}
	address, _ := serve(t, rig, taker)
	client := dial(t, address)
	report := &schema.Detections{Camera: "door"}
	for range 100_000 {
		report.Detections = append(report.Detections, &schema.Detection{})
	}
	var work sync.WaitGroup
	for range calls {
		work.Go(func() {
			if _, err := client.ReportOne(soon(t), report); err != nil {
				t.Error(err)
			}
		})
	}
	for range atOnce {
		<-taker.entered
	}
	for range calls {
		taker.pass <- struct{}{}
	}
	work.Wait()
	if n := taker.most.Load(); n != atOnce {
		t.Errorf("%d were in memory at once", n)
	}
	if n := taker.detections.Load(); n != detection.MaxDetections+1 {
		t.Errorf("%d detections were decoded", n)
	}
	for range 100_000 {
		report.Detections = append(report.Detections, &schema.Detection{})
	}
	if _, err := client.ReportOne(soon(t), report); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("of 400,000 bytes: %v", err)
	}
}

func TestAServerWithoutReportsSaysSo(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	address, _ := serve(t, rig, nil)
	_, err := dial(t, address).ReportOne(soon(t), &schema.Detections{Camera: "door"})
	if got := status.Convert(err); got.Code() != codes.Unimplemented || !strings.Contains(got.Message(), "reports") {
		t.Errorf("got %v", got)
	}
}

func TestWhatIsNoGRPCIsCutOff(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	address, _ := serve(t, rig, nil)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAll(conn); errors.Is(err, context.DeadlineExceeded) {
		t.Error("the connection was left open")
	}
}
