//go:build e2e

package e2e

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A pageView is what a camera's page shows at one moment.
type pageView struct {
	Text string `json:"text"`
	Bar  struct {
		From  string `json:"from"`
		To    string `json:"to"`
		Time  string `json:"time"` // live or past
		Spans string `json:"spans"`
		Gaps  string `json:"gaps"`
	} `json:"bar"`
	Value         string   `json:"value"` // of the bar, as screen readers speak it
	Legend        string   `json:"legend"`
	Scrub         string   `json:"scrub"`
	ScrubPictures int      `json:"scrubPictures"`
	State         string   `json:"state"`
	WallMS        float64  `json:"wallMs"`
	Time          float64  `json:"time"`
	Rate          float64  `json:"rate"`
	Width         int      `json:"width"`
	Clock         *int64   `json:"clock"` // that the camera drew into the picture
	Boxes         struct { // what workers saw, as it is drawn
		Boxes    string `json:"boxes"`
		ReportMs string `json:"reportMs"`
	} `json:"boxes"`
	Page    float64  `json:"page"` // another after each load of the page
	Failure string   `json:"failure"`
	Errors  []string `json:"errors"`
}

// clockRound is how many pictures there are until the camera's clock begins again.
const clockRound = 200

// clockAt returns what the camera's clock showed at a time, by the picture and the
// time that the page shows now: of one recording that is always the same.
func (v pageView) clockAt(at time.Time) float64 {
	since := v.WallMS/1000 - float64(at.UnixMilli())/1000
	return math.Mod(math.Mod(float64(*v.Clock)-25*since, clockRound)+clockRound, clockRound)
}

// sameClock reports whether two readings are one, as far as the page can tell, which
// says the time four times a second.
func sameClock(a, b float64) bool {
	distance := math.Abs(a - b)
	return math.Min(distance, clockRound-distance) <= 15
}

// A driver is a headless Chromium in which a test does what a person would.
type driver struct {
	t       *testing.T
	input   io.WriteCloser
	answers *bufio.Scanner
	last    pageView
}

func openDriver(t *testing.T, url string, c clock) *driver {
	t.Helper()
	command := exec.Command("node", "browser/drive.mjs", "--url", url, "--script", c.script, "--reader", c.reader)
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
	answers := bufio.NewScanner(output)
	answers.Buffer(nil, 1<<20)
	d := &driver{t: t, input: input, answers: answers}
	t.Cleanup(func() {
		input.Close() // tells it to end
		kill := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
		defer kill.Stop()
		_, _ = io.Copy(io.Discard, output)
		if err := command.Wait(); err != nil {
			t.Errorf("the browser: %v\n%s", err, errors)
		}
		if len(d.last.Errors) > 0 {
			t.Errorf("the page threw %q", d.last.Errors)
		}
	})
	return d
}

// do does one thing in the page and returns what it shows then.
func (d *driver) do(what string, more map[string]any) pageView {
	d.t.Helper()
	command := map[string]any{"do": what}
	for key, value := range more {
		command[key] = value
	}
	line, err := json.Marshal(command)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.input.Write(append(line, '\n')); err != nil {
		d.t.Fatal(err)
	}
	if !d.answers.Scan() {
		d.t.Fatalf("the browser has ended: %v", d.answers.Err())
	}
	d.last = pageView{}
	if err := json.Unmarshal(d.answers.Bytes(), &d.last); err != nil {
		d.t.Fatalf("the browser says %.200q: %v", d.answers.Text(), err)
	}
	if d.last.Failure != "" {
		d.t.Fatalf("%s %v: %s", what, more, d.last.Failure)
	}
	return d.last
}

func (d *driver) clickTime(at time.Time) {
	d.t.Helper()
	d.do("clickTime", map[string]any{"at": at.UnixMilli()})
}

func (d *driver) await(what string, wanted func(now pageView) bool) pageView {
	d.t.Helper()
	await(d.t, what, func() error {
		if now := d.do("look", nil); !wanted(now) {
			now.Text = ""
			return fmt.Errorf("the page shows %+v", now)
		}
		return nil
	})
	return d.last
}

// awaitPlaying waits until pictures of about a time move, and returns the last one.
func (d *driver) awaitPlaying(what string, from time.Time, slack time.Duration) pageView {
	d.t.Helper()
	clocks := map[int64]bool{}
	return d.await(what, func(now pageView) bool {
		at := time.UnixMilli(int64(now.WallMS))
		if now.Bar.Time != "past" || now.State != "playing" || at.Before(from.Add(-slack)) || at.After(from.Add(slack)) {
			return false
		}
		if now.Clock != nil {
			clocks[*now.Clock] = true
		}
		return len(clocks) >= 4
	})
}

// A recordedView is what the API says of recordings, as far as these tests look.
type recordedView struct {
	Spans []struct {
		From time.Time `json:"from"`
		To   time.Time `json:"to"`
	} `json:"spans"`
	Gaps []struct {
		From  time.Time  `json:"from"`
		To    *time.Time `json:"to"`
		Cause string     `json:"cause"`
	} `json:"gaps"`
}

// awaitRecorded waits until so many spans are recorded, the last of them so long.
func (s *server) awaitRecorded(id string, spans int, last time.Duration) recordedView {
	s.t.Helper()
	var view recordedView
	s.await(fmt.Sprintf("%d spans are recorded of %s, the last of %v", spans, id, last), func() error {
		view = recordedView{}
		body, err := s.tryGet("/api/v1/cameras/" + id + "/recordings?resolution=1")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, &view); err != nil {
			return err
		}
		if n := len(view.Spans); n < spans || view.Spans[n-1].To.Sub(view.Spans[n-1].From) < last {
			return fmt.Errorf("there is %s", body)
		}
		return nil
	})
	return view
}

func TestThePastIsSeenPlayedAndExportedInThePage(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	s := newServer(t, "")
	body := fmt.Sprintf(`{"id":"door","url":%q,"record":{"mode":"continuous"}}`, rack.Camera("door").URL())
	if a := s.post("/api/v1/cameras", body); a.status != http.StatusCreated {
		t.Fatalf("POST of the camera: %d %s", a.status, a.body)
	}
	s.awaitRecorded("door", 1, 10*time.Second)
	rack.Down()
	s.awaitState("door", "backoff", "connecting")
	// As long as somebody needs to see that it is away.
	away := time.Now()
	s.await("the camera has been away for some seconds", func() error {
		if time.Since(away) < 5*time.Second {
			return fmt.Errorf("it has been for %v", time.Since(away))
		}
		return nil
	})
	if err := rack.Up(); err != nil {
		t.Fatal(err)
	}
	recorded := s.awaitRecorded("door", 2, 10*time.Second)
	if len(recorded.Gaps) == 0 || recorded.Gaps[0].To == nil {
		t.Fatalf("the camera was away, and the gaps are %+v", recorded.Gaps)
	}
	first, second, gap := recorded.Spans[0], recorded.Spans[1], recorded.Gaps[0]

	d := openDriver(t, s.url("/camera/door"), ourClock())
	d.do("select", map[string]any{"testId": "span", "value": "600000"})
	d.await("two spans and the gap between them are on the bar", func(now pageView) bool {
		spans, _ := strconv.Atoi(now.Bar.Spans)
		gaps, _ := strconv.Atoi(now.Bar.Gaps)
		return spans >= 2 && gaps >= 1 && mentions(now.Legend, "footage", "camera or network")
	})
	live := d.await("the live picture is shown", func(now pageView) bool { return now.Bar.Time == "live" && now.Clock != nil })

	d.do("hoverTime", map[string]any{"at": gap.From.Add(gap.To.Sub(gap.From) / 2).UnixMilli()})
	d.await("the gap says why", func(now pageView) bool { return mentions(now.Scrub, "camera") || mentions(now.Scrub, "network") })
	d.do("hoverTime", map[string]any{"at": first.From.Add(5 * time.Second).UnixMilli()})
	d.await("a picture is shown while scrubbing", func(now pageView) bool { return now.ScrubPictures > 0 })

	start := first.From.Add(3 * time.Second)
	d.clickTime(start)
	past := d.awaitPlaying("the past plays from there", start, 4*time.Second)
	if past.Page != live.Page {
		t.Error("the page was loaded anew")
	}
	begun := past.clockAt(first.From)

	d.do("select", map[string]any{"testId": "rate", "value": "4"})
	over := d.await("it has played on over the gap", func(now pageView) bool {
		return now.Clock != nil && now.WallMS >= float64(second.From.UnixMilli()) && now.Rate == 4
	})
	if !sameClock(over.clockAt(second.From), 0) && !sameClock(over.clockAt(second.From), 50) &&
		!sameClock(over.clockAt(second.From), 100) && !sameClock(over.clockAt(second.From), 150) {
		t.Errorf("behind the gap the picture is off by %v from a keyframe's", over.clockAt(second.From))
	}
	d.do("select", map[string]any{"testId": "rate", "value": "1"})

	again := first.From.Add(4 * time.Second)
	d.clickTime(again)
	sought := d.awaitPlaying("it seeks back", again, 4*time.Second)
	if got := sought.clockAt(first.From); !sameClock(got, begun) {
		t.Errorf("after a seek the picture is %v off, and before it was %v", got, begun)
	}

	d.do("press", map[string]any{"key": "l"})
	back := d.await("live is back", func(now pageView) bool {
		return now.Bar.Time == "live" && now.State == "playing" && now.Clock != nil
	})
	if back.Page != live.Page {
		t.Error("the page was loaded anew")
	}

	// Around the gap: the end of the first span and the beginning of the second.
	d.clickTime(again)
	d.awaitPlaying("it plays where the export begins", again, 4*time.Second)
	d.do("press", map[string]any{"key": "i"})
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from, to := first.To.Add(-4*time.Second).Truncate(time.Second), second.From.Add(5*time.Second).Truncate(time.Second)
	const field = "2006-01-02T15:04:05"
	d.do("fill", map[string]any{"testId": "export-to", "value": to.In(berlin).Format(field)})
	d.do("fill", map[string]any{"testId": "export-from", "value": from.In(berlin).Format(field)})
	d.await("the size is estimated", func(now pageView) bool { return mentions(now.Text, "of footage in", "about") })
	file := filepath.Join(t.TempDir(), "clip.mp4")
	d.do("download", map[string]any{"testId": "export-start", "file": file})
	d.await("the export is done", func(now pageView) bool { return mentions(now.Text, "saved door-", "sha-256") })
	// Gaps closed; it begins at the keyframe before, which is two seconds away at most.
	want := first.To.Sub(from) + to.Sub(second.From)
	checkClip(t, file, want, 3*time.Second)
	checkDigest(t, s, file, from, to)
}

// checkClip holds a file against what ffprobe counts in it.
func checkClip(t *testing.T, file string, want, slack time.Duration) {
	t.Helper()
	output, err := exec.Command("ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0",
		"-show_entries", "stream=codec_name,width,nb_read_frames:format=duration", "-of", "json", file).Output()
	if err != nil {
		t.Fatalf("ffprobe: %v", err)
	}
	var probed struct {
		Streams []struct {
			Codec  string `json:"codec_name"`
			Width  int    `json:"width"`
			Frames string `json:"nb_read_frames"`
		} `json:"streams"`
		Format struct {
			Duration string `json:"duration"`
		} `json:"format"`
	}
	if err := json.Unmarshal(output, &probed); err != nil || len(probed.Streams) != 1 {
		t.Fatalf("ffprobe says %s (%v)", output, err)
	}
	seconds, err := strconv.ParseFloat(probed.Format.Duration, 64)
	if err != nil || math.Abs(seconds-want.Seconds()) > slack.Seconds() {
		t.Errorf("the export has %s s, want %v within %v", probed.Format.Duration, want, slack)
	}
	frames, err := strconv.Atoi(probed.Streams[0].Frames)
	if err != nil || math.Abs(float64(frames)/25-seconds) > 0.5 {
		t.Errorf("the export has %d pictures in %v s of 25 a second", frames, seconds)
	}
	if probed.Streams[0].Codec != "h264" || probed.Streams[0].Width != 640 {
		t.Errorf("the export holds %+v", probed.Streams[0])
	}
}

// checkDigest holds a file against the digest that the server tells of it.
func checkDigest(t *testing.T, s *server, file string, from, to time.Time) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	told := s.get(fmt.Sprintf("/archive/door/clip.mp4.sha256?from=%d&to=%d&gaps=close", from.UnixMilli(), to.UnixMilli()))
	if !strings.HasPrefix(string(told), hex.EncodeToString(sum[:])) {
		t.Errorf("the file's digest is %x, and the server tells %s", sum, told)
	}
}
