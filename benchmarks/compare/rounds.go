package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Scenarios: what is asked for again and again.
const (
	scenarioLarge    = "large"    // a segment of about 1 MiB
	scenarioSmall    = "small"    // a segment of about 64 KiB, as a part of low-latency HLS is
	scenarioPlaylist = "playlist" // a media playlist
	scenarioHerd     = "herd"     // the playlist and its newest segment, of about 1 MiB
)

// stages are the cameras that give segments of the sizes wanted.
func stages() []struct {
	clip, segmentDuration string
	scenarios             []string
} {
	return []struct {
		clip, segmentDuration string
		scenarios             []string
	}{
		{"h264-720p", "4s", []string{scenarioLarge, scenarioPlaylist, scenarioHerd}}, // 2 Mbit/s
		{"h264-small", "2s", []string{scenarioSmall}},                                // 300 kbit/s
	}
}

// A measurement is what one contender did in one round.
type measurement struct {
	Scenario   string  `json:"scenario"`
	Viewers    int     `json:"viewers"`
	Round      int     `json:"round"`
	Contender  string  `json:"contender"`
	Seconds    float64 `json:"seconds"`
	Requests   uint64  `json:"requests"`
	Failed     uint64  `json:"failed"`
	Bytes      uint64  `json:"bytes"`
	CPUSeconds float64 `json:"cpu_seconds"`
	P50MS      float64 `json:"p50_ms"` // of what the scenario is about
	P95MS      float64 `json:"p95_ms"`
	P99MS      float64 `json:"p99_ms"`
	Load       string  `json:"load"` // of the machine, before
}

func (m measurement) perGB() float64      { return m.CPUSeconds / (float64(m.Bytes) / 1e9) }
func (m measurement) perRequest() float64 { return m.CPUSeconds * 1e6 / float64(m.Requests) }

// compare runs all rounds of all scenarios and writes what came of them.
func compare(ctx context.Context, o options) error {
	network, err := prepareNetwork()
	if err != nil {
		return err
	}
	fmt.Println(network)
	tools, err := os.MkdirTemp("", "drover-compare-tools-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tools)
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", tools, "./benchmarks/herd", "./benchmarks/waiters").CombinedOutput(); err != nil {
		return fmt.Errorf("build the herd and the waiters: %w: %s", err, output)
	}
	herd, waiters := filepath.Join(tools, "herd"), filepath.Join(tools, "waiters")
	r := newResult(o, network)
	if err := r.runWaiters(ctx, o, waiters); err != nil {
		return err
	}
	for _, st := range stages() {
		if err := r.runStage(ctx, o, herd, st.clip, st.segmentDuration, st.scenarios); err != nil {
			return err
		}
	}
	return r.finish(o)
}

func (r *result) runStage(ctx context.Context, o options, herd, clip, segmentDuration string, scenarios []string) error {
	wanted := false
	for _, scenario := range scenarios {
		wanted = wanted || r.wants(o, scenario)
	}
	if !wanted {
		return nil
	}
	s, err := newStage(ctx, o, clip, segmentDuration)
	if err != nil {
		return err
	}
	defer s.end()
	for _, scenario := range scenarios {
		if !r.wants(o, scenario) {
			continue
		}
		viewers, rounds := o.viewers, o.rounds
		if scenario == scenarioHerd {
			viewers, rounds = []int{1000}, 1
		}
		for _, n := range viewers {
			for round := range rounds {
				if err := r.runRound(ctx, s, herd, scenario, n, round); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *result) wants(o options, scenario string) bool {
	if scenario == scenarioHerd {
		return o.herd > 0
	}
	for _, one := range o.scenarios {
		if one == scenario {
			return true
		}
	}
	return false
}

// runRound has each contender serve once. Who begins changes from round to round.
func (r *result) runRound(ctx context.Context, s *stage, herd, scenario string, viewers, round int) error {
	for i := range s.contenders {
		c := s.contenders[(i+round)%len(s.contenders)]
		m, err := s.measure(ctx, herd, scenario, c, viewers)
		if err != nil {
			return fmt.Errorf("%s, %s, %d viewers: %w", scenario, c.name, viewers, err)
		}
		m.Round = round
		fmt.Printf("%-8s %5d viewers, round %d: %-24s %8.4f CPU-s/GB  %7.1f us/request  %7.0f requests/s  p95 %7.1f ms  %d failed\n",
			scenario, viewers, round+1, c.name, m.perGB(), m.perRequest(), float64(m.Requests)/m.Seconds, m.P95MS, m.Failed)
		r.Measurements = append(r.Measurements, m)
	}
	return nil
}

// herdReport is of what the herd prints what is needed.
type herdReport struct {
	Requests uint64            `json:"requests"`
	Failed   uint64            `json:"failed"`
	Bytes    uint64            `json:"bytes"`
	Examples map[string]string `json:"examples"`
	Kinds    []struct {
		Kind     string  `json:"kind"`
		Requests uint64  `json:"requests"`
		P50MS    float64 `json:"p50_ms"`
		P95MS    float64 `json:"p95_ms"`
		P99MS    float64 `json:"p99_ms"`
	} `json:"kinds"`
	Usage *struct {
		Seconds    float64 `json:"seconds"`
		CPUSeconds float64 `json:"cpu_seconds"`
	} `json:"usage"`
}

func (s *stage) measure(ctx context.Context, herd, scenario string, c contender, viewers int) (measurement, error) {
	url, mode, duration := c.playlist, "repeat", s.duration
	var err error
	switch scenario {
	case scenarioLarge, scenarioSmall:
		if url, err = c.segment(ctx); err != nil {
			return measurement{}, err
		}
	case scenarioHerd:
		mode, duration = "fast", s.herd
	}
	m := measurement{Scenario: scenario, Viewers: viewers, Contender: c.name, Load: load()}
	arguments := []string{"-url", url, "-mode", mode, "-viewers", strconv.Itoa(viewers), "-duration", duration.String(),
		"-ramp", (s.warmup / 2).String(), "-warmup", s.warmup.String(), "-pid", strconv.Itoa(c.pid), "-header", c.header, "-json"}
	cores := others(s.core)
	if s.together {
		cores = only(s.core)
	}
	p, err := start(s.folder, cores, nil, herd, arguments...)
	if err != nil {
		return m, err
	}
	select {
	case <-p.ended: // with an exit code that counts failures: they are reported
	case <-ctx.Done():
		p.stop()
		return m, ctx.Err()
	}
	var report herdReport
	if err := json.Unmarshal([]byte(p.output()), &report); err != nil {
		return m, fmt.Errorf("the herd says %q: %w", lastLines(p.output()), err)
	}
	if report.Usage == nil || report.Bytes == 0 {
		return m, fmt.Errorf("nothing was measured: %v", report.Examples)
	}
	m.Requests, m.Failed, m.Bytes = report.Requests, report.Failed, report.Bytes
	m.Seconds, m.CPUSeconds = report.Usage.Seconds, report.Usage.CPUSeconds
	for _, k := range report.Kinds {
		if k.Requests > 0 && (k.Kind == "object" || k.Kind == "segment") {
			m.P50MS, m.P95MS, m.P99MS = k.P50MS, k.P95MS, k.P99MS
		}
	}
	return m, nil
}

// load is what the machine did before, in the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
