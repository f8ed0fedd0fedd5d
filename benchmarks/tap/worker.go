package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/proto"

	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/ai/tap"
)

// report is what a worker process says at its end.
type report struct {
	Frames  int     `json:"frames"`
	Bytes   int64   `json:"bytes"`
	Missed  uint64  `json:"missed"`
	P50     float64 `json:"p50_us"` // from ring to worker
	P99     float64 `json:"p99_us"`
	Max     float64 `json:"max_us"`
	CPU     float64 `json:"cpu_us_per_frame"`
	Seconds float64 `json:"seconds"`

	// How late a timer of this process is, which has nothing to do with the tap: what the
	// machine is good for while it is measured.
	TimerP50 float64 `json:"timer_late_p50_us"`
	TimerP99 float64 `json:"timer_late_p99_us"`
}

// A taker takes frames of all cameras until ctx ends, and is given each: when it was
// written, what it has, and how many came before it that did not.
type taker func(ctx context.Context, take func(wall time.Time, data []byte, missed uint64)) error

// ways are the ways that a worker may come by, as they are named.
func ways(folder string) map[string]taker {
	return map[string]taker{
		"grpc": func(ctx context.Context, take func(time.Time, []byte, uint64)) error {
			address, err := os.ReadFile(filepath.Join(folder, grpcName))
			if err != nil {
				return err
			}
			return byTap(ctx, string(address), take)
		},
		"shm": func(ctx context.Context, take func(time.Time, []byte, uint64)) error {
			return byTap(ctx, "unix:"+filepath.Join(folder, socketName), take)
		},
		"websocket": func(ctx context.Context, take func(time.Time, []byte, uint64)) error {
			address, err := os.ReadFile(filepath.Join(folder, websocketName))
			if err != nil {
				return err
			}
			return byWebSocket(ctx, string(address), take)
		},
	}
}

func byTap(ctx context.Context, target string, take func(time.Time, []byte, uint64)) error {
	client, err := tap.Dial(target)
	if err != nil {
		return err
	}
	defer client.Close()
	for frame, err := range client.Frames(ctx, tap.Request{Cameras: []string{tap.AllCameras}}) {
		if err != nil {
			return err
		}
		take(frame.Wall, frame.Data, frame.Missed)
	}
	return nil
}

func byWebSocket(ctx context.Context, address string, take func(time.Time, []byte, uint64)) error {
	conn, _, err := websocket.Dial(ctx, "ws://"+address+"?camera=*", nil)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 24)
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var m schema.Message
		if err := proto.Unmarshal(data, &m); err != nil {
			return err
		}
		if f := m.GetFrame(); f != nil {
			take(time.UnixMicro(f.WallTimeUs), f.Data, f.Missed)
		}
	}
}

// runWorker is a worker process: it looks at each frame's bytes, as a decoder would at
// least, and says at SIGTERM what came since SIGUSR1, which is when measuring begins.
func runWorker(ctx context.Context, folder, way string) error {
	take, known := ways(folder)[way]
	if !known {
		return fmt.Errorf("no way %q", way)
	}
	begin := make(chan os.Signal, 1)
	signal.Notify(begin, syscall.SIGUSR1)
	var r report
	var latencies []time.Duration
	var started time.Time
	var cpu time.Duration
	sum := byte(0)
	late := make(chan []time.Duration, 1)
	go func() { late <- lateness(ctx) }()
	err := take(ctx, func(wall time.Time, data []byte, missed uint64) {
		select {
		case <-begin:
			started, cpu, latencies, r = time.Now(), ownCPU(), make([]time.Duration, 0, 1<<20), report{}
		default:
		}
		latencies = append(latencies, time.Since(wall))
		r.Frames++
		r.Bytes += int64(len(data))
		r.Missed += missed
		for i := 0; i < len(data); i += 64 {
			sum ^= data[i]
		}
	})
	if ctx.Err() == nil {
		return err
	}
	if r.Frames == 0 || started.IsZero() {
		return errors.New("no frame came")
	}
	r.P50, r.P99, r.Max = quantile(latencies, 0.5), quantile(latencies, 0.99), quantile(latencies, 1)
	timers := <-late
	r.TimerP50, r.TimerP99 = quantile(timers, 0.5), quantile(timers, 0.99)
	r.Seconds = time.Since(started).Seconds()
	r.CPU = float64((ownCPU() - cpu).Nanoseconds()) / 1e3 / float64(r.Frames)
	_ = sum
	return json.NewEncoder(os.Stdout).Encode(r)
}

// lateness has a timer every ten milliseconds until ctx ends, and returns how late each
// was.
func lateness(ctx context.Context) []time.Duration {
	var late []time.Duration
	for {
		due := time.Now().Add(10 * time.Millisecond)
		select {
		case <-time.After(time.Until(due)):
			late = append(late, time.Since(due))
		case <-ctx.Done():
			return late
		}
	}
}

// quantile sorts, and is in microseconds.
func quantile(all []time.Duration, q float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return float64(all[min(len(all)-1, int(q*float64(len(all))))].Nanoseconds()) / 1e3
}

func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
