package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A report is what a run found, as -json prints it. Failed counts requests that
// went wrong, and playlists that were answered but stood still or lost segments.
type report struct {
	URL      string            `json:"url"`
	Viewers  int               `json:"viewers"`
	Seconds  float64           `json:"seconds"`
	Requests uint64            `json:"requests"`
	Failed   uint64            `json:"failed"`
	Bytes    uint64            `json:"bytes"`
	Kinds    []kindReport      `json:"kinds"`
	Failures map[string]uint64 `json:"failures"`
	Examples map[string]string `json:"examples,omitempty"`
	Server   []sample          `json:"server,omitempty"`
	Usage    *usage            `json:"usage,omitempty"`
}

// A kindReport is of the requests of one kind that were answered in full.
type kindReport struct {
	Kind     string  `json:"kind"`
	Requests uint64  `json:"requests"`
	Bytes    uint64  `json:"bytes"`
	AvgMS    float64 `json:"avg_ms"`
	P50MS    float64 `json:"p50_ms"`
	P95MS    float64 `json:"p95_ms"`
	P99MS    float64 `json:"p99_ms"`
	MaxMS    float64 `json:"max_ms"`
}

// newReport sums a tally up; all viewers have left.
func newReport(o options, t *tally, took time.Duration, samples []sample, used *usage) report {
	r := report{
		URL: o.url.Redacted(), Viewers: o.viewers, Seconds: took.Seconds(),
		Requests: t.asked.Load(), Failures: t.failures, Examples: t.example, Server: samples, Usage: used,
	}
	for k := range kindCount {
		l := &t.latencies[k]
		one := kindReport{
			Kind: k.String(), Requests: l.count.Load(), Bytes: t.bytes[k].Load(),
			AvgMS: milliseconds(l.mean()), P50MS: milliseconds(l.quantile(0.50)),
			P95MS: milliseconds(l.quantile(0.95)), P99MS: milliseconds(l.quantile(0.99)),
			MaxMS: milliseconds(l.max()),
		}
		r.Kinds = append(r.Kinds, one)
		r.Bytes += one.Bytes
	}
	for _, count := range t.failures {
		r.Failed += count
	}
	return r
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (r report) print(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d viewers of %s, %.0f s\n\n", r.Viewers, r.URL, r.Seconds)
	fmt.Fprintf(&text, "requests  %d  (%.1f/s)\n", r.Requests, float64(r.Requests)/r.Seconds)
	fmt.Fprintf(&text, "failed    %d\n", r.Failed)
	fmt.Fprintf(&text, "received  %.1f MB  (%.1f Mbit/s)\n\n", float64(r.Bytes)/1e6, float64(r.Bytes)*8/1e6/r.Seconds)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\trequests\tMB\tavg ms\tp50\tp95\tp99\tmax\t")
	for _, k := range r.Kinds {
		fmt.Fprintf(table, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n",
			k.Kind, k.Requests, float64(k.Bytes)/1e6, k.AvgMS, k.P50MS, k.P95MS, k.P99MS, k.MaxMS)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Failures)) {
		fmt.Fprintf(&text, "\nfailed: %s, %d times (%s)", name, r.Failures[name], r.Examples[name])
	}
	if r.Usage != nil {
		fmt.Fprintf(&text, "\nthe server used %.3f s of CPU in %.1f s: %.3f s per GB, %.1f us per request\n",
			r.Usage.CPUSeconds, r.Usage.Seconds, r.Usage.CPUSeconds/(float64(r.Bytes)/1e9), r.Usage.CPUSeconds*1e6/float64(r.Requests))
	}
	if len(r.Server) > 0 {
		fmt.Fprintln(&text, "\nthe server's process:")
		server := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(server, "s\tviewers\tCPU s\tRSS MB\tPSS MB\t")
		for _, s := range r.Server {
			fmt.Fprintf(server, "%.0f\t%d\t%.2f\t%.1f\t%.1f\t\n",
				s.AtSeconds, s.Viewers, s.CPUSeconds, float64(s.Memory.RSS)/1e6, float64(s.Memory.PSS)/1e6)
		}
		if err := server.Flush(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, text.String()+"\n")
	return err
}
