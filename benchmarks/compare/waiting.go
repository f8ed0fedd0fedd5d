package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// A waitingMeasurement is what the waiters report of one contender.
type waitingMeasurement struct {
	Contender string          `json:"contender"`
	Load      string          `json:"load"` // of the machine, before
	Report    json.RawMessage `json:"report"`
}

// waitingReport is of what they report what the table shows.
type waitingReport struct {
	Viewers    int              `json:"viewers"`
	Parts      int              `json:"parts"`
	Complete   int              `json:"complete"`
	Answers    int              `json:"answers"`
	Failed     int              `json:"failed"`
	Answer     waitingQuantiles `json:"answer"`
	Last       waitingQuantiles `json:"last_answer"`
	CPUSeconds float64          `json:"cpu_seconds"`
	PerViewer  struct {
		Process int64 `json:"process_bytes"`
		TCP     int64 `json:"tcp_bytes"`
		Slab    int64 `json:"slab_bytes"`
	} `json:"per_viewer"`
}

type waitingQuantiles struct {
	P50MS float64 `json:"p50_ms"`
	P95MS float64 `json:"p95_ms"`
	MaxMS float64 `json:"max_ms"`
}

// runWaiters has many wait for a camera's next part at Drover, which is the only
// contender that makes parts: by its way ahead of net/http, and through net/http.
// Each has a server of its own, for memory once taken is slow to be given back.
func (r *result) runWaiters(ctx context.Context, o options, waiters string) error {
	if o.waiters == 0 {
		return nil
	}
	for _, way := range []struct{ name, header string }{{"drover", ""}, {"drover, through net/http", notSimple}} {
		m, err := measureWaiters(ctx, o, waiters, way.name, way.header)
		if err != nil {
			return fmt.Errorf("waiting, %s: %w", way.name, err)
		}
		fmt.Printf("%d waiters, %s: %s\n", o.waiters, way.name, m.row())
		r.Waiting = append(r.Waiting, m)
	}
	return nil
}

func measureWaiters(ctx context.Context, o options, waiters, name, header string) (waitingMeasurement, error) {
	m := waitingMeasurement{Contender: name, Load: load()}
	folder, err := os.MkdirTemp("", "drover-compare-")
	if err != nil {
		return m, err
	}
	s := &stage{options: o, folder: folder}
	defer s.end()
	source, err := s.startCamera(ctx, "h264-720p")
	if err != nil {
		return m, err
	}
	if err := s.startDrover(ctx, name, source); err != nil {
		return m, err
	}
	server := s.contenders[0]
	p, err := start(folder, others(o.core), nil, waiters, "-url", server.live, "-viewers", strconv.Itoa(o.waiters),
		"-duration", o.waiting.String(), "-pid", strconv.Itoa(server.pid), "-header", header, "-json")
	if err != nil {
		return m, err
	}
	select {
	case <-p.ended: // with an exit code that counts failures: they are reported
	case <-ctx.Done():
		p.stop()
		return m, ctx.Err()
	}
	m.Report = json.RawMessage(p.output())
	if !json.Valid(m.Report) {
		return m, fmt.Errorf("the waiters say %q", lastLines(p.output()))
	}
	return m, nil
}

// row is one of the table.
func (m waitingMeasurement) row() string {
	var w waitingReport
	if err := json.Unmarshal(m.Report, &w); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("| %s | %d | %d of %d | %d | %.1f KiB | %.1f KiB | %.1f KiB | %.0f, %.0f, %.0f ms | %.0f, %.0f, %.0f ms | %.1f µs |",
		m.Contender, w.Viewers, w.Complete, w.Parts, w.Failed, kibibytes(w.PerViewer.Process), kibibytes(w.PerViewer.TCP), kibibytes(w.PerViewer.Slab),
		w.Answer.P50MS, w.Answer.P95MS, w.Answer.MaxMS, w.Last.P50MS, w.Last.P95MS, w.Last.MaxMS, w.CPUSeconds*1e6/float64(max(1, w.Answers)))
}

func kibibytes(n int64) float64 { return float64(n) / 1024 }

// waitingTable renders what the waiters reported, "" if there were none.
func (r *result) waitingTable() string {
	if len(r.Waiting) == 0 {
		return ""
	}
	text := "\n| waiting for the next part | viewers | parts that reached all | failed | memory of a viewer | in TCP, both ends | in the kernel's structures, both ends | from the first answer to another: p50, p95, max | to the last | CPU of an answer |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
	for _, m := range r.Waiting {
		text += m.row() + "\n"
	}
	return text
}
