package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/drover-video/drover/core/wire"
)

// Serving is what sending to clients takes, beside the process's own memory.
type Serving struct {
	MemoryFiles     int   // segments that many ask for, and the kernel sends
	MemoryFileBytes int64 // in them
	Wire            wire.Stats
}

// A servingCollector turns Serving into metrics.
type servingCollector struct {
	files, fileBytes, connections, ahead, kernelSent, blocked, blockedBytes *prometheus.Desc
}

func newServingCollector() servingCollector {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("drover_"+name, help, nil, nil)
	}
	return servingCollector{
		files:        describe("memory_files", "Segments that many ask for, in files in memory that the kernel sends."),
		fileBytes:    describe("memory_file_bytes", "Memory of these files. It is Drover's, and no part of what the process is said to hold."),
		connections:  describe("http_connections", "Connections of clients."),
		ahead:        describe("http_ahead_requests_total", "Requests that were answered on the connection, ahead of net/http."),
		kernelSent:   describe("http_kernel_sent_bytes_total", "Bytes that the kernel sent from files, in memory and of recordings."),
		blocked:      describe("http_blocked_connections", "Connections whose client is waited for while something is sent to it."),
		blockedBytes: describe("http_blocked_bytes", "Bytes that these connections held when the wait began, in files that may be gone."),
	}
}

func (c servingCollector) describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.files, c.fileBytes, c.connections, c.ahead, c.kernelSent, c.blocked, c.blockedBytes} {
		out <- d
	}
}

func (c servingCollector) collect(out chan<- prometheus.Metric, s Serving) {
	for d, value := range map[*prometheus.Desc]float64{
		c.files: float64(s.MemoryFiles), c.fileBytes: float64(s.MemoryFileBytes), c.connections: float64(s.Wire.Open),
		c.blocked: float64(s.Wire.Blocked), c.blockedBytes: float64(s.Wire.BlockedBytes),
	} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	out <- prometheus.MustNewConstMetric(c.ahead, prometheus.CounterValue, float64(s.Wire.Ahead))
	out <- prometheus.MustNewConstMetric(c.kernelSent, prometheus.CounterValue, float64(s.Wire.KernelBytes))
}
