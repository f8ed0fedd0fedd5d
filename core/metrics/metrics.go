// Package metrics shows Drover's counters to Prometheus. Nothing is counted
// here: a scrape reads one snapshot of what the parts count anyway, so that a
// packet costs no metric.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/cmcd"
)

// Snapshot is all counters at one moment.
type Snapshot struct {
	Cameras       []Camera
	PoolUsedBytes int64 // of frames that somebody holds
	PoolIdleBytes int64 // kept for the next frames
	Serving       Serving
	Tap           Tap
	SecondHome    *SecondHome // nil: there is none
	Detections    Detections
	Archive       *Archive // nil: there is none

	Refused map[string]uint64 // connections and viewers that were too many, by the limit
}

// Camera is one camera's counters.
type Camera struct {
	ID       string
	State    camera.State
	Viewers  int
	Requests uint64 // of HLS
	Sent     uint64 // bytes of HLS
	Players  cmcd.Figures
	Sources  []Source
}

// Source is one source's counters.
type Source struct {
	Name        string
	Frames      uint64
	Bytes       uint64
	LostPackets uint64
	Reordered   uint64 // packets put in order again
	Dropped     uint64 // packets that the kernel had no room for, of those lost
	Reconnects  uint64
	RingBytes   int64
	Drops       []Drop            // by consumers that were too slow
	Discards    map[string]uint64 // what came and was not handed on, by reason
	HLSDrops    map[string]uint64 // frames that became part of no segment, by reason
	HLS         HLS
}

// HLS is what is made of a source.
type HLS struct {
	HeldBytes    int64 // of media that it keeps from being freed
	Segments     uint64
	Restarts     uint64 // of the playlist of whole segments, with another target duration
	Live         bool   // low latency is being made
	Parts        uint64
	LiveRestarts uint64 // of the playlist with parts
}

// Drop is how many frames one subscriber lost for one reason.
type Drop struct {
	Subscriber string
	Reason     string
	Frames     uint64
}

// Handler answers scrapes with a fresh snapshot each, besides what is known of
// the process and of the Go runtime.
func Handler(version string, snapshot func() Snapshot) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newCollector(version, snapshot),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
