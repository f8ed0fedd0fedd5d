//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A sight is what a browser's <video> shows at one moment.
type sight struct {
	Text       string   `json:"text"` // of the whole page
	Time       float64  `json:"time"` // the video's, in seconds
	Frames     int      `json:"frames"`
	Dropped    int      `json:"dropped"`
	Width      int      `json:"width"`
	Height     int      `json:"height"`
	AudioBytes int      `json:"audioBytes"` // decoded
	Clock      *int64   `json:"clock"`      // that the camera drew into the picture
	Errors     []string `json:"errors"`     // uncaught, in the page
	Stalls     []int    `json:"stalls"`     // in milliseconds: when it stood still for want of media
	Playlist   string   `json:"playlist"`   // multivariant, the last that was loaded
	Sessions   int      `json:"sessions"`   // of our page's player: how often it began anew
	Mends      int      `json:"mends"`      // of our page's player: how often it was helped on

	Drawn []drawing `json:"drawn"` // what workers saw, as the page drew it
}

// A drawing is the moment at which a worker's report was first drawn.
type drawing struct {
	ReportMs float64 `json:"reportMs"` // Unix time of its frame
	Clock    *int64  `json:"clock"`    // that the camera drew into the picture beneath
	LateMs   float64 `json:"lateMs"`   // how much later than its picture the report came
}

// A browser is a headless Chromium with one page.
type browser struct {
	t      *testing.T
	input  io.Writer
	sights chan sight
	last   sight
}

// openBrowser opens a page whose pictures have a clock in them. options are others
// of watch.mjs.
func openBrowser(t *testing.T, url string, c clock, options ...string) *browser {
	t.Helper()
	arguments := append([]string{"browser/watch.mjs", "--url", url, "--script", c.script, "--reader", c.reader}, options...)
	command := exec.Command("node", arguments...)
	errors := &logBuffer{}
	command.Stderr = errors
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, input: input, sights: make(chan sight, 1)}
	read := make(chan error, 1)
	go func() { read <- b.read(output) }()
	t.Cleanup(func() {
		input.Close() // tells it to end
		kill := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
		defer kill.Stop()
		if err := <-read; err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("the browser: %v\n%s", err, errors)
		}
		if len(b.last.Errors) > 0 {
			t.Errorf("the page threw %q", b.last.Errors)
		}
	})
	return b
}

// limit lets the page load so many bits per second from now on; 0 for no limit.
func (b *browser) limit(bitsPerSecond int) {
	b.t.Helper()
	if _, err := fmt.Fprintln(b.input, bitsPerSecond); err != nil {
		b.t.Fatal(err)
	}
}

// read hands sights on, the newest only: a test that is busy sees the present
// when it looks again.
func (b *browser) read(output io.Reader) error {
	defer close(b.sights)
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var now sight
		if err := json.Unmarshal(lines.Bytes(), &now); err != nil {
			return fmt.Errorf("the browser says %.200q: %w", lines.Text(), err)
		}
		select {
		case <-b.sights:
		default:
		}
		b.sights <- now
	}
	return lines.Err()
}

// await waits until a sight is as wanted, and returns it.
func (b *browser) await(what string, wanted func(now sight) bool) sight {
	b.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case now, open := <-b.sights:
			if !open {
				b.t.Fatal("the browser has ended")
			}
			b.last = now
			if wanted(now) {
				return now
			}
		case <-limit.C:
			b.t.Fatalf("waited in vain until %s; the page shows %+v", what, b.last)
		}
	}
}

// clocksToSee is how many different pictures of the camera prove that it plays:
// more than a picture that is stuck and one that came before it.
const clocksToSee = 8

// awaitPlaying waits until pictures are decoded, time goes on, and the clock in
// the picture moves. The picture may have come to stand before: what counts is
// from now on.
func (b *browser) awaitPlaying(what string) sight {
	b.t.Helper()
	start := b.last
	clocks := map[int64]bool{}
	return b.await(what, func(now sight) bool {
		if now.Frames < start.Frames { // a new player in the page counts from 0
			start = now
		}
		if now.Clock != nil {
			clocks[*now.Clock] = true
		}
		return len(clocks) >= clocksToSee && now.Frames >= start.Frames+25 && now.Time != start.Time
	})
}

// A clock reads what a simulated camera drew into its pictures.
type clock struct {
	script string // a file of JavaScript
	reader string // an expression: by means of it, the number in a <video>
}

// ourClock reads the pictures of rtsptest's clips.
func ourClock() clock {
	return clock{script: "../ingest/rtsptest/framecode.js", reader: "readFrameCode"}
}

func mentions(text string, words ...string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
