package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/drover-video/drover/benchmarks/proc"
)

// Recording is compared with the live picture alone in one run: the same cameras are
// switched by the API, round after round.

// A window is what was read over a time in which all cameras were recorded, or none.
type window struct {
	Recording bool        `json:"recording"`
	Seconds   float64     `json:"seconds"`
	CPU       float64     `json:"cpu_seconds_per_camera_minute"`
	Memory    proc.Memory `json:"memory"`
	Media     int64       `json:"media_bytes"`
	Received  int64       `json:"received_bytes"`
	Written   int64       `json:"written_bytes"` // of fragments, as the archive counts
	ToDisk    int64       `json:"to_disk_bytes"` // that the process caused to be written, its index included
	Dropped   int64       `json:"dropped_fragments"`
	Load      string      `json:"load"` // of the machine
}

// A recordResult is one run.
type recordResult struct {
	Cameras int       `json:"cameras"`
	Clip    string    `json:"clip"`
	Go      string    `json:"go"`
	Cores   int       `json:"cores"`
	At      time.Time `json:"at"`
	Windows []window  `json:"windows"`
}

// addCameras makes the cameras by the API, which may change them afterwards.
func (s *server) addCameras(ctx context.Context, urls []string) error {
	return s.await(ctx, "the server is ready", func() error {
		for i, url := range urls {
			body := fmt.Sprintf(`{"id":"cam%d","url":%q}`, i+1, url)
			if err := s.send(ctx, http.MethodPost, "/api/v1/cameras", body, http.StatusCreated, http.StatusConflict); err != nil {
				return err
			}
		}
		return nil
	})
}

// setRecording switches the recording of all cameras.
func (s *server) setRecording(ctx context.Context, cameras int, mode string) error {
	for i := range cameras {
		body := fmt.Sprintf(`{"record":{"mode":%q}}`, mode)
		if err := s.send(ctx, http.MethodPatch, fmt.Sprintf("/api/v1/cameras/cam%d", i+1), body, http.StatusOK); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) send(ctx context.Context, method, path, body string, wanted ...int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return err
	}
	for _, status := range wanted {
		if response.StatusCode == status {
			return nil
		}
	}
	return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
}

// measureRecording alternates windows without and with recording.
func measureRecording(ctx context.Context, o options, s *server) (*recordResult, error) {
	r := &recordResult{Cameras: o.cameras, Clip: o.clip, Go: runtime.Version(), Cores: runtime.NumCPU(), At: time.Now().UTC()}
	for round := range o.record * 2 {
		recording := round%2 == 1
		mode := "off"
		if recording {
			mode = "continuous"
		}
		if err := s.setRecording(ctx, o.cameras, mode); err != nil {
			return nil, err
		}
		if err := wait(ctx, o.settle); err != nil {
			return nil, err
		}
		w, err := s.window(ctx, o, recording)
		if err != nil {
			return nil, err
		}
		r.Windows = append(r.Windows, w)
		fmt.Printf("recording %-10s  %.3f CPU-s per camera-minute, %.0f MB resident\n", mode, w.CPU, float64(w.Memory.RSS)/1e6)
	}
	return r, nil
}

func (s *server) window(ctx context.Context, o options, recording bool) (window, error) {
	before, err := s.read(ctx)
	if err != nil {
		return window{}, err
	}
	began := time.Now()
	if err := wait(ctx, o.duration); err != nil {
		return window{}, err
	}
	after, err := s.read(ctx)
	if err != nil {
		return window{}, err
	}
	seconds := time.Since(began).Seconds()
	memory, err := proc.MemoryOf(s.pid())
	if err != nil {
		return window{}, err
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return window{}, err
	}
	return window{
		Recording: recording, Seconds: seconds, CPU: (after.cpu - before.cpu) / (float64(o.cameras) * seconds / 60), Memory: memory,
		Media:    int64(after.metrics.sum("drover_frame_pool_bytes", `use="used"`)),
		Received: after.whole("drover_source_received_bytes_total") - before.whole("drover_source_received_bytes_total"),
		Written:  after.whole("drover_archive_written_bytes_total") - before.whole("drover_archive_written_bytes_total"),
		Dropped:  after.whole("drover_archive_dropped_fragments_total") - before.whole("drover_archive_dropped_fragments_total"),
		ToDisk:   after.toDisk - before.toDisk, Load: strings.TrimSpace(string(load)),
	}, nil
}

// A reading is the counters at one moment.
type reading struct {
	metrics metrics
	cpu     float64
	toDisk  int64
}

func (r reading) whole(name string) int64 { return int64(r.metrics.sum(name, "")) }

func (s *server) read(ctx context.Context) (reading, error) {
	m, err := s.metrics(ctx)
	if err != nil {
		return reading{}, err
	}
	cpu, err := proc.CPU(s.pid())
	if err != nil {
		return reading{}, err
	}
	toDisk, err := writtenToDisk(s.pid())
	return reading{m, cpu.Seconds(), toDisk}, err
}

// writtenToDisk reads write_bytes of /proc/PID/io.
func writtenToDisk(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	return parseWriteBytes(string(text))
}

func parseWriteBytes(text string) (int64, error) {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, "write_bytes:"); found {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, errors.New("no write_bytes in /proc/PID/io")
}

// mean adds up the windows of a kind.
func (r *recordResult) mean(recording bool) (sum window, n float64) {
	for _, w := range r.Windows {
		if w.Recording != recording {
			continue
		}
		n++
		sum.Seconds += w.Seconds
		sum.CPU += w.CPU
		sum.Memory.RSS += w.Memory.RSS
		sum.Media += w.Media
		sum.Received += w.Received
		sum.Written += w.Written
		sum.ToDisk += w.ToDisk
		sum.Dropped += w.Dropped
	}
	return sum, n
}

func (r *recordResult) print(w io.Writer) error {
	live, n := r.mean(false)
	recorded, m := r.mean(true)
	if n == 0 || m == 0 {
		return errors.New("nothing was measured")
	}
	cameras := float64(r.Cameras)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\ncameras\t%d, %s, %.2f Mbit/s each, %.0f windows of each kind\n", r.Cameras, r.Clip, float64(recorded.Received)*8/1e6/recorded.Seconds/cameras, m)
	fmt.Fprintf(table, "CPU, live alone\t%.3f CPU-s per camera-minute\n", live.CPU/n)
	fmt.Fprintf(table, "CPU, recording\t%.3f CPU-s per camera-minute\n", recorded.CPU/m)
	fmt.Fprintf(table, "  recording costs\t%.3f CPU-s per camera-minute\n", recorded.CPU/m-live.CPU/n)
	fmt.Fprintf(table, "memory, live alone\t%.2f MB per camera, %.2f of it media\n", float64(live.Memory.RSS)/n/1e6/cameras, float64(live.Media)/n/1e6/cameras)
	fmt.Fprintf(table, "memory, recording\t%.2f MB per camera, %.2f of it media\n", float64(recorded.Memory.RSS)/m/1e6/cameras, float64(recorded.Media)/m/1e6/cameras)
	fmt.Fprintf(table, "written\t%.1f MB/s, %d fragments dropped\n", float64(recorded.Written)/1e6/recorded.Seconds, recorded.Dropped)
	fmt.Fprintf(table, "  of what was received\t%.3f\n", float64(recorded.Written)/float64(max(1, recorded.Received)))
	fmt.Fprintf(table, "  to disk, of what was written\t%.3f\n", float64(recorded.ToDisk)/float64(max(1, recorded.Written)))
	return table.Flush()
}

func (r *recordResult) save(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(folder, fmt.Sprintf("record-%d-%s.json", r.Cameras, r.At.Format("20060102T150405Z")))
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, append(content, '\n'), 0o644)
}
