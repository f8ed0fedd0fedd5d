//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// soundCase is a camera's sound, and what comes out of it.
type soundCase struct {
	camera rtsptest.CameraConfig
	codec  string // as ffprobe calls it in fMP4
	ts     bool   // in MPEG-TS, too

	// A round of what the camera sends, in a format of ffmpeg's, where it comes out
	// sample for sample.
	file, format, rate string
}

func soundCases() []soundCase {
	return []soundCase{
		{rtsptest.CameraConfig{Path: "pcma", PCMA: true}, "flac", false, "tick.alaw", "alaw", "8000"},
		{rtsptest.CameraConfig{Path: "pcmu", Sound: rtsptest.PCMU}, "flac", false, "tick.ulaw", "mulaw", "8000"},
		{rtsptest.CameraConfig{Path: "l16", Sound: rtsptest.L16}, "flac", false, "tick.l16", "s16be", "16000"},
		{rtsptest.CameraConfig{Path: "g722", Sound: rtsptest.G722}, "flac", false, "", "", ""},
		{rtsptest.CameraConfig{Path: "opus", Sound: rtsptest.Opus}, "opus", false, "", "", ""},
		{rtsptest.CameraConfig{Path: "latm", Sound: rtsptest.LATM}, "aac", true, "", "", ""},
	}
}

// soundServer is a server that pulls a camera of each sound.
func soundServer(t *testing.T) *server {
	t.Helper()
	var cameras []rtsptest.CameraConfig
	for _, c := range soundCases() {
		cameras = append(cameras, c.camera)
	}
	rack := rtsptest.Start(t, cameras...)
	s := newServer(t, "")
	for _, c := range cameras {
		s.addCamera(c.Path, rack.Camera(c.Path).URL())
	}
	return s
}

func TestSoundOfEveryCodecIsServedAndNothingOfItLost(t *testing.T) {
	s := soundServer(t)
	t.Run("cameras", func(t *testing.T) {
		for _, c := range soundCases() {
			inParallel(t, c.camera.Path, func(t *testing.T) {
				s := s.on(t)
				index := waitForIndex(s, c.camera.Path)
				checkCodecs(t, s.url(index), "h264", c.codec)
				want := []string{"h264"}
				if c.ts {
					want = append(want, c.codec)
				}
				checkCodecs(t, s.url("/hls/"+c.camera.Path+"/ts/index.m3u8"), want...)
				f := follow(t, s, index)
				pieces := f.collect(4)
				if c.file != "" {
					checkSamples(t, c, f.init[pieces[0].initURI], pieces)
				}
				tracks := s.camera(c.camera.Path).Status.Sources[0].Tracks
				if len(tracks) != 2 || !tracks[1].Playable || (tracks[1].DeliveredAs == "FLAC") != (c.codec == "flac") || tracks[1].MPEGTS != c.ts {
					t.Errorf("the API shows tracks %+v", tracks)
				}
			})
		}
	})
}

// checkSamples holds what a player decodes against what the camera plays round
// and round.
func checkSamples(t *testing.T, c soundCase, init []byte, pieces []piece) {
	t.Helper()
	file := bytes.Clone(init)
	for _, one := range pieces {
		file = append(file, one.bytes...)
	}
	path := filepath.Join(t.TempDir(), "sound.mp4")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, "ffmpeg", "-nostdin", "-v", "error", "-i", path, "-vn", "-f", "s16le", "-")
	round := run(t, "ffmpeg", "-nostdin", "-v", "error", "-f", c.format, "-ar", c.rate, "-i",
		filepath.Join(rtsptest.ClipDir(t), c.file), "-f", "s16le", "-")
	if len(got) < len(round)/2 {
		t.Errorf("%d bytes of samples in %d segments", len(got), len(pieces))
	}
	if !strings.Contains(strings.Repeat(round, 3), got) {
		t.Error("other samples than the camera's")
	}
}

func TestABrowserHearsSoundOfEveryCodec(t *testing.T) {
	s := soundServer(t)
	for _, c := range soundCases() {
		t.Run(c.camera.Path, func(t *testing.T) {
			s := s.on(t)
			waitForIndex(s, c.camera.Path)
			b := openBrowser(t, s.url("/watch/"+c.camera.Path), ourClock())
			b.awaitPlaying("the camera plays")
			heard := b.await("sound is decoded", func(now sight) bool { return now.AudioBytes > 0 })
			b.await("sound goes on", func(now sight) bool { return now.AudioBytes > heard.AudioBytes+4000 && now.Time > heard.Time+2 })
		})
	}
}

func TestMJPEGIsNotPlayedAndItsPictureCanBeHad(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "mjpeg", Clip: "mjpeg"}, rtsptest.CameraConfig{Path: "door"})
	s := newServer(t, "")
	for _, id := range []string{"mjpeg", "door"} {
		s.addCamera(id, rack.Camera(id).URL())
		s.awaitState(id, "live")
	}
	var picture []byte
	s.await("there is a picture", func() (err error) {
		picture, err = s.tryGet("/api/v1/cameras/mjpeg/snapshot.jpg")
		return err
	})
	img, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 480 || size.Y != 272 {
		t.Errorf("a picture of %v", size)
	}
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/hls/mjpeg/index.m3u8":             {http.StatusNotAcceptable, "MJPEG"},
		"/api/v1/cameras/door/snapshot.jpg": {http.StatusConflict, "transcode"},
		"/api/v1/cameras/yard/snapshot.jpg": {http.StatusNotFound, "no camera"},
	} {
		s.await(path+" says why not", func() error {
			answer, err := s.do(http.MethodGet, path, nil, "")
			if err == nil && (answer.status != want.status || !strings.Contains(string(answer.body), want.says)) {
				err = fmt.Errorf("it is %d %s", answer.status, answer.body)
			}
			return err
		})
	}
	b := openBrowser(t, s.url("/watch/mjpeg"), ourClock())
	b.await("the page says why there is no live picture", func(now sight) bool { return mentions(now.Text, "mjpeg", "h.264") })
	if tracks := s.camera("mjpeg").Status.Sources[0].Tracks; len(tracks) != 1 || tracks[0].Codec != "MJPEG" || tracks[0].Playable {
		t.Errorf("the API shows tracks %+v", tracks)
	}
}
