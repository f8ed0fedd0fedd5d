package play_test

import (
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
)

func TestAClosedRangeIsListedAsItLiesOnDisk(t *testing.T) {
	r := newRig(t)
	take := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	f := take.Record(2)
	got := r.playlist("index.m3u8" + span(0, time.Hour))
	t.Log(got)
	name := "main/20261130T120000.000Z-1.mp4"
	for _, want := range []string{"#EXTM3U\n#EXT-X-VERSION:7\n", "#EXT-X-PLAYLIST-TYPE:VOD\n", "#EXT-X-INDEPENDENT-SEGMENTS\n", "#EXT-X-ENDLIST\n",
		"#EXT-X-PROGRAM-DATE-TIME:2026-11-30T12:00:00.000Z\n", `#EXT-X-MAP:URI="` + name + `",BYTERANGE="`} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if n := len(lines(got, "main/")); n == 0 || n != len(lines(got, "#EXT-X-BYTERANGE:")) {
		t.Errorf("%d entries", n)
	}
	w := r.get("index.m3u8" + span(0, time.Hour))
	if got := w.Header().Get("Cache-Control"); got != "public, max-age=1, stale-if-error=4" {
		t.Errorf("touching now: %s", got)
	}
	r.set(2 * time.Hour)
	w = r.get("index.m3u8" + span(0, time.Hour))
	if got := w.Header().Get("Cache-Control"); got != "public, max-age=300" {
		t.Errorf("long ago: %s", got)
	}
	if w := r.get("index.m3u8"+span(0, time.Hour), "If-None-Match", w.Header().Get("ETag")); w.Code != http.StatusNotModified {
		t.Errorf("known already: %d", w.Code)
	}
	_ = f
}

func execute(t testing.TB, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func TestFFmpegPlaysARangeOverAReconnectWithoutAComplaint(t *testing.T) {
	r := newRig(t)
	clip := archivetest.LoadClip(t, "h264")
	one := r.Take(clip, 1, 0)
	one.Record(3)
	one.Record(3)
	two := r.Take(clip, 2, 10*time.Minute)
	two.Record(2)
	r.set(time.Hour)
	server := r.server()
	url := server.URL + "/archive/door/index.m3u8"
	if out := execute(t, "ffmpeg", "-v", "error", "-i", url+span(0, 30*time.Minute), "-f", "null", "-"); out != "" {
		t.Errorf("ffmpeg says %s", out)
	}
	for _, c := range []struct{ query, count, entry string }{
		// Behind a discontinuity, where time goes back, ffprobe decodes one segment less
		// than it reads.
		{span(0, 30*time.Minute), "-count_packets", "nb_read_packets"},
		{span(0, 5*time.Minute), "-count_frames", "nb_read_frames"},
		{span(9*time.Minute, 30*time.Minute), "-count_frames", "nb_read_frames"},
	} {
		want := strconv.Itoa(map[string]int{span(0, 30*time.Minute): 8, span(0, 5*time.Minute): 6, span(9*time.Minute, 30*time.Minute): 2}[c.query] * len(clip.Pictures))
		out := execute(t, "ffprobe", "-v", "error", c.count, "-select_streams", "v:0", "-show_entries", "stream="+c.entry, "-of", "default=nw=1:nk=1", url+c.query)
		if got, _, _ := strings.Cut(out, "\n"); got != want {
			t.Errorf("%s: ffprobe counts %s, want %s", c.query, got, want)
		}
	}
	if n := len(lines(r.playlist("index.m3u8"+span(0, 30*time.Minute)), "#EXT-X-DISCONTINUITY")); n != 1 {
		t.Errorf("%d discontinuities", n)
	}
}
