package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Archive is how recording is doing.
type Archive struct {
	WrittenBytes, Fragments uint64
	Dropped                 map[string]uint64 // fragments that were not written, by the gap's cause
	QueuedBytes             int64
	OpenFiles               int64
	Writes, Syncs           Latency

	TotalBytes, FreeBytes, FloorBytes int64
	HoursLeft                         float64 // -1: nothing is written
	InTrouble, ClockDoubted           bool

	Sources []RecordedSource
}

// Latency is how often something was done and how long it took.
type Latency struct {
	Count uint64
	Total time.Duration
	Most  time.Duration // of the last while
}

// RecordedSource is how the recording of one source is doing.
type RecordedSource struct {
	Camera, Source string
	Recording      bool
	Frames         uint64
	Dropped        map[string]uint64 // frames, by reason
	Coverage       float64
	HasCoverage    bool
}

type archiveCollector struct {
	written, fragments, dropped, queued, open, writes, syncs, worst *prometheus.Desc
	total, free, floor, hours, trouble, doubted                     *prometheus.Desc
	recording, frames, droppedFrames, coverage                      *prometheus.Desc
}

func newArchiveCollector(describe func(name, help string, labels ...string) *prometheus.Desc) *archiveCollector {
	return &archiveCollector{
		written:       describe("archive_written_bytes_total", "Bytes of recordings written."),
		fragments:     describe("archive_fragments_total", "Fragments (GOPs, mostly) of recordings written."),
		dropped:       describe("archive_dropped_fragments_total", "Fragments that the disk did not take, by the cause of the gap.", "cause"),
		queued:        describe("archive_queued_bytes", "Bytes that wait for the disk."),
		open:          describe("archive_open_files", "Files that are written, or kept open for those who watch a little behind."),
		writes:        describe("archive_write_seconds", "How long writing a fragment took."),
		syncs:         describe("archive_sync_seconds", "How long syncing a file took."),
		worst:         describe("archive_slowest_seconds", "The longest that one took of late.", "step"),
		total:         describe("archive_disk_bytes", "Size of the archive's disk."),
		free:          describe("archive_disk_free_bytes", "Free bytes of the archive's disk."),
		floor:         describe("archive_disk_min_free_bytes", "Bytes that recordings leave free."),
		hours:         describe("archive_hours_left", "Hours until the oldest recordings have to go, at the present rate."),
		trouble:       describe("archive_disk_trouble", "1 while the disk does not take recordings."),
		doubted:       describe("archive_clock_doubted", "1 while nothing is deleted by age, since the clock jumped."),
		recording:     describe("archive_recording", "1 while a source is recorded.", "camera", "source"),
		frames:        describe("archive_frames_total", "Frames that the archive took of a source.", "camera", "source"),
		droppedFrames: describe("archive_dropped_frames_total", "Of these, frames that are not recorded, by reason.", "camera", "source", "reason"),
		coverage:      describe("archive_coverage_ratio", "How much of the time that a source should have been recorded since the start it was.", "camera", "source"),
	}
}

func (c *archiveCollector) describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.written, c.fragments, c.dropped, c.queued, c.open, c.writes, c.syncs, c.worst, c.total, c.free, c.floor,
		c.hours, c.trouble, c.doubted, c.recording, c.frames, c.droppedFrames, c.coverage} {
		out <- d
	}
}

// collect shows nothing where there is no archive.
func (c *archiveCollector) collect(out chan<- prometheus.Metric, a *Archive) {
	if a == nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	counter(c.written, a.WrittenBytes)
	counter(c.fragments, a.Fragments)
	for cause, n := range a.Dropped {
		counter(c.dropped, n, cause)
	}
	for d, l := range map[*prometheus.Desc]Latency{c.writes: a.Writes, c.syncs: a.Syncs} {
		out <- prometheus.MustNewConstSummary(d, l.Count, l.Total.Seconds(), nil)
	}
	gauge(c.worst, a.Writes.Most.Seconds(), "write")
	gauge(c.worst, a.Syncs.Most.Seconds(), "sync")
	for d, n := range map[*prometheus.Desc]int64{c.queued: a.QueuedBytes, c.open: a.OpenFiles, c.total: a.TotalBytes, c.free: a.FreeBytes, c.floor: a.FloorBytes} {
		gauge(d, float64(n))
	}
	if a.HoursLeft >= 0 {
		gauge(c.hours, a.HoursLeft)
	}
	gauge(c.trouble, truth(a.InTrouble))
	gauge(c.doubted, truth(a.ClockDoubted))
	for _, s := range a.Sources {
		gauge(c.recording, truth(s.Recording), s.Camera, s.Source)
		counter(c.frames, s.Frames, s.Camera, s.Source)
		for reason, n := range s.Dropped {
			counter(c.droppedFrames, n, s.Camera, s.Source, reason)
		}
		if s.HasCoverage {
			gauge(c.coverage, s.Coverage, s.Camera, s.Source)
		}
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
