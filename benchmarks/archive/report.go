package main

import (
	"math"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Report is all that was found.
type Report struct {
	Time              time.Time  `json:"time"`
	Processors        int        `json:"processors"`
	Cameras           int        `json:"cameras"`
	Days              int        `json:"days"`
	Files             int64      `json:"files"`
	IndexBytes        int64      `json:"index_bytes"`
	BytesPerFile      float64    `json:"index_bytes_per_file"`
	RestoredPerSecond float64    `json:"restored_files_per_second,omitempty"`
	FillSeconds       float64    `json:"fill_seconds,omitempty"`
	Requests          int        `json:"requests"`
	Questions         []Question `json:"questions"`
	TimeShift         TimeShift  `json:"time_shift_of_a_day"`
	Hour              *Hour      `json:"two_seconds_of_an_hour,omitempty"`
}

// Question is how long an answer takes.
type Question struct {
	Name string    `json:"name"`
	Cold Latencies `json:"cold"` // the system's memory held nothing of the index at first
	Warm Latencies `json:"warm"`
}

// Latencies are in milliseconds.
type Latencies struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
	CPU float64 `json:"cpu_ms,omitempty"` // mean of the process, where it was measured
}

// TimeShift is what the playlist of a day takes.
type TimeShift struct {
	Bytes           int       `json:"bytes"`
	GzipBytes       int       `json:"gzip_bytes"`
	FirstMS         float64   `json:"first_ms"`      // from the index, in plain
	FirstGzipMS     float64   `json:"first_gzip_ms"` // then compressed
	DeltaGzipBytes  int       `json:"delta_gzip_bytes"`
	NewVersionDelta Latencies `json:"new_version_delta"` // after a segment: who asks first
	NewVersionFull  Latencies `json:"new_version_full"`
	Poll            Latencies `json:"poll"` // all others
}

func newReport(o options) *Report {
	return &Report{Time: time.Now().UTC(), Processors: runtime.GOMAXPROCS(0), Cameras: o.cameras, Days: o.days, Requests: o.requests}
}

func ms(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e3 }

// cpu is how much processor time the process has used.
func cpu() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func latenciesOf(taken []time.Duration) Latencies {
	if len(taken) == 0 {
		return Latencies{}
	}
	slices.Sort(taken)
	at := func(q float64) float64 { return ms(taken[int(q*float64(len(taken)-1))]) }
	return Latencies{P50: at(0.5), P99: at(0.99), Max: at(1)}
}
