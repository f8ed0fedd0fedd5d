package hls

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/hls/conform"
)

// A stage is a hub with one camera on a real server.
type stage struct {
	t     testing.TB
	hub   *Hub
	ring  *ring.Ring
	clips *clipSource
	url   string
}

func newStage(t testing.TB, config Config, sound bool) *stage {
	t.Helper()
	pool := media.NewPool()
	hub, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, hub: hub, ring: ring.New(ring.Limits{})}
	s.clips = newClipSource(t, pool, s.ring, sound)
	if err := hub.Attach("door", "main", s.ring); err != nil {
		t.Fatal(err)
	}
	// A clip is as long as what a ring keeps: the muxer must be there first.
	await(t, func() bool { return len(s.ring.Subscribers()) == 1 })
	server := httptest.NewServer(ended(NewHandler(hub, nil)))
	s.url = server.URL + "/hls/door/"
	t.Cleanup(func() {
		server.Close()
		hub.Close()
		s.ring.Close()
		s.clips.close()
		if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("frames leaked: %+v", stats)
		}
		if n := hub.Bytes(); n != 0 {
			t.Errorf("the hub counts %d bytes as held", n)
		}
	})
	return s
}

// ended serves everything below /end as well, with playlists that end, so that
// players stop.
func ended(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, end := strings.CutPrefix(r.URL.Path, "/end")
		if !end {
			next.ServeHTTP(w, r)
			return
		}
		recorder := httptest.NewRecorder()
		inner := r.Clone(r.Context())
		inner.URL.Path = path
		inner.Header.Del("Accept-Encoding")
		next.ServeHTTP(recorder, inner)
		body := recorder.Body.Bytes()
		if strings.HasSuffix(path, ".index.m3u8") || strings.HasSuffix(path, ".live.m3u8") {
			body = append(body, "#EXT-X-ENDLIST\n"...)
		}
		w.Header().Set("Content-Type", recorder.Header().Get("Content-Type"))
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(body)
	})
}

// settle returns when the muxer has taken everything that was written.
func (s *stage) settle(segments uint64) {
	s.t.Helper()
	await(s.t, func() bool {
		stats, _ := s.hub.Stats("door")
		return stats.Sources[0].Segments >= segments
	})
}

func (s *stage) endURL(path string) string {
	return strings.Replace(s.url, "/hls/", "/end/hls/", 1) + path
}

func (s *stage) load(path string) []byte {
	s.t.Helper()
	response, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s %v", path, response.Status, err)
	}
	return data
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

// probe counts decoded frames by codec, and returns each video packet's time.
func probe(t testing.TB, url string) (counts string, times []float64) {
	t.Helper()
	// Programs repeat the streams; sections of csv do not say so.
	counts = execute(t, "ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_entries", "stream=codec_name,codec_tag_string,width,nb_read_frames", "-of", "default=nw=1:nk=1", url)
	for line := range strings.Lines(execute(t, "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_packets", "-show_entries", "packet=dts_time", "-of", "csv=p=0", url)) {
		field, _, _ := strings.Cut(strings.TrimSpace(line), ",") // side data may follow, and be a line of its own
		if seconds, err := strconv.ParseFloat(field, 64); err == nil {
			times = append(times, seconds)
		}
	}
	return counts, times
}

func TestPlayersDecodeEveryClipWithoutAComplaint(t *testing.T) {
	for _, c := range []struct {
		clip      string
		sound, ts bool
		codecs    string
		tag       string
	}{
		{"h264", true, true, "avc1.", "avc1"},
		{"h264", false, true, "avc1.", "avc1"},
		{"h264-bframes", true, true, "avc1.", "avc1"},
		{"h264-slices", false, true, "avc1.", "avc1"},
		{"h265", true, false, "hvc1.1.6.L", "hvc1"},
		{"h265-bframes", false, false, "hvc1.1.6.L", "hvc1"},
	} {
		t.Run(fmt.Sprintf("%s sound=%v", c.clip, c.sound), func(t *testing.T) {
			s := newStage(t, Config{}, c.sound)
			s.clips.play(loadClip(t, c.clip), 2)
			s.settle(7)
			multivariant := string(s.load("index.m3u8"))
			if !strings.Contains(multivariant, `CODECS="`+c.codecs) || strings.Contains(multivariant, "mp4a.40.2") != c.sound ||
				!strings.Contains(multivariant, "RESOLUTION=640x360,FRAME-RATE=25.000") {
				t.Errorf("multivariant\n%s", multivariant)
			}
			paths := []string{"index.m3u8", "live.m3u8"}
			if c.ts {
				paths = append(paths, "ts/index.m3u8")
			}
			for _, path := range paths {
				url := s.endURL(path)
				if said := execute(t, "ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", url, "-f", "null", "-"); said != "" {
					t.Errorf("%s: ffmpeg says %s", path, said)
				}
				counts, times := probe(t, url)
				if !strings.Contains(counts, "250") || c.sound != strings.Contains(counts, "aac") || !strings.HasPrefix(path, "ts/") && !strings.Contains(counts, c.tag) {
					t.Errorf("%s: ffprobe counts %q", path, counts)
				}
				if len(times) != 250 {
					t.Errorf("%s: %d pictures, want 250", path, len(times))
				}
				for i := 1; i < len(times); i++ {
					if step := times[i] - times[i-1]; math.Abs(step-0.04) > 0.0001 {
						t.Errorf("%s: picture %d comes %.4f s after the one before", path, i, step)
						break
					}
				}
			}
			if c.ts {
				checkTransportStream(t, s)
			}
			checkDurations(t, s)
		})
	}
}

// checkTransportStream reads all segments as one stream, over their seams.
func checkTransportStream(t *testing.T, s *stage) {
	t.Helper()
	p, err := conform.Parse(s.load("ts/main.index.m3u8"))
	if err != nil {
		t.Fatal(err)
	}
	var stream []byte
	for _, segment := range p.Segments {
		stream = append(stream, s.load("ts/"+segment.URI)...)
	}
	file := filepath.Join(t.TempDir(), "all.ts")
	if err := os.WriteFile(file, stream, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := execute(t, "ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", file, "-f", "null", "-"); said != "" {
		t.Errorf("ffmpeg says of the whole stream: %s", said)
	}
	report := execute(t, "tsreport", "-buffering", file)
	if strings.Contains(report, "###") || !strings.Contains(report, "Bad (>.1s) gaps: 0") || !strings.Contains(report, "duplicate packets: 0") {
		t.Errorf("tsreport: %s", report)
	}
}

// checkDurations holds EXTINF against what the segments themselves say.
func checkDurations(t *testing.T, s *stage) {
	t.Helper()
	p, err := conform.Parse(s.load("main.index.m3u8"))
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range p.Segments {
		file := filepath.Join(t.TempDir(), "segment.mp4")
		data := append(bytes.Clone(s.load(segment.MapURI)), s.load(segment.URI)...)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, field := range strings.Fields(execute(t, "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_packets", "-show_entries", "packet=duration_time", "-of", "csv=p=0", file)) {
			seconds, err := strconv.ParseFloat(strings.Trim(field, ","), 64)
			if err != nil {
				t.Fatal(err)
			}
			total += seconds
		}
		if math.Abs(total-segment.Duration.Seconds()) > 0.0005 {
			t.Errorf("segment %s holds %.4f s, EXTINF says %v", segment.URI, total, segment.Duration)
		}
	}
}

func TestPlayersFollowAReconnectAndAChangeOfResolution(t *testing.T) {
	s := newStage(t, Config{Window: 12}, true)
	s.clips.play(loadClip(t, "h264"), 1)
	s.clips.epoch++
	s.clips.play(loadClip(t, "h264"), 1)
	s.clips.epoch++
	s.clips.play(loadClip(t, "h264-small"), 1)
	s.settle(11)
	p, err := conform.Parse(s.load("main.index.m3u8"))
	if err != nil {
		t.Fatal(err)
	}
	breaks := 0
	for _, segment := range p.Segments {
		if segment.Discontinuity {
			breaks++
		}
	}
	if breaks != 3 || !strings.Contains(string(s.load("index.m3u8")), "RESOLUTION=480x270") {
		t.Errorf("%d discontinuities\n%s", breaks, s.load("index.m3u8"))
	}
	// ffmpeg reads the first init segment only, so that what it makes of a
	// change is seen in MPEG-TS, and in fragmented MP4 period by period.
	if frames := decodedFrames(t, s.endURL("ts/index.m3u8")); frames < 545 { // of 550: it may drop one at each change
		t.Errorf("ts: %d pictures", frames)
	}
	for i, period := range s.periods(p) {
		if want := []int{200, 200, 150}[i]; decodedFrames(t, period) != want {
			t.Errorf("period %d: not %d pictures", i, want)
		}
	}
}

// periods writes each stretch between two discontinuities to a file.
func (s *stage) periods(p *conform.Playlist) (files []string) {
	dir := s.t.TempDir()
	var data []byte
	flush := func() {
		if data != nil {
			files = append(files, filepath.Join(dir, strconv.Itoa(len(files))+".mp4"))
			if err := os.WriteFile(files[len(files)-1], data, 0o600); err != nil {
				s.t.Fatal(err)
			}
		}
		data = nil
	}
	for _, segment := range p.Segments {
		if segment.Discontinuity {
			flush()
			data = s.load(segment.MapURI)
		}
		data = append(data, s.load(segment.URI)...)
	}
	flush()
	return files
}

// decodedFrames counts pictures; anything that ffmpeg says is an error.
func decodedFrames(t testing.TB, url string) (frames int) {
	t.Helper()
	for line := range strings.Lines(execute(t, "ffmpeg", "-nostdin", "-v", "error", "-i", url, "-map", "0:v:0", "-f", "framecrc", "-")) {
		if strings.HasPrefix(line, "0,") {
			frames++
		} else if !strings.HasPrefix(line, "#") {
			t.Errorf("ffmpeg says %s", line)
		}
	}
	return frames
}
