package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/benchmarks/proc"
)

func TestMetricsAreSummedByNameAndLabel(t *testing.T) {
	text := `# HELP drover_cameras Cameras by state.
# TYPE drover_cameras gauge
drover_cameras{state="backoff"} 1
drover_cameras{state="live"} 99
drover_cameras_other{state="live"} 5
drover_source_lost_packets_total{camera="a",source="main"} 2
drover_source_lost_packets_total{camera="b c",source="main"} 3
go_goroutines 12
go_memstats_heap_inuse_bytes 1.5e+06
nonsense
x NaNsense
`
	m, err := parseMetrics(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, label string
		want        float64
	}{
		{"drover_cameras", `state="live"`, 99},
		{"drover_cameras", "", 100},
		{"drover_source_lost_packets_total", "", 5},
		{"drover_source_lost_packets_total", `camera="b c"`, 3},
		{"go_goroutines", "", 12},
		{"go_memstats_heap_inuse_bytes", "", 1.5e6},
		{"absent", "", 0},
	}
	for _, test := range tests {
		if got := m.sum(test.name, test.label); got != test.want {
			t.Errorf("%s with %q is %v, want %v", test.name, test.label, got, test.want)
		}
	}
}

func TestReadyURLsAreReadInOrder(t *testing.T) {
	got := readyURLs("make-clips: h264\nready rtsp://127.0.0.1:1/cam1\nready rtsp://127.0.0.1:1/cam2\nevent cam1 play\nready")
	if want := []string{"rtsp://127.0.0.1:1/cam1", "rtsp://127.0.0.1:1/cam2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSummaryIsPerCameraAndMinute(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := result{Cameras: 10, Samples: []sample{
		{At: start, ServerCPU: 5, SimulatorCPU: 1, ReceivedBytes: 0, LostPackets: 3},
		{
			At: start.Add(30 * time.Second), ServerCPU: 6, SimulatorCPU: 1.5, ReceivedBytes: 75e6, LostPackets: 4,
			Server: proc.Memory{RSS: 100e6}, MediaBytes: 60e6, IdleBytes: 10e6,
		},
	}}
	s := r.summarize()
	// 10 cameras for half a minute are 5 camera-minutes.
	for name, pair := range map[string][2]float64{
		"CPU of the server":    {s.serverCPU, 0.2},
		"CPU of the simulator": {s.rackCPU, 0.1},
		"Mbit/s":               {s.megabits, 2},
		"resident":             {s.resident, 10},
		"media":                {s.media, 6},
		"beside":               {s.beside, 3},
		"lost":                 {float64(s.lost), 1},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
}

func TestOptionsOutOfBoundsAreRefused(t *testing.T) {
	for _, args := range []string{"-cameras 0", "-cameras 1001", "-duration 0s", "-duration 2h", "-settle -1s"} {
		if _, err := parseOptions(strings.Fields(args)); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
}

func TestWhatAProcessWroteIsReadFromProc(t *testing.T) {
	got, err := parseWriteBytes("rchar: 1\nwchar: 2\nwrite_bytes: 345\ncancelled_write_bytes: 6\n")
	if err != nil || got != 345 {
		t.Errorf("got %d, %v", got, err)
	}
	if _, err := parseWriteBytes("rchar: 1\n"); err == nil {
		t.Error("what is not there was read")
	}
}

func TestWhatRecordingCostsIsTheDifferenceOfTheWindows(t *testing.T) {
	r := recordResult{Cameras: 10, Windows: []window{
		{CPU: 0.1, Seconds: 1}, {Recording: true, CPU: 0.12, Seconds: 1, Received: 1000, Written: 980, ToDisk: 1078},
		{CPU: 0.1, Seconds: 1}, {Recording: true, CPU: 0.14, Seconds: 1, Received: 1000, Written: 980, ToDisk: 1078},
	}}
	var out strings.Builder
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.030 CPU-s per camera-minute", "0.980", "1.100"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
