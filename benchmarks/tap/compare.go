package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/drover-video/drover/benchmarks/proc"
)

// result is all that was measured.
type result struct {
	Command  []string  `json:"command"`
	Time     time.Time `json:"time"`
	Go       string    `json:"go"`
	CPUs     int       `json:"cpus"`
	Cameras  int       `json:"cameras"`
	FPS      int       `json:"fps"`
	Bitrate  int       `json:"bits_per_second_of_a_camera"`
	Measured []measure `json:"measured"`
	Summary  []summary `json:"summary"`
}

// measure is one way in one round.
type measure struct {
	Round int     `json:"round"`
	Way   string  `json:"way"`
	Load  string  `json:"load_average"`
	CPU   float64 `json:"server_cpu_seconds"`
	Wall  float64 `json:"seconds"`
	// Of the ways but "none": what a frame cost the server above "none" of the round.
	Extra  float64 `json:"server_us_per_frame,omitempty"`
	Worker *report `json:"worker,omitempty"`
}

// summary is the medians of a way.
type summary struct {
	Way         string  `json:"way"`
	ServerUS    float64 `json:"server_us_per_frame"`
	PerSecond   float64 `json:"frames_per_server_cpu_second"`
	WorkerUS    float64 `json:"worker_us_per_frame"`
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	TimerP99    float64 `json:"timer_late_p99_us"`
	MissedRatio float64 `json:"missed_ratio"`
}

// none is a round's baseline: cameras, and no worker.
const none = "none"

func order() []string { return []string{none, "grpc", "shm", "websocket"} }

func compare(ctx context.Context, o options) error {
	folder, err := os.MkdirTemp("", "drover-tap-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	server := exec.CommandContext(ctx, program, "-role", "server", "-folder", folder, "-cameras", strconv.Itoa(o.cameras))
	server.Stderr = os.Stderr
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait() // what it had to say is on stderr
	}()
	if err := await(ctx, filepath.Join(folder, websocketName)); err != nil {
		return err
	}
	r := &result{
		Command: os.Args, Time: time.Now().UTC(), Go: runtime.Version(), CPUs: runtime.NumCPU(),
		Cameras: o.cameras, FPS: fps, Bitrate: (keyframeBytes + (gop-1)*frameBytes) * 8 * fps / gop,
	}
	for round := range o.rounds {
		var baseline measure
		for _, way := range order() {
			m, err := measureWay(ctx, o, program, folder, way, server.Process.Pid)
			if err != nil {
				return fmt.Errorf("%s: %w", way, err)
			}
			m.Round, m.Way = round+1, way
			if way == none {
				baseline = m
			} else {
				// Both had the same work of writing frames, each second.
				extra := m.CPU/m.Wall - baseline.CPU/baseline.Wall
				m.Extra = extra / (float64(m.Worker.Frames) / m.Worker.Seconds) * 1e6
			}
			r.Measured = append(r.Measured, m)
			fmt.Printf("round %d  %-9s  %s\n", m.Round, way, m.line())
		}
	}
	r.summarize()
	return r.save(o.results)
}

func (m *measure) line() string {
	if m.Worker == nil {
		return fmt.Sprintf("%.1f %% of a CPU", 100*m.CPU/m.Wall)
	}
	return fmt.Sprintf("%5.1f us of server and %5.1f us of worker a frame, from ring to worker %6.0f us (p50) %6.0f us (p99; a timer %.0f us), %d frames, %d missed",
		m.Extra, m.Worker.CPU, m.Worker.P50, m.Worker.P99, m.Worker.TimerP99, m.Worker.Frames, m.Worker.Missed)
}

func await(ctx context.Context, file string) error {
	limit, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-limit.Done():
			return errors.New("the server did not start")
		}
	}
}

// measureWay measures the server for the duration, with a worker by this way.
func measureWay(ctx context.Context, o options, program, folder, way string, server int) (measure, error) {
	var m measure
	var worker *exec.Cmd
	var out bytes.Buffer
	if way != none {
		worker = exec.CommandContext(ctx, program, "-role", "worker", "-folder", folder, "-way", way)
		worker.Stdout, worker.Stderr = &out, os.Stderr
		if err := worker.Start(); err != nil {
			return m, err
		}
	}
	if err := pause(ctx, 2*time.Second); err != nil { // what is in the rings has been sent
		return m, err
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return m, err
	}
	m.Load = strings.TrimSpace(string(load))
	before, err := proc.ThreadCPU(server)
	if err != nil {
		return m, err
	}
	begin := time.Now()
	if worker != nil {
		_ = worker.Process.Signal(syscall.SIGUSR1) // if it is gone, Wait says why
	}
	if err := pause(ctx, o.duration); err != nil {
		return m, err
	}
	after, err := proc.ThreadCPU(server)
	if err != nil {
		return m, err
	}
	m.CPU, m.Wall = (after - before).Seconds(), time.Since(begin).Seconds()
	if worker == nil {
		return m, nil
	}
	_ = worker.Process.Signal(syscall.SIGTERM)
	if err := worker.Wait(); err != nil {
		return m, err
	}
	m.Worker = new(report)
	return m, json.Unmarshal(out.Bytes(), m.Worker)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// summarize takes the medians of the rounds.
func (r *result) summarize() {
	for _, way := range order()[1:] {
		median := func(of func(*measure) float64) float64 {
			var values []float64
			for i := range r.Measured {
				if r.Measured[i].Way == way {
					values = append(values, of(&r.Measured[i]))
				}
			}
			slices.Sort(values)
			return values[len(values)/2]
		}
		s := summary{
			Way:         way,
			ServerUS:    median(func(m *measure) float64 { return m.Extra }),
			WorkerUS:    median(func(m *measure) float64 { return m.Worker.CPU }),
			P50:         median(func(m *measure) float64 { return m.Worker.P50 }),
			P99:         median(func(m *measure) float64 { return m.Worker.P99 }),
			TimerP99:    median(func(m *measure) float64 { return m.Worker.TimerP99 }),
			MissedRatio: median(func(m *measure) float64 { return float64(m.Worker.Missed) / float64(m.Worker.Frames) }),
		}
		s.PerSecond = 1e6 / s.ServerUS
		r.Summary = append(r.Summary, s)
	}
}

// save prints the table, and leaves the rest in a file.
func (r *result) save(folder string) error {
	fmt.Println("\n| way | server, us a frame | frames per CPU-second of the server | worker, us a frame | ring to worker, p50 | p99 | a timer is late, p99 | missed |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, s := range r.Summary {
		fmt.Printf("| %s | %.1f | %.0f | %.1f | %.0f us | %.0f us | %.0f us | %.4f %% |\n", s.Way, s.ServerUS, s.PerSecond, s.WorkerUS, s.P50, s.P99, s.TimerP99, 100*s.MissedRatio)
	}
	return saveJSON(folder, fmt.Sprintf("tap-%d-%s.json", r.Cameras, r.Time.Format("20060102T150405Z")), r)
}

// saveJSON leaves all that was measured in a file.
func saveJSON(folder, name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Println("\nraw results:", filepath.ToSlash(file))
	return nil
}
