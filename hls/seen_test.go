package hls

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/detection"
)

// Seen is what a test says that workers see.
type seenStub struct {
	mu      sync.Mutex
	events  []detection.Event
	reports []detection.Report
	newest  time.Time
}

func (s *seenStub) Happened(camera string, from, to time.Time) (found []detection.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if camera == "door" && e.Start.Before(to) && (e.Open || !e.End.Before(from)) {
			found = append(found, e)
		}
	}
	return found
}

func (s *seenStub) Recent(camera string, from, to time.Time) (found []detection.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reports {
		if camera == "door" && !r.Time.Before(from) && r.Time.Before(to) {
			found = append(found, r)
		}
	}
	return found
}

func (s *seenStub) SeesSince(camera string, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return camera == "door" && s.newest.After(since)
}

func (s *seenStub) see(at time.Time, label string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = at
	s.reports = append(s.reports, detection.Report{Camera: "door", Time: at, Worker: "hog", Detections: []detection.Detection{{Label: label, Score: 0.5}}})
}

func TestOrdinaryCamerasHaveThePlaylistsThatTheyAlwaysHad(t *testing.T) {
	plain, stub := newRig(t, Config{}), newRig(t, Config{Seen: &seenStub{}})
	for _, r := range []*rig{plain, stub} {
		r.gops(3)
		r.goLive()
		r.gops(4)
	}
	for _, path := range []string{"door/index.m3u8", "door/live.m3u8", "door/main.index.m3u8", "door/main.live.m3u8", "door/ts/main.index.m3u8"} {
		a, b := plain.get(path), stub.get(path)
		if got, want := bodyOf(t, b), bodyOf(t, a); got != want || a.Header.Get("Etag") != b.Header.Get("Etag") {
			t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
		}
	}
	if got := plain.get("door/main.boxes.m3u8").StatusCode; got != http.StatusNotFound {
		t.Errorf("boxes where nobody sees: %d", got)
	}
}

func TestEventsAreDateRangesOfLivePlaylists(t *testing.T) {
	seen := &seenStub{}
	r := newRig(t, Config{Seen: seen})
	r.gops(6)
	before := r.get("door/main.index.m3u8").Header.Get("Etag")
	seen.events = []detection.Event{
		{ID: 1, Camera: "door", Rule: "r", Name: "R", Label: "long ago", Start: zero.Add(-time.Hour), End: zero.Add(-time.Hour)},
		{ID: 2, Camera: "door", Rule: "r", Name: "R", Label: "person", Start: zero.Add(6 * time.Second), End: zero.Add(7 * time.Second), Score: 0.5},
	}
	r.gops(1)
	const want = `#EXT-X-DATERANGE:ID="drover-event-2",CLASS="drover.event",START-DATE="2026-07-01T10:00:06.000Z",END-DATE="2026-07-01T10:00:07.000Z",X-RULE="r",X-NAME="R",X-LABEL="person",X-SCORE="0.500"` + "\n"
	r.goLive()
	r.gops(1)
	for _, path := range []string{"door/main.index.m3u8", "door/main.live.m3u8", "door/ts/main.index.m3u8"} {
		text := bodyOf(t, r.get(path))
		if strings.Count(text, "#EXT-X-DATERANGE") != 1 || !strings.Contains(text, want) {
			t.Errorf("%s:\n%s", path, text)
		}
	}
	if after := r.get("door/main.index.m3u8").Header.Get("Etag"); after == before || strings.Count(after, ".") != strings.Count(before, ".")+1 {
		t.Errorf("%s after %s", after, before)
	}
	r.gops(20)
	if text := bodyOf(t, r.get("door/main.index.m3u8")); strings.Contains(text, "DATERANGE") {
		t.Errorf("it has left the window:\n%s", text)
	}
}

func TestTimesThatMoveUnderTheCameraTakeBoxesWithThem(t *testing.T) {
	for name, drift := range map[string]time.Duration{"a little": -200 * time.Millisecond, "much": -3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			seen := &seenStub{}
			r := newRig(t, Config{Seen: seen})
			r.gops(6)
			r.drift = drift // a report of the camera came
			r.gops(1)
			at := r.video.Duration(r.dts) + time.Second // of the segment that begins now
			seen.see(zero.Add(at+drift), "person")
			r.gops(4)
			segments := r.playlist().Segments
			found := ""
			for _, s := range segments {
				answer := r.get("door/" + strings.TrimSuffix(s.URI, ".m4s") + ".vtt")
				if text := bodyOf(t, answer); answer.StatusCode == http.StatusOK && strings.Contains(text, "person") {
					found = text
					break
				}
			}
			if !strings.Contains(found, "\n00:00:01.000 --> ") {
				t.Errorf("got %q", found)
			}
			newest := segments[len(segments)-1]
			begins := zero.Add(r.video.Duration(r.dts) - 2*newest.Duration + drift)
			if off := newest.ProgramDateTime.Sub(begins).Abs(); off > mostAstray {
				t.Errorf("program date is %v off", off)
			}
		})
	}
}

func TestBoxesAreARenditionCutAsTheVideoIs(t *testing.T) {
	seen := &seenStub{}
	r := newRig(t, Config{Seen: seen})
	r.gops(4)
	seen.see(zero.Add(5*time.Second), "person") // in the third segment
	seen.see(zero.Add(5500*time.Millisecond), "car")
	seen.see(zero.Add(9500*time.Millisecond), "dog") // stands into the sixth
	r.gops(3)
	list := bodyOf(t, r.get("door/index.m3u8"))
	if !strings.Contains(list, `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="seen",NAME="What is seen",DEFAULT=NO,AUTOSELECT=NO,FORCED=NO,URI="main.boxes.m3u8"`) || !strings.Contains(list, `,SUBTITLES="seen"`+"\nmain.index.m3u8") {
		t.Fatalf("got\n%s", list)
	}
	if live := bodyOf(t, r.get("door/live.m3u8")); strings.Contains(live, "SUBTITLES") {
		t.Errorf("low latency has no boxes to wait for:\n%s", live)
	}
	video := r.playlist()
	answer := r.get("door/main.boxes.m3u8")
	text := bodyOf(t, answer)
	if answer.Header.Get("Content-Type") != "application/vnd.apple.mpegurl" || answer.StatusCode != 200 {
		t.Fatalf("%d, %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	if !strings.Contains(text, "#EXT-X-MEDIA-SEQUENCE:"+strconv.FormatUint(video.MediaSequence, 10)+"\n") {
		t.Errorf("got\n%s", text)
	}
	listed := 0
	for _, s := range video.Segments {
		uri := strings.TrimSuffix(s.URI, ".m4s") + ".vtt"
		if strings.Contains(text, uri) {
			listed++
		} else if r.get("door/"+uri).StatusCode != http.StatusNotFound {
			t.Errorf("%s is to be had before it has settled", uri)
		}
	}
	if listed == 0 || listed == len(video.Segments) {
		t.Errorf("%d of %d are listed: the newest has not settled", listed, len(video.Segments))
	}
	cues := func(i int) string {
		answer := r.get("door/" + strings.TrimSuffix(video.Segments[i].URI, ".m4s") + ".vtt")
		if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/vtt; charset=utf-8" || answer.Header.Get("Etag") == "" {
			t.Fatalf("%d %v", answer.StatusCode, answer.Header)
		}
		return bodyOf(t, answer)
	}
	third := 0
	for i, s := range video.Segments {
		if s.ProgramDateTime.Equal(zero.Add(4 * time.Second)) {
			third = i
		}
	}
	got := cues(third)
	for _, want := range []string{"WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:" + strconv.Itoa(90000*3604) + ",LOCAL:00:00:00.000\n", "\n00:00:01.000 --> 00:00:01.500\n{", `"label":"person"`, "\n00:00:01.500 --> 00:00:02.000\n{", `"label":"car"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if next := cues(third + 1); !strings.Contains(next, "\n00:00:00.000 --> 00:00:00.500\n{") {
		t.Errorf("the car is gone:\n%s", next)
	}
	// A name has one content.
	seen.see(zero.Add(4500*time.Millisecond), "late")
	if again := cues(third); again != got {
		t.Errorf("got\n%s", again)
	}
	for _, path := range []string{"door/ts/main.boxes.m3u8", "door/_sound.boxes.m3u8", "door/sub.boxes.m3u8", "door/ts/main.1.2.vtt", "door/main.1.2.3.vtt"} {
		if got := r.get(path).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
	// Long after the last there are none any more.
	seen.mu.Lock()
	seen.newest = r.clock.now().Add(-seenLately)
	seen.mu.Unlock()
	r.gops(1)
	if list := bodyOf(t, r.get("door/index.m3u8")); strings.Contains(list, "SUBTITLES") {
		t.Errorf("got\n%s", list)
	}
}
