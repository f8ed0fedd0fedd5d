package main

import (
	"strings"
	"testing"
)

func TestOptionsOutOfBoundsAreRefused(t *testing.T) {
	for _, args := range []string{
		"-rounds 0", "-rounds 101", "-duration 100ms", "-duration 1m", "-warmup 0s", "-warmup 4s", "-herd -1s", "-waiters -1", "-waiters 20001", "-waiting 0s", "-core -1", "-core 4096",
		"-viewers many", "-viewers 0", "-viewers 20001", "-viewers 1,", "-scenarios huge", "-other x", "-other a,http://b", "-other a,http://b,c", "-other a,http://b,0",
	} {
		if _, err := parseOptions(strings.Fields(args)); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
	o, err := parseOptions(strings.Fields("-viewers 1,20 -scenarios large,playlist -other mine,http://127.0.0.1:1/x,7"))
	if err != nil || len(o.viewers) != 2 || o.viewers[1] != 20 || len(o.scenarios) != 2 || o.others[0] != (other{"mine", "http://127.0.0.1:1/x", 7}) {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err = parseOptions(nil); err != nil || len(o.viewers) != 2 || len(o.scenarios) != 3 {
		t.Errorf("the defaults are %+v, %v", o, err)
	}
	if o, err = parseOptions([]string{"-scenarios", "none"}); err != nil || len(o.scenarios) != 0 {
		t.Errorf("for the herd alone: %+v, %v", o, err)
	}
}

// round is one of rounds in which each contender sent 1 GB in 1000 answers.
func round(n int, cpu map[string]float64) (all []measurement) {
	for _, name := range []string{"drover", "nginx", "net/http"} {
		all = append(all, measurement{Scenario: scenarioLarge, Viewers: 64, Round: n, Contender: name,
			Seconds: 2, Requests: 1000, Bytes: 1e9, CPUSeconds: cpu[name], P95MS: float64(n)})
	}
	return all
}

func TestTheTableHasMediansAndRatiosOfTheSameRound(t *testing.T) {
	var r result
	// The machine is slower in the second round: its own ratio does not mind.
	r.Measurements = append(r.Measurements, round(0, map[string]float64{"drover": 0.1, "nginx": 0.1, "net/http": 0.2})...)
	r.Measurements = append(r.Measurements, round(1, map[string]float64{"drover": 0.33, "nginx": 0.3, "net/http": 0.6})...)
	r.Measurements = append(r.Measurements, round(2, map[string]float64{"drover": 0.12, "nginx": 0.1, "net/http": 0.2})...)
	rows := r.rows()
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	drover := rows[0]
	if drover.contender != "drover" || drover.cost != 0.12 || drover.least != 0.1 || drover.most != 0.33 || drover.ratio < 1.09 || drover.ratio > 1.11 || drover.perSecond != 500 || drover.bytes != 1e6 {
		t.Errorf("got %+v", drover)
	}
	if rows[1].ratio != 1 || rows[2].ratio != 2 {
		t.Errorf("nginx %v, net/http %v beside nginx", rows[1].ratio, rows[2].ratio)
	}
	if text := r.table("x.json"); !strings.Contains(text, "| large | 1000000 | 64 | drover | 0.120 s/GB (0.100 to 0.330) | 1.10 | 500 |") {
		t.Errorf("the table is\n%s", text)
	}
}

func TestPlaylistsAreJudgedByTheAnswer(t *testing.T) {
	m := measurement{Scenario: scenarioPlaylist, Requests: 1000, Bytes: 1e6, CPUSeconds: 0.01}
	if got := cost(m); got != 10 {
		t.Errorf("%v us for an answer, want 10", got)
	}
}

func TestTheTableIsRenewedWhereItWas(t *testing.T) {
	first := renewed("", "one")
	if !strings.HasPrefix(first, "# Results\n") || !strings.Contains(first, "one") {
		t.Errorf("a new file is %q", first)
	}
	second := renewed(first+"\n## Others\n", "two")
	if strings.Contains(second, "one") || strings.Count(second, "two") != 1 || !strings.HasSuffix(second, "\n## Others\n") {
		t.Errorf("renewed, it is %q", second)
	}
}

func TestSegmentsAreFoundInAPlaylist(t *testing.T) {
	names := segmentNames([]byte("#EXTM3U\n#EXT-X-MAP:URI=\"main.init-1.mp4\"\n#EXTINF:2,\nmain.1.2.m4s\n#EXTINF:2,\nmain.1.3.m4s\n"))
	if len(names) != 2 || names[1] != "main.1.3.m4s" {
		t.Errorf("found %v", names)
	}
}

func TestTheTableTellsOfThoseWhoWait(t *testing.T) {
	r := result{Waiting: []waitingMeasurement{{Contender: "drover", Report: []byte(`{"viewers": 10000, "parts": 150, "complete": 149, "answers": 1000000, "failed": 2,
		"answer": {"p50_ms": 1, "p95_ms": 2, "max_ms": 3}, "last_answer": {"p50_ms": 4, "p95_ms": 5, "max_ms": 6}, "cpu_seconds": 20,
		"per_viewer": {"process_bytes": 15360, "tcp_bytes": 2048, "slab_bytes": 10240}}`)}}}
	want := "| drover | 10000 | 149 of 150 | 2 | 15.0 KiB | 2.0 KiB | 10.0 KiB | 1, 2, 3 ms | 4, 5, 6 ms | 20.0 µs |"
	if text := r.table("x.json"); !strings.Contains(text, want) || strings.Contains(text, "answers/s") {
		t.Errorf("the table is\n%s", text)
	}
}
