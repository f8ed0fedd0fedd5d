package metrics

import (
	"strings"
	"testing"
	"time"
)

func TestAScrapeShowsHowRecordingIsDoing(t *testing.T) {
	got := scrape(t, Snapshot{Archive: &Archive{
		WrittenBytes: 1, Fragments: 2, Dropped: map[string]uint64{"disk_slow": 3}, QueuedBytes: 4, OpenFiles: 5,
		Writes: Latency{6, 7 * time.Second, 8 * time.Second}, Syncs: Latency{9, 10 * time.Second, 11 * time.Second},
		TotalBytes: 12, FreeBytes: 13, FloorBytes: 14, HoursLeft: 15, InTrouble: true,
		Sources: []RecordedSource{
			{Camera: "door", Source: "main", Recording: true, Frames: 16, Dropped: map[string]uint64{"parameters": 17}, Coverage: 0.75, HasCoverage: true},
			{Camera: "yard", Source: "main"},
		},
	}})
	for _, want := range []string{
		`drover_archive_written_bytes_total 1`, `drover_archive_fragments_total 2`, `drover_archive_dropped_fragments_total{cause="disk_slow"} 3`,
		`drover_archive_queued_bytes 4`, `drover_archive_open_files 5`, `drover_archive_write_seconds_count 6`, `drover_archive_write_seconds_sum 7`,
		`drover_archive_slowest_seconds{step="write"} 8`, `drover_archive_sync_seconds_count 9`, `drover_archive_slowest_seconds{step="sync"} 11`,
		`drover_archive_disk_bytes 12`, `drover_archive_disk_free_bytes 13`, `drover_archive_disk_min_free_bytes 14`, `drover_archive_hours_left 15`,
		`drover_archive_disk_trouble 1`, `drover_archive_clock_doubted 0`, `drover_archive_recording{camera="door",source="main"} 1`,
		`drover_archive_frames_total{camera="door",source="main"} 16`,
		`drover_archive_dropped_frames_total{camera="door",reason="parameters",source="main"} 17`,
		`drover_archive_coverage_ratio{camera="door",source="main"} 0.75`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if strings.Contains(got, `drover_archive_coverage_ratio{camera="yard"`) {
		t.Error("a source that was never to be recorded has a share")
	}
	if strings.Contains(scrape(t, Snapshot{}), "drover_archive") {
		t.Error("without an archive there are figures of one")
	}
}
