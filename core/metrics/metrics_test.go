package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/cmcd"
	"github.com/drover-video/drover/core/wire"
)

func scrape(t *testing.T, snapshot Snapshot) string {
	t.Helper()
	answer := httptest.NewRecorder()
	Handler("1.2.3", func() Snapshot { return snapshot }).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func TestAScrapeShowsTheSnapshot(t *testing.T) {
	got := scrape(t, Snapshot{PoolUsedBytes: 5, PoolIdleBytes: 6, Serving: Serving{MemoryFiles: 30, MemoryFileBytes: 31, Wire: wire.Stats{Open: 32, Ahead: 33, KernelBytes: 34, Blocked: 35, BlockedBytes: 36}}, Refused: map[string]uint64{"viewers": 23}, Cameras: []Camera{
		{ID: "door", State: camera.StateLive, Viewers: 3, Requests: 10, Sent: 11, Sources: []Source{{
			Name: "main", Frames: 12, Bytes: 13, LostPackets: 14, Reordered: 21, Dropped: 22, Reconnects: 15, RingBytes: 16,
			Drops:    []Drop{{"hls", "full", 17}, {"hls", "awaiting_keyframe", 18}},
			Discards: map[string]uint64{"late": 19}, HLSDrops: map[string]uint64{"short": 20},
			HLS: HLS{HeldBytes: 40, Segments: 41, Restarts: 42, Live: true, Parts: 43, LiveRestarts: 44},
		}}},
		{ID: "yard", State: camera.StateLive},
	}})
	for _, want := range []string{
		`drover_build_info{version="1.2.3"} 1`,
		`drover_cameras{state="live"} 2`,
		`drover_cameras{state="backoff"} 0`,
		`drover_camera_viewers{camera="door"} 3`,
		`drover_hls_requests_total{camera="door"} 10`,
		`drover_hls_sent_bytes_total{camera="door"} 11`,
		`drover_source_frames_total{camera="door",source="main"} 12`,
		`drover_source_received_bytes_total{camera="door",source="main"} 13`,
		`drover_source_lost_packets_total{camera="door",source="main"} 14`,
		`drover_source_reordered_packets_total{camera="door",source="main"} 21`,
		`drover_source_kernel_dropped_packets_total{camera="door",source="main"} 22`,
		`drover_source_reconnects_total{camera="door",source="main"} 15`,
		`drover_source_ring_bytes{camera="door",source="main"} 16`,
		`drover_subscriber_dropped_frames_total{camera="door",reason="full",source="main",subscriber="hls"} 17`,
		`drover_subscriber_dropped_frames_total{camera="door",reason="awaiting_keyframe",source="main",subscriber="hls"} 18`,
		`drover_source_discards_total{camera="door",reason="late",source="main"} 19`,
		`drover_hls_dropped_frames_total{camera="door",reason="short",source="main"} 20`,
		`drover_hls_held_bytes{camera="door",source="main"} 40`,
		`drover_hls_segments_total{camera="door",source="main"} 41`,
		`drover_hls_playlist_restarts_total{camera="door",playlist="index",source="main"} 42`,
		`drover_hls_low_latency{camera="door",source="main"} 1`,
		`drover_hls_parts_total{camera="door",source="main"} 43`,
		`drover_hls_playlist_restarts_total{camera="door",playlist="live",source="main"} 44`,
		`drover_frame_pool_bytes{use="used"} 5`,
		`drover_memory_files 30`,
		`drover_memory_file_bytes 31`,
		`drover_http_connections 32`,
		`drover_http_ahead_requests_total 33`,
		`drover_http_kernel_sent_bytes_total 34`,
		`drover_http_blocked_connections 35`,
		`drover_http_blocked_bytes 36`,
		`drover_camera_viewers{camera="yard"} 0`,
		`drover_refused_total{reason="viewers"} 23`,
		`go_goroutines `,
		`process_resident_memory_bytes `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
}

func TestWhatPlayersSayIsShownOfCamerasThatHaveSome(t *testing.T) {
	f := cmcd.Figures{Reports: 9, Starts: 2, StartTime: 3 * time.Second, Stalls: 4, StallTime: 5 * time.Second,
		Errors: map[string]uint64{"a": 1, "b": 2}, Players: 6, Playing: 3, Stalled: 2, Bitrate: 7}
	f.StartClasses = [7]uint64{0, 0, 1, 2, 2, 2, 2}
	f.Latencies.P50, f.Latencies.P95 = time.Second, 2*time.Second
	got := scrape(t, Snapshot{Cameras: []Camera{{ID: "door", Players: f}, {ID: "yard"}}})
	for _, want := range []string{
		`drover_player_reports_total{camera="door"} 9`,
		`drover_players{camera="door",state="playing"} 3`,
		`drover_players{camera="door",state="stalled"} 2`,
		`drover_players{camera="door",state="other"} 1`,
		`drover_player_start_seconds_bucket{camera="door",le="1"} 1`,
		`drover_player_start_seconds_bucket{camera="door",le="+Inf"} 2`,
		`drover_player_start_seconds_sum{camera="door"} 3`,
		`drover_player_stalls_total{camera="door"} 4`,
		`drover_player_stall_seconds_total{camera="door"} 5`,
		`drover_player_errors_total{camera="door"} 3`,
		`drover_player_latency_seconds{camera="door",quantile="0.95"} 2`,
		`drover_player_bitrate_bps{camera="door"} 7`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if strings.Contains(got, `drover_players{camera="yard"`) {
		t.Error("a camera without players is shown")
	}
}

func TestSubscribersOfOneNameAreAddedUp(t *testing.T) {
	got := scrape(t, Snapshot{Cameras: []Camera{{ID: "door", Sources: []Source{{Name: "main",
		Drops: []Drop{{"ai", "full", 1}, {"ai", "full", 2}}}}}}})
	if want := `subscriber="ai"} 3`; !strings.Contains(got, want) {
		t.Errorf("missing %s in\n%s", want, got)
	}
}

func TestAScrapeOfNothingWorks(t *testing.T) {
	if got := scrape(t, Snapshot{}); !strings.Contains(got, `drover_cameras{state="live"} 0`) {
		t.Errorf("got\n%s", got)
	}
}
