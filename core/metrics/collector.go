package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/drover-video/drover/core/camera"
)

// A collector turns snapshots into metrics.
type collector struct {
	snapshot func() Snapshot
	serving  servingCollector
	tap      tapCollector
	home     homeCollector
	seen     detectionsCollector

	build, cameras, viewers, requests, sent                    *prometheus.Desc
	frames, received, lost, reconnects, ringBytes, drops, pool *prometheus.Desc
	reordered, dropped, discards, hlsDrops                     *prometheus.Desc
	refused                                                    *prometheus.Desc
	held, segments, restarts, live, parts                      *prometheus.Desc
	players                                                    *playerCollector
	archive                                                    *archiveCollector
}

func newCollector(version string, snapshot func() Snapshot) *collector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("drover_"+name, help, labels, nil)
	}
	return &collector{
		snapshot: snapshot,
		serving:  newServingCollector(),
		tap:      newTapCollector(),
		home:     newHomeCollector(),
		seen:     newDetectionsCollector(),
		build: prometheus.NewDesc("drover_build_info", "Always 1; its label says which Drover this is.",
			nil, prometheus.Labels{"version": version}),
		cameras:    describe("cameras", "Cameras by state.", "state"),
		viewers:    describe("camera_viewers", "Who watches a camera by HLS now.", "camera"),
		requests:   describe("hls_requests_total", "HLS requests for a camera.", "camera"),
		sent:       describe("hls_sent_bytes_total", "Bytes of HLS sent of a camera.", "camera"),
		frames:     describe("source_frames_total", "Access units received from a source.", "camera", "source"),
		received:   describe("source_received_bytes_total", "Bytes received from a source.", "camera", "source"),
		lost:       describe("source_lost_packets_total", "RTP packets of a source that never came.", "camera", "source"),
		reordered:  describe("source_reordered_packets_total", "RTP packets of a source that overtook others and were put in order.", "camera", "source"),
		dropped:    describe("source_kernel_dropped_packets_total", "Of the lost packets of a source, those that the socket's receive buffer had no room for.", "camera", "source"),
		reconnects: describe("source_reconnects_total", "Connections to a source after the first.", "camera", "source"),
		ringBytes:  describe("source_ring_bytes", "Bytes of a source kept for consumers that start.", "camera", "source"),
		drops:      describe("subscriber_dropped_frames_total", "Frames that a consumer of a source lost, by reason.", "camera", "source", "subscriber", "reason"),
		discards:   describe("source_discards_total", "What came from a source and was not handed on, by reason.", "camera", "source", "reason"),
		hlsDrops:   describe("hls_dropped_frames_total", "Frames of a source that became part of no segment, by reason.", "camera", "source", "reason"),
		held:       describe("hls_held_bytes", "Bytes of a source's media that its HLS keeps.", "camera", "source"),
		segments:   describe("hls_segments_total", "Segments made of a source.", "camera", "source"),
		restarts:   describe("hls_playlist_restarts_total", "New lives of a source's playlist, as its segments or parts outgrew the target that was told, or much less was enough for long.", "camera", "source", "playlist"),
		live:       describe("hls_low_latency", "Whether low latency is made of a source now: somebody asks for it.", "camera", "source"),
		parts:      describe("hls_parts_total", "Parts made of a source for low latency.", "camera", "source"),
		players:    newPlayerCollector(describe),
		archive:    newArchiveCollector(describe),
		refused:    describe("refused_total", "Connections, and requests of viewers, that were too many, by the limit they met.", "reason"),
		pool:       describe("frame_pool_bytes", "Memory for frames: in use, or kept for the next.", "use"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	c.serving.describe(out)
	c.tap.describe(out)
	c.home.describe(out)
	c.seen.describe(out)
	for _, d := range []*prometheus.Desc{c.build, c.cameras, c.viewers, c.requests, c.sent, c.frames,
		c.received, c.lost, c.reordered, c.dropped, c.reconnects, c.ringBytes, c.drops, c.discards, c.hlsDrops, c.refused, c.pool,
		c.held, c.segments, c.restarts, c.live, c.parts} {
		out <- d
	}
	c.players.describe(out)
	c.archive.describe(out)
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	snapshot := c.snapshot()
	c.serving.collect(out, snapshot.Serving)
	c.tap.collect(out, snapshot.Tap)
	c.home.collect(out, snapshot.SecondHome)
	c.seen.collect(out, snapshot.Detections)
	c.archive.collect(out, snapshot.Archive)
	gauge(c.build, 1)
	gauge(c.pool, float64(snapshot.PoolUsedBytes), "used")
	gauge(c.pool, float64(snapshot.PoolIdleBytes), "idle")
	for reason, n := range snapshot.Refused {
		out <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(n), reason)
	}
	// States without a camera are shown too: an alert on one needs its zero.
	states := map[camera.State]int{camera.StateIdle: 0, camera.StateConnecting: 0, camera.StateLive: 0,
		camera.StateStalled: 0, camera.StateBackoff: 0, camera.StateDisabled: 0}
	for _, each := range snapshot.Cameras {
		states[each.State]++
		c.collectCamera(out, each)
	}
	for state, n := range states {
		gauge(c.cameras, float64(n), string(state))
	}
}

func (c *collector) collectCamera(out chan<- prometheus.Metric, each Camera) {
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	out <- prometheus.MustNewConstMetric(c.viewers, prometheus.GaugeValue, float64(each.Viewers), each.ID)
	counter(c.requests, each.Requests, each.ID)
	counter(c.sent, each.Sent, each.ID)
	c.players.collect(out, each.ID, &each.Players)
	for _, source := range each.Sources {
		counter(c.frames, source.Frames, each.ID, source.Name)
		counter(c.received, source.Bytes, each.ID, source.Name)
		counter(c.lost, source.LostPackets, each.ID, source.Name)
		counter(c.reordered, source.Reordered, each.ID, source.Name)
		counter(c.dropped, source.Dropped, each.ID, source.Name)
		counter(c.reconnects, source.Reconnects, each.ID, source.Name)
		out <- prometheus.MustNewConstMetric(c.ringBytes, prometheus.GaugeValue, float64(source.RingBytes), each.ID, source.Name)
		for reason, n := range source.Discards {
			counter(c.discards, n, each.ID, source.Name, reason)
		}
		for reason, n := range source.HLSDrops {
			counter(c.hlsDrops, n, each.ID, source.Name, reason)
		}
		c.collectHLS(out, each.ID, source.Name, source.HLS)
		c.collectDrops(out, each.ID, source)
	}
}

func (c *collector) collectHLS(out chan<- prometheus.Metric, id, source string, h HLS) {
	live := 0.0
	if h.Live {
		live = 1
	}
	for d, value := range map[*prometheus.Desc]float64{c.held: float64(h.HeldBytes), c.live: live} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, id, source)
	}
	for d, n := range map[*prometheus.Desc]uint64{c.segments: h.Segments, c.parts: h.Parts} {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), id, source)
	}
	for playlist, n := range map[string]uint64{"index": h.Restarts, "live": h.LiveRestarts} {
		out <- prometheus.MustNewConstMetric(c.restarts, prometheus.CounterValue, float64(n), id, source, playlist)
	}
}

// collectDrops adds up subscribers of one name: Prometheus refuses a scrape with
// the same labels twice.
func (c *collector) collectDrops(out chan<- prometheus.Metric, id string, source Source) {
	type labels struct{ subscriber, reason string }
	sums := map[labels]uint64{}
	for _, drop := range source.Drops {
		sums[labels{drop.Subscriber, drop.Reason}] += drop.Frames
	}
	for l, frames := range sums {
		out <- prometheus.MustNewConstMetric(c.drops, prometheus.CounterValue, float64(frames), id, source.Name, l.subscriber, l.reason)
	}
}
