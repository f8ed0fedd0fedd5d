package rtsptest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// ffmpegTime bounds a run of ffmpeg, which ignores its own timeouts now and then.
const ffmpegTime = time.Minute

// ffmpeg runs a program of FFmpeg. Anything it says on standard error is an error.
func ffmpeg(program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), ffmpegTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"-hide_banner", "-v", "warning"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		return nil, fmt.Errorf("%s: %v\n%s", program, err, said.String())
	}
	return out, nil
}

func TestFFmpegDecodesEveryClipWithoutAnError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		CameraConfig
		transport Transport
		size      string
		pictures  int
	}{
		{CameraConfig{Clip: "h264"}, "tcp", "640x360", 30},
		{CameraConfig{Clip: "h264", AAC: true}, "udp", "640x360", 30},
		{CameraConfig{Clip: "h264", BareSDP: true}, "tcp", "640x360", 30},
		{CameraConfig{Clip: "h264", NoInBand: true}, "tcp", "640x360", 30},
		{CameraConfig{Clip: "h264", Aggregate: true, AAC: true, PCMA: true}, "tcp", "640x360", 30},
		{CameraConfig{Clip: "h264", PacketSize: 100}, "tcp", "640x360", 30},
		{CameraConfig{Clip: "h264-small"}, "tcp", "480x270", 30},
		{CameraConfig{Clip: "h264-slices"}, "tcp", "640x360", 30},
		{CameraConfig{Clip: "h264-720p", PCMA: true}, "tcp", "1280x720", 10},
		{CameraConfig{Clip: "h265", BareSDP: true}, "udp", "640x360", 30},
		{CameraConfig{Clip: "h265", Aggregate: true, AAC: true}, "tcp", "640x360", 30},
		{CameraConfig{Clip: "mjpeg"}, "tcp", "480x272", 30},
		{CameraConfig{Clip: "mjpeg", PacketSize: 300, Sound: PCMU}, "tcp", "480x272", 30},
		// Once round, over the seam of the loop.
		{CameraConfig{Clip: "h264-bframes", AAC: true}, "tcp", "640x360", ClipPictures + 10},
		{CameraConfig{Clip: "h265-bframes", AAC: true}, "tcp", "640x360", ClipPictures + 10},
	}
	var cameras []CameraConfig
	for i := range tests {
		tests[i].Path = fmt.Sprintf("cam%d", i)
		cameras = append(cameras, tests[i].CameraConfig)
	}
	server := Start(t, cameras...)
	// They mostly wait for the cameras, so all run at once.
	var pulls sync.WaitGroup
	for _, test := range tests {
		pulls.Go(func() {
			err := checkPictures(server.Camera(test.Path).URL(), test.transport, test.size, test.pictures)
			if err != nil {
				t.Errorf("%s, %+v: %v", test.transport, test.CameraConfig, err)
			}
		})
	}
	pulls.Wait()
}

// checkPictures decodes so many pictures and checks that none is missing or
// twice.
func checkPictures(url string, transport Transport, size string, pictures int) error {
	luma, err := ffmpeg("ffmpeg", "-nostdin", "-rtsp_transport", string(transport), "-buffer_size", "1000000",
		"-timeout", "10000000", "-i", url, "-an", "-frames:v", fmt.Sprint(pictures),
		"-fps_mode", "passthrough", "-vf", "extractplanes=y", "-f", "rawvideo", "-")
	if err != nil {
		return err
	}
	var width, height int
	if _, err := fmt.Sscanf(size, "%dx%d", &width, &height); err != nil {
		return err
	}
	if len(luma) != pictures*width*height {
		return fmt.Errorf("%d bytes of pictures, want %d of %s", len(luma), pictures, size)
	}
	first := -1
	for i := range pictures {
		code, err := ReadFrameCode(luma[i*width*height:], width, height)
		if err != nil {
			return fmt.Errorf("picture %d: %w", i, err)
		}
		if first < 0 {
			first = code
		}
		if want := (first + i) % ClipPictures; code != want {
			return fmt.Errorf("picture %d is number %d of the clip, want %d", i, code, want)
		}
	}
	return nil
}

func TestFFprobeNamesTheTracks(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", Clip: "h265", AAC: true, PCMA: true})
	out, err := ffmpeg("ffprobe", "-rtsp_transport", "tcp", "-timeout", "10000000",
		"-show_entries", "stream=codec_name,sample_rate,width", "-of", "csv=p=0", server.Camera("door").URL())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(string(out)), "[hevc,640 aac,16000 pcm_alaw,8000]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestFFmpegHearsTheTickInEverySound(t *testing.T) {
	t.Parallel()
	names := map[Sound]string{PCMU: "pcm_mulaw,8000", G722: "adpcm_g722,16000", L16: "pcm_s16be,16000", Opus: "opus,48000", LATM: "aac_latm,16000"}
	for _, sound := range Sounds() {
		t.Run(string(sound), func(t *testing.T) {
			t.Parallel()
			server := Start(t, CameraConfig{Path: "door", Sound: sound})
			url := server.Camera("door").URL()
			out, err := ffmpeg("ffprobe", "-rtsp_transport", "tcp", "-timeout", "10000000", "-select_streams", "a",
				"-show_entries", "stream=codec_name,sample_rate", "-of", "csv=p=0", url)
			if err != nil {
				t.Fatal(err)
			}
			// ffmpeg takes LATM apart by itself.
			if got := strings.TrimSpace(string(out)); got != names[sound] && !(sound == LATM && got == "aac,16000") {
				t.Errorf("ffprobe says %q, want %q", got, names[sound])
			}
			samples, err := ffmpeg("ffmpeg", "-nostdin", "-rtsp_transport", "tcp", "-timeout", "10000000", "-i", url,
				"-vn", "-t", "2.2", "-ac", "1", "-ar", "8000", "-f", "s16le", "-")
			if err != nil {
				t.Fatal(err)
			}
			loud := 0
			for i := 0; i+1 < len(samples); i += 2 {
				if v := int16(binary.LittleEndian.Uint16(samples[i:])); v > 4000 || v < -4000 {
					loud++
				}
			}
			// Two ticks of 50 ms and 400 samples each, loud for five sixths of it.
			if loud < 300 || loud > 1100 {
				t.Errorf("%d of %d samples are loud", loud, len(samples)/2)
			}
		})
	}
}

func TestFFmpegPassesAuthenticationWithSpecialCharacters(t *testing.T) {
	t.Parallel()
	const user, password = "operator", `p@s#/:?%^!`
	server := Start(t,
		CameraConfig{Path: "basic", Auth: AuthBasic, User: user, Password: password},
		CameraConfig{Path: "digest", Auth: AuthDigest, User: user, Password: password})
	for _, path := range []string{"basic", "digest"} {
		address := &url.URL{Scheme: "rtsp", User: url.UserPassword(user, password), Host: server.Addr(), Path: path}
		if err := checkPictures(address.String(), TransportTCP, "640x360", 5); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if seen := server.Camera(path).Seen(); seen.Plays != 1 || seen.Teardowns != 1 {
			t.Errorf("%s: %d PLAY and %d TEARDOWN, want one of each", path, seen.Plays, seen.Teardowns)
		}
	}
}

func TestUDPThatIsLostIsSetUpAllTheSame(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", UDPLost: true})
	camera := server.Camera("door")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, "ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "udp",
		"-i", camera.URL(), "-f", "null", "-")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	camera.WaitUntil(t, "a client that plays", func(s Seen) bool { return s.Playing == 1 && s.Requests[0].Method != "" })
	cancel()
	var killed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &killed) {
		t.Errorf("%v, want a process that was killed", err)
	}
	if sent := camera.Seen().Sent; sent != 0 {
		t.Errorf("%d pictures sent, want none", sent)
	}
}
