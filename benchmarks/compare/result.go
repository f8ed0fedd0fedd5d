package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A result is a run of compare, as it is kept.
type result struct {
	Started      time.Time         `json:"started"`
	Commit       string            `json:"commit"`
	Arguments    []string          `json:"arguments"`
	Network      string            `json:"network"`
	Machine      string            `json:"machine"`
	Versions     map[string]string `json:"versions"`
	Measurements []measurement     `json:"measurements"`

	Waiting []waitingMeasurement `json:"waiting,omitempty"`
}

func newResult(o options, network string) *result {
	r := &result{Started: time.Now().UTC().Truncate(time.Second), Arguments: os.Args[1:], Network: network, Versions: map[string]string{"go": runtime.Version()}}
	r.Machine = fmt.Sprintf("%d processors, %s", runtime.NumCPU(), said("uname", "-sr"))
	r.Commit = said("git", "describe", "--always", "--dirty")
	r.Versions["drover"] = said(o.drover, "version")
	if o.nginx != "" {
		r.Versions["nginx"] = said(o.nginx, "-v")
	}
	return r
}

// said returns what a program says of itself, or nothing.
func said(name string, arguments ...string) string {
	output, err := exec.Command(name, arguments...).CombinedOutput()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(output))
}

// A row is a contender in a scenario, over all rounds.
type row struct {
	scenario  string
	viewers   int
	contender string

	cost, least, most float64 // CPU-s per GB, or us per request for playlists
	ratio             float64 // to nginx, or to net/http without it: the median of the rounds' own
	perSecond, p95    float64
	failed            uint64
	bytes             float64 // of an answer
}

// rows sums the rounds up, in the order in which they began.
func (r *result) rows() []row {
	type key struct {
		scenario string
		viewers  int
	}
	var keys []key
	for _, m := range r.Measurements {
		if k := (key{m.Scenario, m.Viewers}); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	var rows []row
	for _, k := range keys {
		base := r.base()
		for _, name := range r.contenders() {
			rows = append(rows, r.row(k.scenario, k.viewers, name, base))
		}
	}
	return rows
}

// contenders returns their names, in the order of the first round.
func (r *result) contenders() []string {
	var names []string
	for _, m := range r.Measurements {
		if !slices.Contains(names, m.Contender) {
			names = append(names, m.Contender)
		}
	}
	return names
}

func (r *result) base() string {
	if slices.Contains(r.contenders(), "nginx") {
		return "nginx"
	}
	return "net/http"
}

func (r *result) row(scenario string, viewers int, name, base string) row {
	out := row{scenario: scenario, viewers: viewers, contender: name}
	var costs, ratios, rates, latencies []float64
	baseline := map[int]float64{}
	for _, m := range r.Measurements {
		if m.Scenario == scenario && m.Viewers == viewers && m.Contender == base {
			baseline[m.Round] = cost(m)
		}
	}
	for _, m := range r.Measurements {
		if m.Scenario != scenario || m.Viewers != viewers || m.Contender != name {
			continue
		}
		costs = append(costs, cost(m))
		rates = append(rates, float64(m.Requests)/m.Seconds)
		latencies = append(latencies, m.P95MS)
		if b := baseline[m.Round]; b > 0 {
			ratios = append(ratios, cost(m)/b)
		}
		out.failed += m.Failed
		out.bytes = float64(m.Bytes) / float64(max(1, m.Requests))
	}
	if len(costs) == 0 {
		return out
	}
	out.cost, out.least, out.most = median(costs), slices.Min(costs), slices.Max(costs)
	out.perSecond, out.p95 = median(rates), median(latencies)
	if len(ratios) > 0 {
		out.ratio = median(ratios)
	}
	return out
}

// cost is what a scenario is judged by: of playlists the answers, else the bytes.
func cost(m measurement) float64 {
	if m.Scenario == scenarioPlaylist {
		return m.perRequest()
	}
	return m.perGB()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// table renders the rows as Markdown.
func (r *result) table(raw string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, commit %s, %s, %s; %s. Raw: [%s](%s).\n\n", r.Started.Format("2 January 2006, 15:04 UTC"), r.Commit, r.Machine, r.Network, r.Versions["nginx"], filepath.Base(raw), raw)
	fmt.Fprintf(&text, "    go run ./benchmarks/compare %s\n\n", strings.Join(r.Arguments, " "))
	if len(r.Measurements) == 0 {
		return text.String() + r.waitingTable()
	}
	text.WriteString("| scenario | bytes | clients | server | CPU, median (least to most) | beside " + r.base() + " | answers/s | p95 ms | failed |\n|---|---:|---:|---|---|---:|---:|---:|---:|\n")
	for _, row := range r.rows() {
		unit := "s/GB"
		if row.scenario == scenarioPlaylist {
			unit = "µs/answer"
		}
		fmt.Fprintf(&text, "| %s | %.0f | %d | %s | %.3f %s (%.3f to %.3f) | %.2f | %.0f | %.1f | %d |\n",
			row.scenario, row.bytes, row.viewers, row.contender, row.cost, unit, row.least, row.most, row.ratio, row.perSecond, row.p95, row.failed)
	}
	return text.String() + r.waitingTable()
}

// Lines around the table in the file, which holds other results too.
const (
	tableBegin = "<!-- compare: renewed by benchmarks/compare -->\n"
	tableEnd   = "<!-- compare ends -->\n"
)

// finish writes the raw results and renews the table.
func (r *result) finish(o options) error {
	if err := os.MkdirAll(o.results, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	raw := filepath.Join(o.results, r.Started.Format("20060102-150405")+".json")
	if err := os.WriteFile(raw, append(data, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Println("\nraw results:", raw)
	link := raw
	if o.table != "" {
		if relative, err := filepath.Rel(filepath.Dir(o.table), raw); err == nil {
			link = filepath.ToSlash(relative)
		}
	}
	table := r.table(link)
	fmt.Println("\n" + table)
	if o.table == "" {
		return nil
	}
	before, err := os.ReadFile(o.table)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(o.table, []byte(renewed(string(before), table)), 0o644)
}

// renewed puts the table where the last one was, or at the end.
func renewed(text, table string) string {
	table = tableBegin + "\n" + table + "\n" + tableEnd
	before, rest, found := strings.Cut(text, tableBegin)
	if !found {
		if text == "" {
			text = "# Results\n"
		}
		return text + "\n## Serving, side by side\n\n" + table
	}
	_, after, _ := strings.Cut(rest, tableEnd)
	return before + table + after
}
