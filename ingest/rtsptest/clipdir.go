package rtsptest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

//go:embed make-clips.sh
var makeClipsScript string

// makeClipsTime bounds the making of all clips. It takes seconds; a loaded
// machine under the race detector gets its share.
const makeClipsTime = 3 * time.Minute

// ClipDir returns the folder of the clips, after making those that are missing.
func ClipDir(tb testing.TB) string {
	tb.Helper()
	dir, err := DefaultClipDir()
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), makeClipsTime)
	defer cancel()
	var log strings.Builder
	if err := MakeClips(ctx, dir, &log); err != nil {
		tb.Fatalf("%v\n%s", err, log.String())
	}
	return dir
}

// DefaultClipDir is the folder named by DROVER_CLIPS, else build/clips in the
// repository that the working directory belongs to.
func DefaultClipDir() (string, error) {
	if dir := os.Getenv("DROVER_CLIPS"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the folder of the clips: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "build", "clips"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the folder of the clips: not inside the repository, so set DROVER_CLIPS")
		}
		dir = parent
	}
}

// MakeClips makes the clips that are missing in dir and writes what it does to
// log. It needs bash, flock and ffmpeg.
func MakeClips(ctx context.Context, dir string, log io.Writer) error {
	version := regexp.MustCompile(`(?m)^version=(\d+)$`).FindStringSubmatch(makeClipsScript)[1]
	made, err := os.ReadFile(filepath.Join(dir, "version"))
	if err == nil && strings.TrimSpace(string(made)) == version && clipsPresent(dir) {
		return nil
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		return fmt.Errorf("make clips: ffmpeg is not installed (Debian: apt-get install ffmpeg): %w", err)
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", makeClipsScript, "make-clips", dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = time.Second // a killed bash leaves ffmpeg holding the pipe
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make clips in %s: %w", dir, err)
	}
	return nil
}

func clipsPresent(dir string) bool {
	for _, name := range []string{"tick.aac", "tick.alaw", "tick.ulaw", "tick.g722", "tick.l16", "tick.opus", "mjpeg.csv"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	for _, name := range ClipNames() {
		if _, err := os.Stat(filepath.Join(dir, name+".csv")); err != nil {
			return false
		}
	}
	return true
}

// ClipNames lists the clips of H.264 and H.265 that MakeClips makes. There is one
// more, "mjpeg", of JPEG pictures.
func ClipNames() []string {
	return []string{
		"h264",         // 640x360, 500 kbit/s: the everyday clip, cheap to decode
		"h264-small",   // 480x270, 300 kbit/s: to change to
		"h264-bframes", // 640x360, two B-frames between others
		"h264-slices",  // 640x360, four slices per picture
		"h264-720p",    // 1280x720, 2 Mbit/s: load
		"h265",         // 640x360
		"h265-bframes", // 640x360, B-frames that refer to B-frames
	}
}
