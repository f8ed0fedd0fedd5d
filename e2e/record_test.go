//go:build e2e

package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recordTimeVariable says for how long the rack is recorded, as Go writes a time.
const recordTimeVariable = "DROVER_RECORD_TIME"

// TestEveryFrameOfTheRackIsInItsFiles records cameras that reconnect, change their size,
// jump in time and lose packets, and holds what ffprobe counts in the files against
// what the archive was handed.
func TestEveryFrameOfTheRackIsInItsFiles(t *testing.T) {
	const cheap = "size=320x180,fps=10,bitrate=200,gop=1,"
	cameras := map[string]string{
		"plain": "codec=h264", "aac": "audio=aac", "bframes": "bframes=2,audio=aac", "h265": "codec=h265,audio=opus", "pcma": "audio=pcma",
		"close": "close=7,audio=aac", "reset": "reset=9", "change": "change=480x270@6,audio=aac", "back": "jump=-5@6,audio=aac", "ahead": "jump=3600@6",
		"loss": "loss=1", "stall": "stall=6,once=yes",
	}
	recordTime := 25 * time.Second
	if text := os.Getenv(recordTimeVariable); text != "" {
		var err error
		if recordTime, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	var settings []string
	for id, one := range cameras {
		settings = append(settings, id+":"+cheap+one)
	}
	r := startRack(t, settings...)
	s := newServer(t, "ingest:\n  stall_timeout: 3s\n")
	for id := range cameras {
		body := fmt.Sprintf(`{"id":%q,"url":%q,"record":{"mode":"continuous"}}`, id, r.url(id))
		if a := s.post("/api/v1/cameras", body); a.status != http.StatusCreated {
			t.Fatalf("POST of camera %s: %d %s", id, a.status, a.body)
		}
	}
	for id := range cameras {
		s.awaitState(id, "live")
	}
	time.Sleep(recordTime) // that is how long is recorded; nothing is waited for
	for id := range cameras {
		if a, err := s.do(http.MethodPatch, "/api/v1/cameras/"+id, strings.NewReader(`{"record":{"mode":"off"}}`), "application/json"); err != nil || a.status != http.StatusOK {
			t.Fatalf("PATCH of camera %s: %v %d %s", id, err, a.status, a.body)
		}
	}
	s.await("nothing waits for the disk", func() error {
		if n := s.metric("drover_archive_queued_bytes"); n != 0 {
			return fmt.Errorf("%v bytes do", n)
		}
		return nil
	})
	handed, left := map[string]int{}, map[string]int{}
	for id := range cameras {
		handed[id] = int(s.metric(`drover_archive_frames_total{camera="` + id + `"`))
		left[id] = int(s.metric(`drover_archive_dropped_frames_total{camera="` + id + `"`))
		if missed := s.metric(`drover_subscriber_dropped_frames_total{camera="` + id + `",reason="full",source="main",subscriber="archive"`); missed > 0 {
			t.Errorf("%s: the archive was too slow for %v frames", id, missed)
		}
	}
	s.stop()
	archive := filepath.Join(s.folder, "archive")
	for id := range cameras {
		counted, files := countFrames(t, filepath.Join(archive, id))
		if handed[id] == 0 || counted != handed[id]-left[id] {
			t.Errorf("%s: ffprobe counts %d frames in %d files; the archive was handed %d, of which %d were of no use", id, counted, files, handed[id], left[id])
		}
		t.Logf("%s: %d frames in %d files, %d of no use", id, counted, files, left[id])
	}
	t.Log(run(t, os.Getenv(binaryVariable), "archive", "verify", "--checksums", "--archive.dir", archive))
}

// metric adds up the series that begin with a text, of a name alone or of labels too.
func (s *server) metric(prefix string) float64 {
	s.t.Helper()
	sum := 0.0
	for line := range strings.Lines(string(s.get("/metrics"))) {
		if strings.HasPrefix(line, prefix) {
			value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(strings.TrimSpace(line), ' ')+1:]), 64)
			if err != nil {
				s.t.Fatalf("%s: %v", line, err)
			}
			sum += value
		}
	}
	return sum
}

// countFrames adds up what ffprobe counts in the files below a folder.
func countFrames(t *testing.T, folder string) (frames, files int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		output := run(t, "ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", path)
		for line := range strings.Lines(output) {
			n, err := strconv.Atoi(strings.Trim(strings.TrimSpace(line), ","))
			if err != nil {
				t.Errorf("%s: %q", path, line)
			}
			frames += n
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return frames, files
}
