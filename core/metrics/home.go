package metrics

import "github.com/prometheus/client_golang/prometheus"

// SecondHome is what became of copies of recordings.
type SecondHome struct {
	Well bool // it takes copies

	Objects, Files, Bytes uint64 // copied and verified
	SentBytes             uint64 // those of objects that failed too
	Failures              map[string]uint64
	Missing               uint64 // files that were to be copied and were not on the disk
	Deleted               uint64 // objects
	Reads, ReadBytes      uint64 // for viewers

	QueuedFiles, QueuedBytes  int64
	OldestQueuedSeconds       float64 // age of the oldest footage without a copy; 0: there is none
	StoredObjects, StoredSize int64
}

// A homeCollector turns SecondHome into metrics.
type homeCollector struct {
	well, objects, files, bytes, sent, failures, missing, deleted, reads, readBytes *prometheus.Desc
	queued, queuedBytes, oldest, stored, storedBytes                                *prometheus.Desc
}

func newHomeCollector() homeCollector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("drover_second_home_"+name, help, labels, nil)
	}
	return homeCollector{
		well:        describe("up", "Whether the second home takes copies of recordings."),
		objects:     describe("copied_objects_total", "Objects that were sent to the second home and verified."),
		files:       describe("copied_files_total", "Recorded files in these objects."),
		bytes:       describe("copied_bytes_total", "Bytes in these objects."),
		sent:        describe("sent_bytes_total", "Bytes sent to the second home, those of objects that failed too."),
		failures:    describe("failures_total", "Requests to the second home that failed, by reason.", "reason"),
		missing:     describe("missing_files_total", "Files that were to be copied and were not on the disk."),
		deleted:     describe("deleted_objects_total", "Objects deleted in the second home."),
		reads:       describe("reads_total", "Ranges read from the second home for viewers."),
		readBytes:   describe("read_bytes_total", "Bytes in these ranges."),
		queued:      describe("queued_files", "Recorded files that are to be copied."),
		queuedBytes: describe("queued_bytes", "Bytes in these files."),
		oldest:      describe("queued_oldest_seconds", "Age of the oldest footage that is to be copied."),
		stored:      describe("stored_objects", "Objects in the second home."),
		storedBytes: describe("stored_bytes", "Bytes in these objects."),
	}
}

func (c homeCollector) describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.well, c.objects, c.files, c.bytes, c.sent, c.failures, c.missing, c.deleted, c.reads, c.readBytes,
		c.queued, c.queuedBytes, c.oldest, c.stored, c.storedBytes} {
		out <- d
	}
}

// collect shows nothing where there is no second home.
func (c homeCollector) collect(out chan<- prometheus.Metric, h *SecondHome) {
	if h == nil {
		return
	}
	up := 0.0
	if h.Well {
		up = 1
	}
	for d, value := range map[*prometheus.Desc]float64{
		c.well: up, c.queued: float64(h.QueuedFiles), c.queuedBytes: float64(h.QueuedBytes), c.oldest: h.OldestQueuedSeconds,
		c.stored: float64(h.StoredObjects), c.storedBytes: float64(h.StoredSize),
	} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	for d, value := range map[*prometheus.Desc]uint64{
		c.objects: h.Objects, c.files: h.Files, c.bytes: h.Bytes, c.sent: h.SentBytes, c.missing: h.Missing, c.deleted: h.Deleted,
		c.reads: h.Reads, c.readBytes: h.ReadBytes,
	} {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value))
	}
	for reason, n := range h.Failures {
		out <- prometheus.MustNewConstMetric(c.failures, prometheus.CounterValue, float64(n), reason)
	}
}
