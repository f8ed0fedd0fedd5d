package metrics

import "github.com/prometheus/client_golang/prometheus"

// Detections is what AI workers reported, and what became of it.
type Detections struct {
	Reports    uint64
	Detections uint64
	Refused    map[string]uint64 // reports, by reason
	Unfollowed uint64            // matches of rules, for there were too many labels or tracks
	Pending    int               // reports that wait for the disk
	OpenEvents int
	Kept       int64
	KeptEvents int64
}

// A detectionsCollector turns Detections into metrics.
type detectionsCollector struct {
	reports, detections, refused, unfollowed, pending, open, kept, keptEvents *prometheus.Desc
}

func newDetectionsCollector() detectionsCollector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("drover_ai_"+name, help, labels, nil)
	}
	return detectionsCollector{
		reports:    describe("reports_total", "Reports of AI workers that were taken, each of one frame."),
		detections: describe("detections_total", "Detections in reports that were taken."),
		refused:    describe("refused_reports_total", "Reports of AI workers that were refused, by reason.", "reason"),
		unfollowed: describe("unfollowed_detections_total", "Detections that matched a rule and were not followed, for it has too many labels or tracks."),
		pending:    describe("pending_reports", "Reports that wait for the disk."),
		open:       describe("open_events", "Events that may go on."),
		kept:       describe("kept_detections", "Detections in the store, about."),
		keptEvents: describe("kept_events", "Events in the store, about."),
	}
}

func (c detectionsCollector) describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.reports, c.detections, c.refused, c.unfollowed, c.pending, c.open, c.kept, c.keptEvents} {
		out <- d
	}
}

func (c detectionsCollector) collect(out chan<- prometheus.Metric, d Detections) {
	counter := func(desc *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(desc *prometheus.Desc, n float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, n)
	}
	counter(c.reports, d.Reports)
	counter(c.detections, d.Detections)
	counter(c.unfollowed, d.Unfollowed)
	for reason, n := range d.Refused {
		counter(c.refused, n, reason)
	}
	gauge(c.pending, float64(d.Pending))
	gauge(c.open, float64(d.OpenEvents))
	gauge(c.kept, float64(d.Kept))
	gauge(c.keptEvents, float64(d.KeptEvents))
}
