//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// playedPictures is more than there is between where players begin, three segments
// from the end, and the end: who plays so many has followed the playlist.
const playedPictures = 200

// Pictures as a player has decoded them: gray, and so large that their numbers can
// be read.
const (
	grayWidth  = 320
	grayHeight = 180
	graySize   = grayWidth * grayHeight
)

func TestOtherPlayersPlayOnWithoutAHole(t *testing.T) {
	t.Parallel()
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	// GStreamer waits for a buffer to fill that two segments do not.
	s.await("the window is full", func() error {
		text, err := s.tryGet("/hls/door/main.index.m3u8")
		if n := bytes.Count(text, []byte("#EXTINF")); err == nil && n < 5 {
			err = fmt.Errorf("%d segments", n)
		}
		return err
	})
	for _, player := range []struct {
		name, program, whence string
		plays                 func(t *testing.T, url string)
	}{
		{"GStreamer", "gst-launch-1.0", "gstreamer1.0-tools, -plugins-good, -plugins-bad and -libav", playsInGStreamer},
		{"VLC", "cvlc", "vlc-bin and vlc-plugin-base", playsInVLC},
		{"Shaka Player", "chromium", "chromium", playsInShaka},
	} {
		for _, playlist := range []string{"index.m3u8", "live.m3u8"} {
			t.Run(player.name+" "+playlist, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(player.program); err != nil {
					t.Skipf("%s is not installed (Debian: %s)", player.program, player.whence)
				}
				player.plays(t, s.url("/hls/door/"+playlist))
			})
		}
	}
}

func playsInGStreamer(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(context.Background(), toolTime)
	defer cancel()
	file := filepath.Join(t.TempDir(), "pictures")
	command := exec.CommandContext(ctx, "gst-launch-1.0", "uridecodebin3", "uri="+url, "name=stream",
		"stream.", "!", "videoconvert", "!", "videoscale", "!", "video/x-raw,format=GRAY8,width="+strconv.Itoa(grayWidth)+",height="+strconv.Itoa(grayHeight),
		"!", "identity", "eos-after="+strconv.Itoa(playedPictures+1), "!", "filesink", "sync=true", "location="+file) // at the camera's pace, as who looks on
	command.Env = append(os.Environ(), "GST_PLUGIN_FEATURE_RANK=hlsdemux2:MAX,hlsdemux:NONE") // the old one knows no fragmented MP4
	command.WaitDelay = time.Second
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	pictures, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// What was on its way when the last was counted is written all the same, in part.
	checkNoHole(t, pictures[:min(len(pictures), playedPictures*graySize)])
}

// nobody is who VLC runs as: it refuses to be root.
const nobody = 65534

func playsInVLC(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(context.Background(), toolTime)
	defer cancel()
	// Another user has no access to folders that are a test's own.
	folder, err := os.MkdirTemp("", "drover-vlc-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "played.ts")
	// --run-time is the stream's, and begins before the first picture does.
	command := exec.CommandContext(ctx, "cvlc", url, "--sout", "#std{access=file,mux=ts,dst="+file+"}",
		"--run-time="+strconv.Itoa(playedPictures/25+5), "--play-and-exit", "vlc://quit")
	command.Env = append(os.Environ(), "HOME="+folder)
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	pictures := filepath.Join(t.TempDir(), "pictures")
	if said := run(t, "ffmpeg", "-nostdin", "-v", "error", "-i", file, "-map", "0:v:0", "-fps_mode", "passthrough",
		"-vf", "scale="+strconv.Itoa(grayWidth)+":"+strconv.Itoa(grayHeight), "-pix_fmt", "gray", "-f", "rawvideo", pictures); said != "" {
		t.Errorf("ffmpeg says of what VLC played: %s", said)
	}
	data, err := os.ReadFile(pictures)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	checkNoHole(t, data)
}

// checkNoHole reads the numbers in pictures that were decoded one after another.
func checkNoHole(t *testing.T, pictures []byte) {
	t.Helper()
	if n := len(pictures) / graySize; n < playedPictures {
		t.Errorf("%d pictures were played, want %d", n, playedPictures)
	}
	last := -1
	for i := 0; (i+1)*graySize <= len(pictures); i++ {
		number, err := rtsptest.ReadFrameCode(pictures[i*graySize:(i+1)*graySize], grayWidth, grayHeight)
		if err != nil {
			t.Fatalf("picture %d: %v", i, err)
		}
		if last >= 0 && number != (last+1)%rtsptest.ClipPictures {
			t.Errorf("picture %d is the camera's %d and comes after %d", i, number, last)
		}
		last = number
	}
}

func playsInShaka(t *testing.T, url string) {
	b := openBrowser(t, url, ourClock(), "--shaka")
	start := b.awaitPlaying("Shaka Player plays")
	b.await("it plays on for longer than a segment is", func(now sight) bool {
		return now.Time >= start.Time+4 && now.Frames >= start.Frames+75
	})
}
