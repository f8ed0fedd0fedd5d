package intake

import (
	"context"
	"testing"
	"time"

	"github.com/drover-video/drover/core/detection"
)

// A report of three boxes of a camera with two rules: what one frame of a usual worker
// costs the server, until it is in memory.
func BenchmarkReport(b *testing.B) {
	r := newRig(b, b.TempDir(), func(o *Options) {
		o.Limits = Limits{WorkerReports: 1e9, WorkerBytes: 1e12, AllReports: 1e9}
		o.Archive = nil
	})
	r.rule(detection.Rule{ID: "people", Camera: "door", Labels: []string{"person"}})
	r.rule(detection.Rule{ID: "zone", Camera: "door", MinDuration: time.Second, Zone: []detection.Point{{X: 0, Y: 0.5}, {X: 1, Y: 0.5}, {X: 1, Y: 1}}})
	box := func(x float64, track uint64) detection.Detection {
		return detection.Detection{Label: "person", Score: 0.5, Track: track, Box: &detection.Box{X: x, Y: 0.4, Width: 0.1, Height: 0.3}}
	}
	writing := 0
	b.ReportAllocs()
	for b.Loop() {
		r.pass(40 * time.Millisecond)
		r.must(detection.Report{Camera: "door", Time: r.clock(), Worker: "test", Detections: []detection.Detection{box(0.1, 1), box(0.3, 2), box(0.5, 3)}})
		if writing++; writing%batchReports == 0 {
			b.StopTimer()
			r.round()
			b.StartTimer()
		}
	}
}

// What the same costs to be kept.
func BenchmarkKeep(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	batch := make([]detection.Report, 0, batchReports)
	for range batchReports {
		report := r.person("door")
		report.Source = "main"
		report.Detections = append(report.Detections, report.Detections[0], report.Detections[0])
		batch = append(batch, report)
	}
	for b.Loop() {
		w := &writer{desk: r.desk}
		w.batch.Reports = batch
		w.write(context.Background())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/batchReports, "µs/report")
}
