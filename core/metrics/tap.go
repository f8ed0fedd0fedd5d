package metrics

import "github.com/prometheus/client_golang/prometheus"

// Tap is what AI workers got.
type Tap struct {
	Workers []Worker
	Refused uint64 // workers, for there were too many
}

// Worker is all workers of one name.
type Worker struct {
	Name    string
	Open    int // subscriptions now
	Streams int // cameras that they take now
	Sent    uint64
	Bytes   uint64
	Missed  uint64
}

// A tapCollector turns Tap into metrics.
type tapCollector struct {
	open, streams, sent, bytes, missed, refused *prometheus.Desc
}

func newTapCollector() tapCollector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("drover_ai_"+name, help, labels, nil)
	}
	return tapCollector{
		open:    describe("workers", "AI workers of a name now.", "worker"),
		streams: describe("worker_cameras", "Cameras that AI workers of a name take now.", "worker"),
		sent:    describe("worker_frames_total", "Frames that AI workers of a name got.", "worker"),
		bytes:   describe("worker_bytes_total", "Bytes of frames that AI workers of a name got.", "worker"),
		missed:  describe("worker_missed_frames_total", "Frames that AI workers of a name asked for and were too slow for.", "worker"),
		refused: describe("refused_workers_total", "AI workers that were too many."),
	}
}

func (c tapCollector) describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.open, c.streams, c.sent, c.bytes, c.missed, c.refused} {
		out <- d
	}
}

func (c tapCollector) collect(out chan<- prometheus.Metric, t Tap) {
	out <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(t.Refused))
	for _, w := range t.Workers {
		out <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(w.Open), w.Name)
		out <- prometheus.MustNewConstMetric(c.streams, prometheus.GaugeValue, float64(w.Streams), w.Name)
		out <- prometheus.MustNewConstMetric(c.sent, prometheus.CounterValue, float64(w.Sent), w.Name)
		out <- prometheus.MustNewConstMetric(c.bytes, prometheus.CounterValue, float64(w.Bytes), w.Name)
		out <- prometheus.MustNewConstMetric(c.missed, prometheus.CounterValue, float64(w.Missed), w.Name)
	}
}
