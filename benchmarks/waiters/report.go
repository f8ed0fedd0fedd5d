package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A report is what a run found, as -json prints it.
type report struct {
	URL      string         `json:"url"`
	Viewers  int            `json:"viewers"`
	Seconds  float64        `json:"seconds"`
	Parts    int            `json:"parts"`    // that were made meanwhile
	Complete int            `json:"complete"` // of them, those that reached everybody
	Answers  int            `json:"answers"`
	Failed   int            `json:"failed"`
	Failures map[string]int `json:"failures,omitempty"`

	// From a part's first answer to each other, and to its last. The first comes when
	// the part is ready.
	Answer quantiles `json:"answer"`
	Last   quantiles `json:"last_answer"`

	CPUSeconds float64  `json:"cpu_seconds,omitempty"`
	Before     memory   `json:"before"`
	Waiting    []memory `json:"waiting"`
	PerViewer  memory   `json:"per_viewer"` // the median while they waited, less that before
}

type quantiles struct {
	P50MS float64 `json:"p50_ms"`
	P95MS float64 `json:"p95_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}

func quantilesOf(all []time.Duration) quantiles {
	if len(all) == 0 {
		return quantiles{}
	}
	slices.Sort(all)
	at := func(q float64) float64 {
		return float64(all[min(len(all)-1, int(q*float64(len(all))))].Microseconds()) / 1000
	}
	return quantiles{at(0.5), at(0.95), at(0.99), at(1)}
}

// sum adds what the viewers saw.
func (r *report) sum(t *tally) {
	rounds, failures := t.finished()
	r.Failures = failures
	for _, n := range failures {
		r.Failed += n
	}
	var all, last []time.Duration
	for _, round := range rounds {
		r.Parts++
		r.Answers += len(round.after)
		if len(round.after) == r.Viewers {
			r.Complete++
		}
		all = append(all, round.after...)
		last = append(last, slices.Max(round.after))
	}
	r.Answer, r.Last = quantilesOf(all), quantilesOf(last)
	r.PerViewer = medianOf(r.Waiting).less(r.Before).each(r.Viewers - 1)
}

func (r *report) print(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d viewers wait for %s, %.0f s\n\n", r.Viewers, r.URL, r.Seconds)
	fmt.Fprintf(&text, "parts     %d, of which %d reached everybody\nfailed    %d\n\n", r.Parts, r.Complete, r.Failed)
	for _, one := range []struct {
		name string
		q    quantiles
	}{{"a viewer's answer", r.Answer}, {"the last answer", r.Last}} {
		fmt.Fprintf(&text, "from the first answer to %-18s p50 %6.1f ms, p95 %6.1f, p99 %6.1f, max %6.1f\n", one.name+":", one.q.P50MS, one.q.P95MS, one.q.P99MS, one.q.MaxMS)
	}
	if r.CPUSeconds > 0 {
		fmt.Fprintf(&text, "\nthe server used %.2f s of CPU: %.1f us for an answer\n", r.CPUSeconds, r.CPUSeconds*1e6/float64(max(1, r.Answers)))
		fmt.Fprintf(&text, "a viewer takes %.1f KiB of its memory; TCP holds %.1f KiB for both ends, and the kernel's own structures take %.1f KiB\n",
			float64(r.PerViewer.Process)/1024, float64(r.PerViewer.TCP)/1024, float64(r.PerViewer.Slab)/1024)
	}
	for what, n := range r.Failures {
		fmt.Fprintf(&text, "\nfailed: %d times: %s", n, what)
	}
	_, err := io.WriteString(w, text.String()+"\n")
	return err
}
