package metrics

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestTheDashboardAsksForMetricsThatThereAreAndForAllOfThem(t *testing.T) {
	text, err := os.ReadFile("../../configs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		newCollector("1.2.3", nil).Describe(described)
	}()
	name := regexp.MustCompile(`fqName: "(\w+)"`)
	for d := range described {
		there[name.FindStringSubmatch(d.String())[1]] = true
	}
	asked := map[string]bool{}
	for _, one := range regexp.MustCompile(`drover_\w+`).FindAllString(string(text), -1) {
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if whole, is := strings.CutSuffix(one, part); is && there[whole] {
				one = whole
			}
		}
		asked[one] = true
		if !there[one] {
			t.Errorf("there is no %s", one)
		}
	}
	// What is of use beside others alone, or says the same by another name.
	for _, other := range []string{"drover_source_frames_total", "drover_source_ring_bytes", "drover_source_discards_total", "drover_source_reordered_packets_total",
		"drover_source_kernel_dropped_packets_total", "drover_memory_files", "drover_hls_segments_total", "drover_player_reports_total", "drover_player_bitrate_bps", "drover_player_stalls_total"} {
		asked[other] = true
	}
	for one := range there {
		if !asked[one] {
			t.Errorf("%s is on no panel", one)
		}
	}
}
