package play_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/archive/play"
	"github.com/drover-video/drover/core/detection"
)

// sightings is a person that was seen once, and the event of that.
type sightings struct {
	at   time.Time
	fail error
}

func (s *sightings) EventsOf(_ context.Context, camera string, from, to time.Time, _ int) ([]detection.Event, error) {
	if camera != "door" || s.at.Before(from) || !s.at.Before(to) || s.fail != nil {
		return nil, s.fail
	}
	return []detection.Event{{ID: 7, Camera: camera, Rule: "r", Name: "R", Label: "person", Start: s.at, End: s.at.Add(time.Second), Score: 0.5}}, nil
}

func (s *sightings) ReportsOf(_ context.Context, camera string, from, to time.Time, _ int) ([]detection.Report, error) {
	if camera != "door" || s.at.Before(from) || !s.at.Before(to) || s.fail != nil {
		return nil, s.fail
	}
	return []detection.Report{{Camera: camera, Time: s.at, Worker: "hog", Detections: []detection.Detection{{Label: "person", Score: 0.5}}}}, nil
}

func (s *sightings) SawIn(_ context.Context, camera string, from, to time.Time) (bool, error) {
	return camera == "door" && !s.at.Before(from) && s.at.Before(to), s.fail
}

// recorded is a rig with half a minute from noon on, and a person at its fifth second.
func recordedWithPerson(t *testing.T) (*rig, *sightings) {
	seen := &sightings{at: archivetest.Noon.Add(5 * time.Second)}
	r := newRigWith(t, play.Options{Seen: seen})
	r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Record(4)
	return r, seen
}

func TestEventsAreDateRangesOfRecordings(t *testing.T) {
	r, seen := recordedWithPerson(t)
	const want = `#EXT-X-DATERANGE:ID="drover-event-7",CLASS="drover.event",START-DATE="`
	for path, ranges := range map[string]int{
		"index.m3u8" + span(0, time.Minute):              1,
		"index.m3u8" + span(10*time.Second, time.Minute): 0,
		"iframes.m3u8" + span(0, time.Minute):            0,
		"index.m3u8":                                     1, // it slides
		"index.m3u8?from=" + at(0):                       0, // it only grows
		"boxes.m3u8" + span(0, time.Minute):              0,
	} {
		if n := strings.Count(r.playlist(path), want); n != ranges {
			t.Errorf("%s has %d:\n%s", path, n, r.playlist(path))
		}
	}
	// What cannot be read costs a playlist its ranges, and not itself.
	seen.fail = errors.New("the disk hangs")
	if text := r.playlist("index.m3u8" + span(time.Second, time.Minute)); strings.Contains(text, "DATERANGE") {
		t.Errorf("got\n%s", text)
	}
}

func TestBoxesOfRecordingsAreCutAsTheyAre(t *testing.T) {
	r, _ := recordedWithPerson(t)
	list := r.playlist("main.m3u8" + span(0, time.Minute))
	if !strings.Contains(list, `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="seen",`) || !strings.Contains(list, `SUBTITLES="seen"`) || !strings.Contains(list, `URI="boxes.m3u8?from=`) {
		t.Errorf("got\n%s", list)
	}
	if list := r.playlist("main.m3u8" + span(10*time.Second, time.Minute)); strings.Contains(list, "SUBTITLES") {
		t.Errorf("nothing was seen there:\n%s", list)
	}
	video, boxes := r.playlist("index.m3u8"+span(0, time.Minute)), r.playlist("boxes.m3u8"+span(0, time.Minute))
	if a, b := strings.Join(lines(video, "#EXTINF"), "\n"), strings.Join(lines(boxes, "#EXTINF"), "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", b, a)
	}
	if strings.Contains(boxes, "#EXT-X-MAP") || strings.Contains(boxes, "BYTERANGE") {
		t.Errorf("got\n%s", boxes)
	}
	cues := 0
	var before int64 = -1
	for line := range strings.SplitSeq(boxes, "\n") {
		if !strings.HasPrefix(line, "boxes.vtt?") {
			continue
		}
		w := r.get(line)
		text := w.Body.String()
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/vtt; charset=utf-8" || w.Header().Get("Etag") == "" || !strings.HasPrefix(text, "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:") {
			t.Fatalf("%d %v\n%s", w.Code, w.Header(), text)
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(text, "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:"), ",")
		media, err := strconv.ParseInt(number, 10, 64)
		if err != nil || before >= 0 && media-before != 180_000 {
			t.Errorf("the media begin at %s, and at %d before: %v", number, before, err)
		}
		before = media
		if strings.Contains(text, `"label":"person"`) {
			cues++
			if !strings.Contains(text, "\n00:00:01.000 --> 00:00:02.000\n") {
				t.Errorf("got\n%s", text)
			}
		}
	}
	if cues != 1 {
		t.Errorf("%d segments have it", cues)
	}
}

func TestBoxesThatMakeNoSenseAreRefused(t *testing.T) {
	r, seen := recordedWithPerson(t)
	r.refused(r.get("boxes.m3u8"), http.StatusBadRequest, "bad-range")
	for _, query := range []string{"", "?file=1", "?file=x&first=0&count=1", "?file=1&first=-1&count=1", "?file=1&first=0&count=99999999999"} {
		r.refused(r.get("boxes.vtt"+query), http.StatusBadRequest, "bad-range")
	}
	for _, query := range []string{"?file=99&first=0&count=1", "?file=1&first=0&count=0", "?file=1&first=60000&count=60000"} {
		if w := r.get("boxes.vtt" + query); w.Code != http.StatusNotFound && w.Code != http.StatusGone {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	seen.fail = errors.New("the disk hangs")
	if w := r.get("boxes.vtt?file=1&first=0&count=1"); w.Code < 500 {
		t.Errorf("%d", w.Code)
	}
	plain := newRig(t)
	plain.Take(archivetest.LoadClip(t, "h264"), 1, 0).Record(1)
	for _, path := range []string{"boxes.m3u8" + span(0, time.Minute), "boxes.vtt?file=1&first=0&count=1"} {
		if w := plain.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s where nobody sees: %d", path, w.Code)
		}
	}
}
