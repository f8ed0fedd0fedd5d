package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// batches are what is compared.
func batches() []int { return []int{1, 32} }

// report is all that one comparison found, in the order of the runs.
type report struct {
	Time       time.Time  `json:"time"`
	Command    string     `json:"command"`
	Go         string     `json:"go"`
	Processors int        `json:"processors"`
	Cameras    int        `json:"cameras"`
	Clip       string     `json:"clip"`
	Runs       []measured `json:"runs"`
	Counted    []measured `json:"runs_with_counting"`
}

// compare runs the batches in turn, and in the other order in every other round.
func compare(ctx context.Context, o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	base, stopped, err := startCameras(ctx, self, o)
	if err != nil {
		return err
	}
	defer func() {
		cancel()
		<-stopped
	}()
	r := report{
		Time: time.Now().UTC(), Go: runtime.Version(), Processors: runtime.NumCPU(), Cameras: o.cameras, Clip: o.clip,
		Command: fmt.Sprintf("go run ./benchmarks/udp -cameras %d -clip %s -settle %v -duration %v -rounds %d", o.cameras, o.clip, o.settle, o.duration, o.rounds),
	}
	var raw bytes.Buffer // of perf
	for round := range o.rounds + 1 {
		order := batches()
		if round%2 == 1 {
			order[0], order[1] = order[1], order[0]
		}
		for _, batch := range order {
			counting := round == o.rounds
			m, err := pullOnce(ctx, self, o, base, batch, counting, &raw)
			if err != nil {
				return fmt.Errorf("batch of %d: %w", batch, err)
			}
			if counting {
				r.Counted = append(r.Counted, m)
			} else {
				r.Runs = append(r.Runs, m)
			}
			fmt.Printf("round %d, batch %2d: %.2f s CPU in %.1f s\n", round+1, batch, m.UserSeconds+m.SystemSeconds, m.Seconds)
		}
	}
	table := r.table()
	fmt.Print("\n", table)
	return r.save(o.results, table, raw.Bytes())
}

func startCameras(ctx context.Context, self string, o options) (base string, stopped <-chan struct{}, err error) {
	cmd := exec.CommandContext(ctx, self, "-role", "cameras", "-cameras", strconv.Itoa(o.cameras), "-clip", o.clip)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	base, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // it is ended by a signal
	}()
	if err != nil || !ready {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-done
		return "", nil, errors.Join(errors.New("the cameras did not start"), err)
	}
	return base, done, nil
}

// pullOnce runs the process under test.
func pullOnce(ctx context.Context, self string, o options, base string, batch int, counting bool, raw io.Writer) (measured, error) {
	cmd := exec.CommandContext(ctx, self, "-role", "pull", "-base", base, "-batch", strconv.Itoa(batch),
		"-cameras", strconv.Itoa(o.cameras), "-settle", o.settle.String(), "-duration", o.duration.String())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return measured{}, err
	}
	if err := cmd.Start(); err != nil {
		return measured{}, err
	}
	lines := bufio.NewScanner(out)
	var m measured
	var calls map[string]uint64
	var failed error
	for lines.Scan() {
		if lines.Text() != "measuring" {
			failed = errors.Join(failed, json.Unmarshal(lines.Bytes(), &m))
			continue
		}
		if counting {
			_, _ = fmt.Fprintf(raw, "# batch of %d\n", batch)
			calls, failed = countCalls(ctx, cmd.Process.Pid, o.duration, raw)
		}
	}
	if err := errors.Join(failed, cmd.Wait()); err != nil {
		return measured{}, err
	}
	m.SystemCalls = calls
	return m, nil
}

// countCalls counts the system calls of a process by perf.
func countCalls(ctx context.Context, pid int, d time.Duration, raw io.Writer) (map[string]uint64, error) {
	events := []string{"raw_syscalls:sys_enter"}
	for _, name := range []string{"recvmmsg", "epoll_pwait", "futex", "nanosleep", "write", "read"} {
		events = append(events, "syscalls:sys_enter_"+name)
	}
	seconds := strconv.FormatFloat((d - 500*time.Millisecond).Seconds(), 'f', 3, 64)
	cmd := exec.CommandContext(ctx, "perf", "stat", "-x,", "-p", strconv.Itoa(pid), "-e", strings.Join(events, ","), "sleep", seconds)
	out, err := cmd.CombinedOutput()
	_, _ = fmt.Fprintf(raw, "# %s\n%s\n", strings.Join(cmd.Args, " "), out)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	calls := map[string]uint64{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(line, ",")
		if len(fields) < 3 {
			continue
		}
		n, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil {
			continue
		}
		_, name, _ := strings.Cut(fields[2], "sys_enter")
		if name = strings.TrimPrefix(name, "_"); name == "" {
			name = "all"
		}
		calls[name] = uint64(float64(n) / (d - 500*time.Millisecond).Seconds())
	}
	return calls, nil
}

// table shows the runs side by side.
func (r *report) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cameras of 2 Mbit/s over UDP on loopback; %s; %d processors\n\n", r.Cameras, r.Go, r.Processors)
	fmt.Fprintf(&b, "%-6s %9s %9s %9s %22s %12s %8s %8s\n", "batch", "user s", "system s", "CPU s", "CPU-s/camera-minute", "Mbit/s", "lost", "dropped")
	for _, m := range r.Runs {
		cpu := m.UserSeconds + m.SystemSeconds
		fmt.Fprintf(&b, "%-6d %9.2f %9.2f %9.2f %22.4f %12.1f %8d %8d\n", m.Batch, m.UserSeconds, m.SystemSeconds, cpu,
			cpu/float64(r.Cameras)/(m.Seconds/60), float64(m.Bytes)*8/m.Seconds/1e6, m.Lost, m.KernelDropped)
	}
	fmt.Fprintf(&b, "\nSystem calls for each picture of a camera (perf, runs of their own):\n\n%-6s %9s %9s %12s %9s %9s\n",
		"batch", "all", "recvmmsg", "epoll_pwait", "futex", "nanosleep")
	for _, m := range r.Counted {
		each := func(name string) float64 { return float64(m.SystemCalls[name]) * m.Seconds / float64(max(m.Frames, 1)) }
		fmt.Fprintf(&b, "%-6d %9.2f %9.2f %12.2f %9.2f %9.2f\n", m.Batch, each("all"), each("recvmmsg"), each("epoll_pwait"), each("futex"), each("nanosleep"))
	}
	return b.String()
}

func (r *report) save(folder, table string, perf []byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	stem := filepath.Join(folder, fmt.Sprintf("udp-%d-%s", r.Cameras, r.Time.Format("20060102T150405Z")))
	return errors.Join(
		os.WriteFile(stem+".json", append(text, '\n'), 0o644),
		os.WriteFile(stem+".txt", []byte("$ "+r.Command+"\n\n"+table), 0o644),
		os.WriteFile(stem+".perf.txt", perf, 0o644),
	)
}
