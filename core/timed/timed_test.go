package timed

import (
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/detection"
)

func zero() time.Time { return time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC) }

func report(worker string, ms int, labels ...string) detection.Report {
	r := detection.Report{Worker: worker, Time: zero().Add(time.Duration(ms) * time.Millisecond)}
	for _, label := range labels {
		r.Detections = append(r.Detections, detection.Detection{Label: label, Score: 0.5})
	}
	return r
}

func TestBoxesStandUntilTheNextReportOfTheirWorker(t *testing.T) {
	r := report("hog", 500, "person")
	r.Detections[0].Box, r.Detections[0].Track = &detection.Box{X: 0.25, Y: 0.5, Width: 0.125, Height: 0.25}, 7
	out := AppendBoxes([]byte("prefix\n"), zero(), 10*time.Second, 2*time.Second, []detection.Report{
		report("hog", -1500, "too old"), report("hog", -300, "before"), r, report("other", 600, "a --> b"), report("hog", 900), report("hog", 1900, "last"),
	})
	want := `prefix
WEBVTT
X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000

00:00:00.000 --> 00:00:00.500
{"time":"2026-07-01T09:59:59.700000Z","worker":"hog","detections":[{"label":"before","score":0.5}]}

00:00:00.500 --> 00:00:00.900
{"time":"2026-07-01T10:00:00.500000Z","worker":"hog","detections":[{"label":"person","score":0.5,"box":{"x":0.25,"y":0.5,"width":0.125,"height":0.25},"track_id":7}]}

00:00:00.600 --> 00:00:01.600
{"time":"2026-07-01T10:00:00.600000Z","worker":"other","detections":[{"label":"a --\u003e b","score":0.5}]}

00:00:01.900 --> 00:00:02.000
{"time":"2026-07-01T10:00:01.900000Z","worker":"hog","detections":[{"label":"last","score":0.5}]}
`
	if string(out) != want {
		t.Errorf("got\n%s", out)
	}
}

func TestAnEventThatGoesOnHasNoEndYet(t *testing.T) {
	events := []detection.Event{
		{ID: 4, Rule: "r", Name: "Rule", Label: "person", Start: zero(), End: zero().Add(time.Second), Score: 0.98765},
		{ID: 5, Rule: "r", Name: "Rule", Label: "car", Start: zero(), End: zero().Add(time.Second), Open: true},
	}
	want := `#EXT-X-DATERANGE:ID="drover-event-4",CLASS="drover.event",START-DATE="2026-07-01T10:00:00.000Z",END-DATE="2026-07-01T10:00:01.000Z",X-RULE="r",X-NAME="Rule",X-LABEL="person",X-SCORE="0.988"
#EXT-X-DATERANGE:ID="drover-event-5",CLASS="drover.event",START-DATE="2026-07-01T10:00:00.000Z",X-RULE="r",X-NAME="Rule",X-LABEL="car"
`
	if got := string(AppendRanges(nil, events)); got != want {
		t.Errorf("got\n%s", got)
	}
	if n := strings.Count(string(AppendRanges(nil, make([]detection.Event, 500))), "\n"); n != MaxRanges {
		t.Errorf("%d of 500", n)
	}
}
