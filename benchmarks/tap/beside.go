package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/drover-video/drover/benchmarks/proc"
)

// besideResult is all that was measured of stuck workers beside viewers and recorder.
type besideResult struct {
	Command []string      `json:"command"`
	Time    time.Time     `json:"time"`
	Go      string        `json:"go"`
	CPUs    int           `json:"cpus"`
	Viewers int           `json:"viewers"`
	Rounds  []besideRound `json:"rounds"`
}

// besideRound is one of them, with or without stuck workers.
type besideRound struct {
	Round       int             `json:"round"`
	Stuck       int             `json:"stuck_workers"`
	Load        string          `json:"load_average"`
	Herd        json.RawMessage `json:"viewers"`
	ServerCPU   float64         `json:"server_cpu_seconds"`
	Frames      float64         `json:"camera_frames"`
	Recorded    float64         `json:"recorded_frames"`
	Unrecorded  float64         `json:"frames_not_recorded"`
	Dropped     float64         `json:"frames_lost_by_viewers_and_recorder"` // HLS and archive as subscribers
	MissedByTap float64         `json:"frames_missed_by_workers"`
	Memory      proc.Memory     `json:"server_memory"`
}

// herd is what of the viewers' report is shown.
type herd struct {
	Requests uint64 `json:"requests"`
	Failed   uint64 `json:"failed"`
	Kinds    []struct {
		Kind  string  `json:"kind"`
		P50MS float64 `json:"p50_ms"`
		P99MS float64 `json:"p99_ms"`
	} `json:"kinds"`
}

// beside has viewers and the recorder of one camera beside stuck workers and without, by
// turns, on the binary that is shipped.
func beside(ctx context.Context, o options) error {
	folder, err := os.MkdirTemp("", "drover-tap-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	camera, err := startSimcam(ctx, o, folder)
	if err != nil {
		return err
	}
	defer camera.end()
	site, server, err := startDrover(ctx, o, folder, camera.url)
	if err != nil {
		return err
	}
	defer server.end()
	r := &besideResult{Command: os.Args, Time: time.Now().UTC(), Go: runtime.Version(), CPUs: runtime.NumCPU(), Viewers: o.viewers}
	for i := range 2 * o.rounds {
		// Which comes first changes from round to round.
		round, err := besideOnce(ctx, o, program, folder, site, server.Process.Pid, (i%2 == 1) != (i/2%2 == 1))
		if err != nil {
			return fmt.Errorf("%w\n%s", err, server.log())
		}
		round.Round = i/2 + 1
		r.Rounds = append(r.Rounds, round)
		fmt.Println(round.line())
	}
	return saveJSON(o.results, fmt.Sprintf("beside-%d-%s.json", o.viewers, r.Time.Format("20060102T150405Z")), r)
}

func (b *besideRound) line() string {
	var h herd
	if err := json.Unmarshal(b.Herd, &h); err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("round %d, %2d stuck: %d requests, %d failed", b.Round, b.Stuck, h.Requests, h.Failed)
	for _, k := range h.Kinds {
		text += fmt.Sprintf(", %s %.1f/%.1f ms", k.Kind, k.P50MS, k.P99MS)
	}
	return text + fmt.Sprintf("; %.0f frames, %.0f recorded, %.0f not; viewers and recorder lost %.0f, workers %.0f; %.1f s of CPU, %.0f MB",
		b.Frames, b.Recorded, b.Unrecorded, b.Dropped, b.MissedByTap, b.ServerCPU, float64(b.Memory.RSS)/1e6)
}

func besideOnce(ctx context.Context, o options, program, folder, site string, server int, stuck bool) (besideRound, error) {
	var b besideRound
	if stuck {
		b.Stuck = 3 * stuckOfEachWay
		workers := exec.CommandContext(ctx, program, "-role", "stuck", "-folder", folder)
		workers.Stderr = os.Stderr
		if err := workers.Start(); err != nil {
			return b, err
		}
		defer func() {
			_ = workers.Process.Signal(syscall.SIGTERM)
			_ = workers.Wait() // what it had to say is on stderr
			_ = os.Remove(filepath.Join(folder, stuckName))
		}()
		if err := await(ctx, filepath.Join(folder, stuckName)); err != nil {
			return b, err
		}
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return b, err
	}
	b.Load = strings.TrimSpace(string(load))
	before, err := scrape(ctx, site)
	if err != nil {
		return b, err
	}
	cpu, err := proc.ThreadCPU(server)
	if err != nil {
		return b, err
	}
	viewers := exec.CommandContext(ctx, o.herd, "-url", site+"/hls/door/index.m3u8", "-viewers", strconv.Itoa(o.viewers),
		"-duration", o.duration.String(), "-ramp", (o.duration / 4).String(), "-warmup", (o.duration / 4).String(), "-json")
	viewers.Stderr = os.Stderr
	if b.Herd, err = viewers.Output(); err != nil {
		return b, fmt.Errorf("viewers: %w", err)
	}
	after, err := scrape(ctx, site)
	if err != nil {
		return b, err
	}
	end, err := proc.ThreadCPU(server)
	if err != nil {
		return b, err
	}
	b.ServerCPU = (end - cpu).Seconds()
	if b.Memory, err = proc.MemoryOf(server); err != nil {
		return b, err
	}
	grown := func(name string, with ...string) float64 { return after.sum(name, with...) - before.sum(name, with...) }
	b.Frames = grown("drover_source_frames_total")
	b.Recorded = grown("drover_archive_frames_total")
	b.Unrecorded = grown("drover_archive_dropped_frames_total")
	b.Dropped = grown("drover_subscriber_dropped_frames_total", `subscriber="hls"`) + grown("drover_subscriber_dropped_frames_total", `subscriber="archive"`) +
		grown("drover_hls_dropped_frames_total")
	b.MissedByTap = grown("drover_ai_worker_missed_frames_total")
	return b, nil
}

// metrics is a scrape, by line.
type metrics map[string]float64

func scrape(ctx context.Context, site string) (metrics, error) {
	text, err := get(ctx, site+"/metrics")
	if err != nil {
		return nil, err
	}
	m := metrics{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.HasPrefix(name, "#") {
			m[name] = n
		}
	}
	return m, lines.Err()
}

// sum adds up a metric over those labels that are as given.
func (m metrics) sum(name string, with ...string) float64 {
	total := 0.0
lines:
	for line, value := range m {
		metric, labels, _ := strings.Cut(line, "{")
		if metric != name {
			continue
		}
		for _, label := range with {
			if !strings.Contains(labels, label) {
				continue lines
			}
		}
		total += value
	}
	return total
}

func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	return text, err
}

// child is a program that runs beside, whose output is in a file.
type child struct {
	*exec.Cmd
	output, url string
}

func startChild(output, name string, environment []string, arguments ...string) (*child, error) {
	file, err := os.Create(output)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the child has its own
	c := &child{Cmd: exec.Command(name, arguments...), output: output}
	c.Env = append(os.Environ(), environment...)
	c.Stdout, c.Stderr = file, file
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c, c.Start()
}

func (c *child) end() {
	_ = c.Process.Signal(syscall.SIGTERM)
	_ = c.Wait() // what it had to say is in its output
}

func (c *child) log() string {
	text, err := os.ReadFile(c.output)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

func startSimcam(ctx context.Context, o options, folder string) (*child, error) {
	c, err := startChild(filepath.Join(folder, "simcam.log"), o.simcam, nil, "-listen", "127.0.0.1:0", "-cameras", "1", "-clip", "h264-720p", "-audio", "none")
	if err != nil {
		return nil, err
	}
	for range 300 {
		if _, url, ok := strings.Cut(c.log(), "ready "); ok && strings.Contains(url, "\n") {
			c.url, _, _ = strings.Cut(url, "\n")
			return c, nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			break
		}
	}
	c.end()
	return nil, fmt.Errorf("the simulated camera did not start: %s", c.log())
}

// startDrover starts the server, with the tap at the places where workers look for it,
// and returns when it has segments to serve.
func startDrover(ctx context.Context, o options, folder, camera string) (string, *child, error) {
	var addresses [2]string
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		addresses[i] = listener.Addr().String()
		listener.Close()
	}
	file := filepath.Join(folder, "drover.yaml")
	text := "cameras:\n  door:\n    url: " + camera + "\n    record:\n      mode: continuous\n"
	for name, content := range map[string]string{file: text, filepath.Join(folder, grpcName): addresses[1], filepath.Join(folder, websocketName): addresses[0] + "/api/v1/tap"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return "", nil, err
		}
	}
	c, err := startChild(filepath.Join(folder, "drover.log"), o.drover, []string{
		"DROVER_HTTP_ADDRESS=" + addresses[0], "DROVER_GRPC_ADDRESS=" + addresses[1], "DROVER_DATA_DIR=" + folder,
	}, "serve", "-c", file)
	if err != nil {
		return "", nil, err
	}
	site := "http://" + addresses[0]
	for range 300 {
		if text, err := get(ctx, site+"/hls/door/index.m3u8"); err == nil && bytes.Contains(text, []byte("#EXT")) {
			return site, c, nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			break
		}
	}
	c.end()
	return "", nil, errors.New("the server has nothing to serve: " + c.log())
}
