//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// toolTime bounds every tool. ffmpeg ignores a first SIGTERM, so it is killed.
const toolTime = 90 * time.Second

// run returns all that a tool prints, and fails the test when the tool does.
func run(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), toolTime)
	defer cancel()
	command := exec.CommandContext(ctx, name, arguments...)
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// checkCodecs asks ffprobe what a playlist holds.
func checkCodecs(t *testing.T, url string, want ...string) {
	t.Helper()
	output := run(t, "ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", url)
	var got []string
	for _, line := range strings.Fields(output) {
		// ffprobe lists a stream once for each program it is in, too.
		if name := strings.Trim(line, ","); !slices.Contains(got, name) {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("ffprobe finds %v in %s, want %v", got, url, want)
	}
}

// checkDecodes lets ffmpeg decode what is live for some seconds; it has nothing to
// complain of.
func checkDecodes(t *testing.T, url string, seconds int, pace pace) {
	t.Helper()
	arguments := []string{"-nostdin", "-v", "error", "-i", url, "-t", strconv.Itoa(seconds)}
	arguments = append(arguments, pace.arguments()...)
	if said := run(t, "ffmpeg", append(arguments, "-f", "null", "-")...); said != "" {
		t.Errorf("ffmpeg about %s: %s", url, said)
	}
}

// A pace says whether a camera sends its pictures when its timestamps say.
type pace bool

const (
	steadyPace pace = true
	// workingPace is of a camera that encodes on this very machine: when that is
	// busy it falls behind, which Drover's timeline follows. ffmpeg then must not
	// press the pictures into a raster of its own, and complain that two of them
	// fall on one line of it.
	workingPace pace = false
)

func (p pace) arguments() []string {
	if p == steadyPace {
		return nil
	}
	return []string{"-fps_mode", "passthrough", "-enc_time_base", "-1"}
}

// maxStep is the longest from one packet of a stream to the next: one and a half
// pictures of 25 a second, or AAC frames of 1024 samples at 16 kHz.
var maxStep = map[string]float64{"video": 0.060, "audio": 0.096}

// checkTimestamps reads packets for some seconds: none goes back, none is missing.
func checkTimestamps(t *testing.T, url string, seconds int) {
	t.Helper()
	output := run(t, "ffprobe", "-v", "error", "-show_entries", "packet=codec_type,dts_time,pts_time",
		"-read_intervals", fmt.Sprintf("%%+%d", seconds), "-of", "json", url)
	var report struct {
		Packets []struct {
			Type string `json:"codec_type"`
			DTS  string `json:"dts_time"`
			PTS  string `json:"pts_time"`
		}
	}
	if err := json.Unmarshal([]byte(output), &report); err != nil {
		t.Fatalf("ffprobe of %s: %v\n%.500s", url, err, output)
	}
	last := map[string]float64{}
	count := map[string]int{}
	for _, packet := range report.Packets {
		dts, err := strconv.ParseFloat(packet.DTS, 64)
		if err != nil {
			t.Fatalf("a %s packet has the DTS %q", packet.Type, packet.DTS)
		}
		pts, err := strconv.ParseFloat(packet.PTS, 64)
		if err != nil || pts < dts-0.001 {
			t.Errorf("a %s packet has PTS %q before DTS %q", packet.Type, packet.PTS, packet.DTS)
		}
		if before, known := last[packet.Type]; known {
			if step := dts - before; step <= 0 || step > maxStep[packet.Type] {
				t.Errorf("%s: a %s packet at %.3f follows one at %.3f", url, packet.Type, dts, before)
			}
		}
		last[packet.Type] = dts
		count[packet.Type]++
	}
	if want := seconds * 20; count["video"] < want {
		t.Errorf("%s brought %d pictures in %d s, want at least %d", url, count["video"], seconds, want)
	}
}
