package export_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/export"
)

// A probe is what ffprobe says of a clip.
type probe struct {
	Streams []struct {
		CodecType string `json:"codec_type"`
		Packets   string `json:"nb_read_packets"`
		Frames    string `json:"nb_read_frames"`
		StartTime string `json:"start_time"`
		Duration  string `json:"duration"`
	} `json:"streams"`
	Format struct {
		Duration string            `json:"duration"`
		Tags     map[string]string `json:"tags"`
	} `json:"format"`
}

// fetch makes a clip, has it decoded without a complaint, and probes it.
func fetch(t *testing.T, r *rig, request export.Request) ([]byte, *http.Response, probe) {
	t.Helper()
	request.Camera = "door"
	clip, err := r.export.Clip(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Close()
	w := httptest.NewRecorder()
	clip.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	body := w.Body.Bytes()
	if w.Code != http.StatusOK || int64(len(body)) != clip.Size {
		t.Fatalf("status %d, %d bytes, want %d", w.Code, len(body), clip.Size)
	}
	path := filepath.Join(t.TempDir(), "clip.mp4")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", path, "-f", "null", "-").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("ffmpeg: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-count_packets", "-count_frames", "-show_streams", "-show_format", "-of", "json", path).Output()
	if err != nil {
		t.Fatalf("ffprobe: %v", err)
	}
	var p probe
	if err := json.Unmarshal(out, &p); err != nil || len(p.Streams) != 2 {
		t.Fatalf("ffprobe: %v\n%s", err, out)
	}
	return body, w.Result(), p
}

func seconds(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func near(got, want float64) bool { return got > want-0.09 && got < want+0.09 }

func TestAClipHoldsWhatWasAskedForFromTheKeyframeBefore(t *testing.T) {
	for _, name := range []string{"h264", "h264-bframes", "h265-bframes"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			k := r.take(loadClip(t, name), 1, 0)
			for range 4 {
				r.record(k, 2) // 16 s each
			}
			// Over three files; the clip's GOPs are of two seconds.
			_, response, p := fetch(t, r, export.Request{From: noon.Add(15 * time.Second), To: noon.Add(41 * time.Second)})
			for _, s := range p.Streams {
				if !near(seconds(t, s.StartTime), 0) || !near(seconds(t, s.Duration), 27) {
					t.Errorf("%s begins at %s and lasts %s s, want 0 and 27", s.CodecType, s.StartTime, s.Duration)
				}
				if s.CodecType == "video" && (seconds(t, s.Packets)-seconds(t, s.Frames) > 2 || seconds(t, s.Packets) < 27*25-2 || seconds(t, s.Packets) > 27*25+2) {
					t.Errorf("%s packets and %s frames, want %d", s.Packets, s.Frames, 27*25)
				}
			}
			if from, to := response.Header.Get("Drover-Clip-From"), response.Header.Get("Drover-Clip-To"); from != "2026-11-30T12:00:14.000Z" || to != "2026-11-30T12:00:41.000Z" {
				t.Errorf("told from %s to %s", from, to)
			}
			if got := p.Format.Tags["date"]; got != "2026-11-30T12:00:14.000Z" {
				t.Errorf("the file says it was recorded at %q", got)
			}
		})
	}
}

func TestGapsAreClosedOrKept(t *testing.T) {
	r := newRig(t)
	clip := loadClip(t, "h264")
	r.record(r.take(clip, 1, 0), 1)                      // 12:00:00 to :08
	r.record(r.take(clip, 2, 20*time.Second), 1)         // :20 to :28
	r.record(r.take(clip, 3, 28500*time.Millisecond), 1) // half a second later, another epoch
	request := export.Request{From: noon.Add(-time.Minute), To: noon.Add(time.Minute)}
	for _, c := range []struct {
		gaps export.Gaps
		want float64
	}{{export.CloseGaps, 24}, {export.KeepGaps, 36.5}} {
		request.Gaps = c.gaps
		_, response, p := fetch(t, r, request)
		if got := response.Header.Get("Drover-Clip-Gaps"); got != "2" {
			t.Errorf("%s gaps told, want 2", got)
		}
		for _, s := range p.Streams {
			if !near(seconds(t, s.Duration), c.want) {
				t.Errorf("gaps %d: %s lasts %s s, want %v", c.gaps, s.CodecType, s.Duration, c.want)
			}
			if s.CodecType == "video" && s.Frames != "600" {
				t.Errorf("gaps %d: %s pictures, want 600", c.gaps, s.Frames)
			}
		}
	}
}

func TestAGapOfHalfADayIsKeptByPicturesAndSound(t *testing.T) {
	const gap = 12 * time.Hour
	r := newRig(t)
	clip := loadClip(t, "h264")
	r.record(r.take(clip, 1, 0), 1)
	r.record(r.take(clip, 2, gap), 1)
	_, _, p := fetch(t, r, export.Request{From: noon, To: noon.Add(gap + time.Minute), Gaps: export.KeepGaps})
	for _, s := range p.Streams {
		if want := gap.Seconds() + 8; !near(seconds(t, s.Duration), want) || !near(seconds(t, s.StartTime), 0) {
			t.Errorf("%s begins at %s and lasts %s s, want 0 and %v", s.CodecType, s.StartTime, s.Duration, want)
		}
	}
}

func TestAChangeOfParametersInMidClipIsDecoded(t *testing.T) {
	r := newRig(t)
	r.record(r.take(loadClip(t, "h264"), 1, 0), 1)
	r.record(r.take(loadClip(t, "h264-small"), 2, 8*time.Second), 1)
	_, _, p := fetch(t, r, export.Request{From: noon, To: noon.Add(time.Minute)})
	if p.Streams[0].Frames != "400" {
		t.Errorf("%s pictures, want 400", p.Streams[0].Frames)
	}
}

func TestAnInterruptedDownloadGoesOn(t *testing.T) {
	r := newRig(t)
	r.record(r.take(loadClip(t, "h264"), 1, 0), 1)
	request := export.Request{From: noon, To: noon.Add(5 * time.Second)}
	whole, response, _ := fetch(t, r, request)
	request.Camera = "door"
	clip, err := r.export.Clip(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Close()
	for _, from := range []int{0, 1, 500, len(whole) / 2, len(whole) - 1} {
		ask := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		ask.Header.Set("Range", "bytes="+strconv.Itoa(from)+"-")
		ask.Header.Set("If-Range", response.Header.Get("ETag"))
		w := httptest.NewRecorder()
		clip.ServeHTTP(w, ask)
		if w.Code != http.StatusPartialContent || !bytes.Equal(w.Body.Bytes(), whole[from:]) {
			t.Errorf("from %d: status %d, %d bytes, want 206 and %d", from, w.Code, w.Body.Len(), len(whole)-from)
		}
	}
	sum, err := clip.Sum(t.Context())
	if err != nil || sum != sha256.Sum256(whole) {
		t.Errorf("sum %x, %v, want that of the bytes", sum, err)
	}
}

func TestWhatNoClipIsMadeFor(t *testing.T) {
	r := newRig(t)
	r.record(r.take(loadClip(t, "h264"), 1, 0), 1)
	for name, c := range map[string]struct {
		request export.Request
		want    error
	}{
		"no such camera": {export.Request{Camera: "yard", From: noon, To: noon.Add(time.Second)}, export.ErrNothing},
		"no such source": {export.Request{Camera: "door", Source: "../main", From: noon, To: noon.Add(time.Second)}, export.ErrNothing},
		"before all":     {export.Request{Camera: "door", From: noon.Add(-time.Hour), To: noon}, export.ErrNothing},
		"in the future":  {export.Request{Camera: "door", From: noon.Add(time.Hour), To: noon.Add(2 * time.Hour)}, export.ErrNothing},
		"reversed":       {export.Request{Camera: "door", From: noon.Add(time.Second), To: noon}, export.ErrRange},
		"empty":          {export.Request{Camera: "door", From: noon, To: noon}, export.ErrRange},
		"a century":      {export.Request{Camera: "door", From: noon, To: noon.AddDate(100, 0, 0)}, export.ErrTooLong},
	} {
		if _, err := r.export.Clip(t.Context(), c.request); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestAClipBeingMadeIsKeptAndCounted(t *testing.T) {
	r := newRig(t)
	f := r.record(r.take(loadClip(t, "h264"), 1, 0), 1)
	request := export.Request{Camera: "door", From: noon, To: noon.Add(4 * time.Second)}
	var clips []*export.Clip
	for range 2 {
		clip, err := r.export.Clip(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		clips = append(clips, clip)
	}
	if _, err := r.export.Clip(t.Context(), request); !errors.Is(err, export.ErrBusy) {
		t.Errorf("a third of two: %v, want ErrBusy", err)
	}
	kept := func() bool {
		kept, err := r.index.Kept(t.Context(), "door", f.Start, f.Start.Add(8*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	if !kept() {
		t.Error("what a clip is made of may be deleted")
	}
	for _, clip := range clips {
		clip.Close()
	}
	if kept() {
		t.Error("what no clip is made of any more is kept")
	}
	clip, err := r.export.Clip(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	clip.Close()
}

func TestFilesThatAreTornOrForeignAreErrorsAndNoPanic(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"shorter than the index says": func(b []byte) []byte { return b[:len(b)/2] },
		"empty":                       func([]byte) []byte { return nil },
		"of zeros":                    func(b []byte) []byte { return make([]byte, len(b)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.record(r.take(loadClip(t, "h264"), 1, 0), 1)
			err := filepath.WalkDir(r.dir, func(path string, entry os.DirEntry, err error) error {
				if err != nil || filepath.Ext(path) != ".mp4" {
					return err
				}
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				return os.WriteFile(path, spoil(b), 0o600)
			})
			if err != nil {
				t.Fatal(err)
			}
			clip, err := r.export.Clip(t.Context(), export.Request{Camera: "door", From: noon, To: noon.Add(time.Minute)})
			if err != nil {
				return
			}
			defer clip.Close()
			if _, err := clip.Sum(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("got %v, want an error", err)
			}
		})
	}
}
