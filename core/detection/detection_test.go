package detection

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
)

func box(x, y, w, h float64) *Box { return &Box{x, y, w, h} }

func TestAReportThatMakesNoSenseIsRefusedWithItsReason(t *testing.T) {
	one := func(d Detection) Report { return Report{Camera: "door", Detections: []Detection{d}} }
	boxed := func(b *Box) Report { return one(Detection{Label: "person", Score: 0.5, Box: b}) }
	many := map[string]string{}
	for i := range MaxAttributes + 1 {
		many[strings.Repeat("a", i+1)] = ""
	}
	large := Report{}
	for range 20 {
		large.Detections = append(large.Detections, Detection{Label: "person", JSON: json.RawMessage(`{"a":"` + strings.Repeat("x", 4000) + `"}`)})
	}
	tests := []struct {
		name   string
		report Report
		want   Reason // "": it is good
		field  string
	}{
		{"nothing was seen", Report{}, "", ""},
		{"the whole picture", one(Detection{Label: "rain", Score: 1}), "", ""},
		{"all there is", Report{Worker: "hog-1", Source: "main", JSON: json.RawMessage(` {"a": [1]} `), Detections: []Detection{{Label: "person", Score: 0.5, Box: box(0, 0, 1, 1), Track: 3, Attributes: map[string]string{"hat": "red"}, JSON: json.RawMessage(`{}`)}}}, "", ""},
		{"a box over the edge by rounding", boxed(box(-0.0005, 0.5, 1.0009, 0.5)), "", ""},
		{"a score that is no number", one(Detection{Label: "person", Score: math.NaN()}), ReasonNumber, "detections[0].score"},
		{"a score above 1", one(Detection{Label: "person", Score: 1.01}), ReasonNumber, "detections[0].score"},
		{"a score below 0", one(Detection{Label: "person", Score: -0.01}), ReasonNumber, "detections[0].score"},
		{"a box with NaN", boxed(box(math.NaN(), 0, 0.1, 0.1)), ReasonNumber, "detections[0].box"},
		{"a box without end", boxed(box(0, 0, math.Inf(1), 0.1)), ReasonNumber, "detections[0].box"},
		{"a box in pixels", boxed(box(100, 50, 40, 80)), ReasonBox, "detections[0].box"},
		{"a box to the left", boxed(box(-0.2, 0, 0.1, 0.1)), ReasonBox, "detections[0].box"},
		{"an empty box", boxed(box(0.5, 0.5, 0, 0.1)), ReasonBox, "detections[0].box"},
		{"a box turned inside out", boxed(box(0.5, 0.5, -0.1, 0.1)), ReasonBox, "detections[0].box"},
		{"no label", one(Detection{}), ReasonText, "detections[0].label"},
		{"a long label", one(Detection{Label: strings.Repeat("a", MaxLabelBytes+1)}), ReasonText, "detections[0].label"},
		{"a label with a line break", one(Detection{Label: "a\nb"}), ReasonText, "detections[0].label"},
		{"a label that is no text", one(Detection{Label: "\xff"}), ReasonText, "detections[0].label"},
		{"too many boxes", Report{Detections: make([]Detection, MaxDetections+1)}, ReasonMany, "detections"},
		{"too many attributes", one(Detection{Label: "person", Attributes: many}), ReasonMany, "detections[0].attributes"},
		{"a long attribute", one(Detection{Label: "person", Attributes: map[string]string{"a": strings.Repeat("x", MaxAttributeBytes+1)}}), ReasonText, "detections[0].attributes"},
		{"JSON that is none", Report{JSON: json.RawMessage(`{"a":`)}, ReasonJSON, "json"},
		{"JSON that is no object", Report{JSON: json.RawMessage(`[1]`)}, ReasonJSON, "json"},
		{"JSON that is large", Report{JSON: json.RawMessage(`{"a":"` + strings.Repeat("x", MaxJSONBytes) + `"}`)}, ReasonBytes, "json"},
		{"much of everything", large, ReasonBytes, ""},
		{"a worker with spaces", Report{Worker: "my worker"}, ReasonText, "worker"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.report.Normalize()
			var refused *Error
			switch {
			case err == nil && test.want != "":
				t.Error("it was taken")
			case err != nil && !errors.As(err, &refused):
				t.Errorf("%v is no *Error", err)
			case err != nil && (refused.Reason != test.want || refused.Field != test.field || refused.Text == ""):
				t.Errorf("got %s of %q: %v", refused.Reason, refused.Field, err)
			}
		})
	}
}

func TestANormalReportIsWithinThePictureAndSaysWhoseItIs(t *testing.T) {
	given := box(-0.0005, 0.5, 1.0009, 0.5005)
	r := Report{JSON: json.RawMessage(" {\"a\": 1} "), Detections: []Detection{{Label: "person", Box: given}}}
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	if b := *r.Detections[0].Box; b.X != 0 || b.Y != 0.5 || b.X+b.Width > 1 || b.Y+b.Height > 1 {
		t.Errorf("got %+v", b)
	}
	if r.Worker != "worker" || string(r.JSON) != `{"a":1}` {
		t.Errorf("got %q, %s", r.Worker, r.JSON)
	}
	if given.X != -0.0005 {
		t.Error("the caller's box was written to")
	}
}

func good() Rule { return Rule{ID: "r", Gap: DefaultGap, Quiet: DefaultQuiet} }

func TestARuleThatMakesNoSenseIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Rule)
		field  string // "": it is good
	}{
		{"the least", func(*Rule) {}, ""},
		{"an id with capitals", func(r *Rule) { r.ID = "Rule" }, "id"},
		{"no id", func(r *Rule) { r.ID = "" }, "id"},
		{"a long name", func(r *Rule) { r.Name = strings.Repeat("a", MaxNameBytes+1) }, "name"},
		{"an empty label", func(r *Rule) { r.Labels = []string{""} }, "labels[0]"},
		{"many labels", func(r *Rule) { r.Labels = make([]string, MaxRuleLabels+1) }, "labels"},
		{"a score above 1", func(r *Rule) { r.MinScore = 2 }, "min_score"},
		{"a zone of two points", func(r *Rule) { r.Zone = make([]Point, 2) }, "zone"},
		{"a zone in pixels", func(r *Rule) { r.Zone = []Point{{0, 0}, {640, 0}, {0, 360}} }, "zone[1]"},
		{"a zone with NaN", func(r *Rule) { r.Zone = []Point{{0, 0}, {math.NaN(), 0}, {0, 1}} }, "zone[1]"},
		{"an anchor nobody knows", func(r *Rule) { r.Anchor = "head" }, "anchor"},
		{"a minimum below 0", func(r *Rule) { r.MinDuration = -1 }, "min_duration"},
		{"no quiet", func(r *Rule) { r.Quiet = 0 }, "quiet"},
		{"no gap", func(r *Rule) { r.Gap = 0 }, "gap"},
		{"a zone of time nobody knows", func(r *Rule) {
			r.Schedule = camera.Schedule{Zone: "Mars/Olympus", Spans: []string{"daily 00:00-24:00"}}
		}, "schedule.zone"},
		{"a schedule of nothing", func(r *Rule) { r.Schedule = camera.Schedule{Zone: "UTC"} }, "schedule.spans"},
		{"a 25th hour", func(r *Rule) { r.Schedule = camera.Schedule{Spans: []string{"daily 00:00-25:00"}} }, "schedule.spans[0]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := good()
			test.change(&r)
			err := r.Normalize()
			var refused *Error
			if test.field == "" && err != nil || test.field != "" && (!errors.As(err, &refused) || refused.Field != test.field) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestARuleIsInForceByItsSchedule(t *testing.T) {
	r := good()
	r.Schedule = camera.Schedule{Zone: "Europe/Berlin", Spans: []string{"mon-fri 09:00-17:00"}}
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"2026-07-01T07:30:00Z": true, "2026-01-07T07:30:00Z": false, "2026-07-05T12:00:00Z": false} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Matches(at, &Detection{Label: "person"}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestAZoneHasItsEdgeWithIt(t *testing.T) {
	square := []Point{{0.2, 0.2}, {0.8, 0.2}, {0.8, 1}, {0.2, 1}}
	hollow := []Point{{0, 0}, {1, 0}, {1, 1}, {0.5, 0.3}, {0, 1}}
	tests := []struct {
		zone []Point
		p    Point
		want bool
	}{
		{square, Point{0.5, 0.5}, true}, {square, Point{0.1, 0.5}, false}, {square, Point{0.5, 1}, true},
		{square, Point{0.8, 0.5}, true}, {square, Point{0.2, 0.2}, true}, {square, Point{0.9, 1}, false},
		{hollow, Point{0.5, 0.2}, true}, {hollow, Point{0.5, 0.6}, false}, {hollow, Point{0.05, 0.8}, true},
	}
	for _, test := range tests {
		if got := inside(test.zone, test.p); got != test.want {
			t.Errorf("%v in %v: %v", test.p, test.zone, got)
		}
	}
}

func FuzzReportsAreKeptWithinBoundsOrRefused(f *testing.F) {
	f.Add(`{"Detections":[{"Label":"person","Score":0.5,"Box":{"X":0,"Y":0,"Width":1,"Height":1}}]}`)
	f.Add(`{"Worker":"x","JSON":{"a":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r Report
		if json.Unmarshal([]byte(text), &r) != nil || r.Normalize() != nil {
			return
		}
		for _, d := range r.Detections {
			if b := d.Box; b != nil && !(b.X >= 0 && b.Y >= 0 && b.Width > 0 && b.Height > 0 && b.X+b.Width <= 1+1e-9 && b.Y+b.Height <= 1+1e-9) {
				t.Errorf("%+v was taken", b)
			}
		}
		again := r
		if err := again.Normalize(); err != nil {
			t.Errorf("what is normal was refused: %v", err)
		}
	})
}

func TestACursorIsReadAsItIsWritten(t *testing.T) {
	for _, want := range []Cursor{{}, {Micros: 1, ID: 2}, {Micros: -5, ID: 1 << 60}} {
		if got, err := ParseCursor(want.String()); err != nil || got != want {
			t.Errorf("%v: got %v, %v", want, got, err)
		}
	}
	for _, text := range []string{"1", "1.", ".1", "1.0", "1.-2", "01.2", "a.b", "1.2.3", "99999999999999999999.1"} {
		if got, err := ParseCursor(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
