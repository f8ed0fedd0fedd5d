package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/drover-video/drover/benchmarks/proc"
)

// sampleEvery is how often memory is read while CPU time adds up.
const sampleEvery = 5 * time.Second

// A sample is what was read at one moment.
type sample struct {
	At            time.Time   `json:"at"`
	ServerCPU     float64     `json:"server_cpu_seconds"`
	SimulatorCPU  float64     `json:"simulator_cpu_seconds"`
	Server        proc.Memory `json:"server_memory"`
	Live          int         `json:"live"`
	MediaBytes    int64       `json:"media_bytes"`
	IdleBytes     int64       `json:"idle_media_bytes"`
	HeapBytes     int64       `json:"heap_bytes"`
	ReceivedBytes int64       `json:"received_bytes"`
	LostPackets   int64       `json:"lost_packets"`
	DroppedFrames int64       `json:"dropped_frames"`
	Reconnects    int64       `json:"reconnects"`
	Goroutines    int64       `json:"goroutines"`
}

// A result is one run.
type result struct {
	Cameras int      `json:"cameras"`
	Clip    string   `json:"clip"`
	Audio   string   `json:"audio"`
	Go      string   `json:"go"`
	Cores   int      `json:"cores"`
	Samples []sample `json:"samples"`

	profiles map[string][]byte // by file name
}

func measure(ctx context.Context, o options, rack *process, s *server) (*result, error) {
	r := &result{
		Cameras: o.cameras, Clip: o.clip, Audio: o.audio, Go: runtime.Version(), Cores: runtime.NumCPU(),
		profiles: map[string][]byte{},
	}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return r.takeSamples(ctx, rack, s, o.duration) })
	if o.profile {
		work.Go(func() error { return r.takeProfiles(ctx, s, o.duration) })
	}
	return r, work.Wait()
}

func (r *result) takeSamples(ctx context.Context, rack *process, s *server, d time.Duration) error {
	end := time.Now().Add(d)
	for {
		one, err := takeSample(ctx, rack, s)
		if err != nil {
			return err
		}
		r.Samples = append(r.Samples, one)
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		if err := wait(ctx, min(left, sampleEvery)); err != nil {
			return err
		}
	}
}

func takeSample(ctx context.Context, rack *process, s *server) (sample, error) {
	m, err := s.metrics(ctx)
	if err != nil {
		return sample{}, err
	}
	serverCPU, err := proc.CPU(s.pid())
	if err != nil {
		return sample{}, err
	}
	simulatorCPU, err := proc.CPU(rack.pid())
	if err != nil {
		return sample{}, err
	}
	memory, err := proc.MemoryOf(s.pid())
	if err != nil {
		return sample{}, err
	}
	whole := func(name, label string) int64 { return int64(m.sum(name, label)) }
	return sample{
		At:            time.Now(),
		ServerCPU:     serverCPU.Seconds(),
		SimulatorCPU:  simulatorCPU.Seconds(),
		Server:        memory,
		Live:          int(whole("drover_cameras", `state="live"`)),
		MediaBytes:    whole("drover_frame_pool_bytes", `use="used"`),
		IdleBytes:     whole("drover_frame_pool_bytes", `use="idle"`),
		HeapBytes:     whole("go_memstats_heap_inuse_bytes", ""),
		ReceivedBytes: whole("drover_source_received_bytes_total", ""),
		LostPackets:   whole("drover_source_lost_packets_total", ""),
		DroppedFrames: whole("drover_subscriber_dropped_frames_total", ""),
		Reconnects:    whole("drover_source_reconnects_total", ""),
		Goroutines:    whole("go_goroutines", ""),
	}, nil
}

// takeProfiles asks the server for its profiles.
func (r *result) takeProfiles(ctx context.Context, s *server, d time.Duration) error {
	cpu, err := get(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", s.profiles, int(d.Seconds())), d+30*time.Second)
	if err != nil {
		return fmt.Errorf("CPU profile: %w", err)
	}
	heap, err := get(ctx, "http://"+s.profiles+"/debug/pprof/heap", 30*time.Second)
	if err != nil {
		return fmt.Errorf("heap profile: %w", err)
	}
	r.profiles["cpu.pprof"], r.profiles["heap.pprof"] = cpu, heap
	return nil
}

// A summary is what a run comes to, per camera.
type summary struct {
	seconds             float64
	serverCPU, rackCPU  float64 // CPU-seconds per camera-minute
	megabits            float64 // received per camera and second
	resident            float64 // MB per camera
	media, idle, beside float64 // MB per camera: frames held, kept for the next, all the rest
	last                sample
	lost, dropped       int64 // in the measured time
}

// summarize needs two samples at least.
func (r *result) summarize() summary {
	first, last := r.Samples[0], r.Samples[len(r.Samples)-1]
	cameras := float64(r.Cameras)
	s := summary{seconds: last.At.Sub(first.At).Seconds(), last: last}
	cameraMinutes := cameras * s.seconds / 60
	s.serverCPU = (last.ServerCPU - first.ServerCPU) / cameraMinutes
	s.rackCPU = (last.SimulatorCPU - first.SimulatorCPU) / cameraMinutes
	s.megabits = float64(last.ReceivedBytes-first.ReceivedBytes) * 8 / 1e6 / s.seconds / cameras
	s.resident = float64(last.Server.RSS) / 1e6 / cameras
	s.media = float64(last.MediaBytes) / 1e6 / cameras
	s.idle = float64(last.IdleBytes) / 1e6 / cameras
	s.beside = s.resident - s.media - s.idle
	s.lost, s.dropped = last.LostPackets-first.LostPackets, last.DroppedFrames-first.DroppedFrames
	return s
}

func (r *result) print(w io.Writer) error {
	s := r.summarize()
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\ncameras\t%d live of %d, %s, %.2f Mbit/s each, for %.0f s\n", s.last.Live, r.Cameras, r.Clip, s.megabits, s.seconds)
	fmt.Fprintf(table, "CPU of the server\t%.3f CPU-s per camera-minute\n", s.serverCPU)
	fmt.Fprintf(table, "CPU of the simulator\t%.3f CPU-s per camera-minute\n", s.rackCPU)
	fmt.Fprintf(table, "memory of the server\t%.2f MB per camera (%.1f MB resident, %.1f MB of that shared pages)\n",
		s.resident, float64(s.last.Server.RSS)/1e6, float64(s.last.Server.Shared)/1e6)
	fmt.Fprintf(table, "  media it holds\t%.2f MB per camera\n", s.media)
	fmt.Fprintf(table, "  kept for the next\t%.2f MB per camera\n", s.idle)
	fmt.Fprintf(table, "  beside the media\t%.2f MB per camera (Go's heap: %.2f)\n", s.beside, float64(s.last.HeapBytes)/1e6/float64(r.Cameras))
	fmt.Fprintf(table, "goroutines\t%d\n", s.last.Goroutines)
	fmt.Fprintf(table, "lost\t%d packets, %d frames dropped, %d reconnects since the start\n", s.lost, s.dropped, s.last.Reconnects)
	return table.Flush()
}

// save writes the samples, and the profiles if any were taken, and returns the
// name of the former.
func (r *result) save(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	base := filepath.Join(folder, fmt.Sprintf("cameras-%d-%s", r.Cameras, r.Samples[0].At.UTC().Format("20060102T150405Z")))
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(base+".json", append(content, '\n'), 0o644); err != nil {
		return "", err
	}
	for name, profile := range r.profiles {
		if err := os.WriteFile(base+"."+name, profile, 0o644); err != nil {
			return "", err
		}
	}
	return base + ".json", nil
}
