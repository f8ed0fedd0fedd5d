package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/drover-video/drover/core/cmcd"
)

// A playerCollector shows what players say. Their error codes are no labels: they
// come from anybody.
type playerCollector struct {
	reports, players, starts, stalls, stallTime, errors, latency, bitrate *prometheus.Desc
}

func newPlayerCollector(describe func(name, help string, labels ...string) *prometheus.Desc) *playerCollector {
	return &playerCollector{
		reports:   describe("player_reports_total", "Reports of players of a camera.", "camera"),
		players:   describe("players", "Players of a camera that report, by what they do.", "camera", "state"),
		starts:    describe("player_start_seconds", "From the wish to play to the first picture, as players say.", "camera"),
		stalls:    describe("player_stalls_total", "How often a picture stood still for want of more, as players say.", "camera"),
		stallTime: describe("player_stall_seconds_total", "For how long pictures stood still, as players say.", "camera"),
		errors:    describe("player_errors_total", "Errors of players of a camera.", "camera"),
		latency:   describe("player_latency_seconds", "From the camera to the screen, as the players there now say.", "camera", "quantile"),
		bitrate:   describe("player_bitrate_bps", "Mean bit rate of what is played now, as players say.", "camera"),
	}
}

func (p *playerCollector) describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{p.reports, p.players, p.starts, p.stalls, p.stallTime, p.errors, p.latency, p.bitrate} {
		out <- d
	}
}

// collect shows nothing of a camera that no player has reported of: most have none.
func (p *playerCollector) collect(out chan<- prometheus.Metric, camera string, f *cmcd.Figures) {
	if f.Reports == 0 {
		return
	}
	counter := func(d *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, camera)
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{camera}, labels...)...)
	}
	counter(p.reports, float64(f.Reports))
	counter(p.stalls, float64(f.Stalls))
	counter(p.stallTime, f.StallTime.Seconds())
	counter(p.errors, float64(f.ErrorCount()))
	gauge(p.players, float64(f.Playing), "playing")
	gauge(p.players, float64(f.Stalled), "stalled")
	gauge(p.players, float64(f.Players-f.Playing-f.Stalled), "other")
	gauge(p.latency, f.Latencies.P50.Seconds(), "0.5")
	gauge(p.latency, f.Latencies.P95.Seconds(), "0.95")
	gauge(p.bitrate, float64(f.Bitrate))
	classes := map[float64]uint64{}
	for i, bound := range cmcd.StartBounds() {
		classes[bound.Seconds()] = f.StartClasses[i]
	}
	out <- prometheus.MustNewConstHistogram(p.starts, f.Starts, f.StartTime.Seconds(), classes, camera)
}
