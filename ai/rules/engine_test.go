package rules

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/detection"
)

func at(seconds float64) time.Time {
	return time.Unix(1_790_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// seen is a report of one thing.
func seen(seconds float64, label string, score float64, track uint64, box ...float64) *detection.Report {
	d := detection.Detection{Label: label, Score: score, Track: track}
	if len(box) == 4 {
		d.Box = &detection.Box{X: box[0], Y: box[1], Width: box[2], Height: box[3]}
	}
	return &detection.Report{Camera: "door", Source: "main", Time: at(seconds), Detections: []detection.Detection{d}}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func normal(t testing.TB, r detection.Rule) detection.Rule {
	t.Helper()
	r.ID, r.Camera = cmp.Or(r.ID, "rule"), "door"
	r.Gap, r.Quiet = cmp.Or(r.Gap, detection.DefaultGap), cmp.Or(r.Quiet, detection.DefaultQuiet)
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	return r
}

// A book is the events as somebody has them who has heard of every change.
type book struct {
	events map[int64]detection.Event
	log    []string
}

func (b *book) take(t testing.TB, changes []Change) {
	t.Helper()
	for _, c := range changes {
		_, known := b.events[c.Event.ID]
		if known == (c.Kind == Began) {
			t.Errorf("change %d of event %d, known: %v", c.Kind, c.Event.ID, known)
		}
		b.events[c.Event.ID] = c.Event
		switch c.Kind {
		case Began:
			b.log = append(b.log, "began "+c.Event.Label)
		case Ended:
			b.log = append(b.log, "ended "+c.Event.Label)
		case Absorbed:
			if _, there := b.events[c.Into]; !there {
				t.Errorf("absorbed into %d, which is not there", c.Into)
			}
			delete(b.events, c.Event.ID)
			b.log = append(b.log, "absorbed "+c.Event.Label)
		}
	}
}

// outcome is all events in an order of their own, without their IDs.
func (b *book) outcome() string {
	var lines []string
	for _, e := range b.events {
		open := ""
		if e.Open {
			open = " open"
		}
		lines = append(lines, fmt.Sprintf("%s %.1f-%.1f %.2f of %d%s", e.Label, e.Start.Sub(at(0)).Seconds(), e.End.Sub(at(0)).Seconds(), e.Score, e.Track, open))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func replay(t testing.TB, rules []detection.Rule, reports []*detection.Report, until float64) *book {
	t.Helper()
	e, b := New(1), &book{events: map[int64]detection.Event{}}
	b.take(t, e.SetRules("door", rules))
	for _, r := range reports {
		b.take(t, e.Add(r))
	}
	b.take(t, e.Tick(at(until)))
	return b
}

func TestDetectionsBecomeEventsAsTheRuleSays(t *testing.T) {
	zone := []detection.Point{{X: 0, Y: 0.5}, {X: 1, Y: 0.5}, {X: 1, Y: 1}, {X: 0, Y: 1}}
	several := func(reports ...*detection.Report) []*detection.Report { return reports }
	every := func(from, to, step float64) (all []*detection.Report) {
		for s := from; s <= to; s += step {
			all = append(all, seen(s, "person", 0.8, 1))
		}
		return all
	}
	tests := []struct {
		name    string
		rule    detection.Rule
		reports []*detection.Report
		until   float64
		want    string
	}{
		{"one detection is enough", detection.Rule{}, several(seen(1, "person", 0.9, 0)), 2, "person 1.0-1.0 0.90 of 0 open"},
		{"it is over when it has been quiet", detection.Rule{}, several(seen(1, "person", 0.9, 0)), 14, "person 1.0-1.0 0.90 of 0"},
		{"what comes in the quiet time belongs to it", detection.Rule{}, several(seen(1, "person", 0.9, 0), seen(10, "person", 0.5, 0)), 12, "person 1.0-10.0 0.90 of 0 open"},
		{"what comes later is another", detection.Rule{}, several(seen(1, "person", 0.9, 0), seen(12, "person", 0.5, 0)), 13.5, "person 1.0-1.0 0.90 of 0; person 12.0-12.0 0.50 of 0 open"},
		{"another label", detection.Rule{Labels: []string{"car", "bus"}}, several(seen(1, "person", 0.9, 0), seen(1, "bus", 0.4, 0)), 2, "bus 1.0-1.0 0.40 of 0 open"},
		{"a low score", detection.Rule{MinScore: 0.5}, several(seen(1, "person", 0.49, 0)), 2, ""},
		{"labels have events of their own", detection.Rule{}, several(seen(1, "person", 0.9, 0), seen(2, "car", 0.4, 0)), 3, "car 2.0-2.0 0.40 of 0 open; person 1.0-1.0 0.90 of 0 open"},
		{"feet in the zone", detection.Rule{Zone: zone}, several(seen(1, "person", 0.9, 0, 0.4, 0.1, 0.1, 0.5)), 2, "person 1.0-1.0 0.90 of 0 open"},
		{"feet outside it", detection.Rule{Zone: zone}, several(seen(1, "person", 0.9, 0, 0.4, 0.1, 0.1, 0.3)), 2, ""},
		{"the middle outside it", detection.Rule{Zone: zone, Anchor: detection.AnchorCenter}, several(seen(1, "person", 0.9, 0, 0.4, 0.1, 0.1, 0.5)), 2, ""},
		{"too short", detection.Rule{MinDuration: seconds(3)}, every(1, 3.5, 0.5), 20, ""},
		{"long enough", detection.Rule{MinDuration: seconds(3)}, every(1, 4, 0.5), 5, "person 1.0-4.0 0.80 of 1 open"},
		{"flickers do not add up", detection.Rule{MinDuration: seconds(3)}, every(1, 30, 5), 50, ""},
		{"several people in a row are nobody who stays", detection.Rule{MinDuration: seconds(3)},
			several(seen(1, "person", 0.9, 1), seen(2, "person", 0.9, 1), seen(3, "person", 0.9, 2), seen(4, "person", 0.9, 2), seen(5, "person", 0.9, 3)), 20, ""},
		{"who stays away for a moment has stayed", detection.Rule{MinDuration: seconds(2)}, append(every(1, 3, 0.5), every(8, 11, 0.5)...), 12, "person 1.0-11.0 0.80 of 1 open"},
		{"an event stays open for a stretch that is about to join it", detection.Rule{MinDuration: seconds(8)}, append(every(1, 9, 1), every(17, 22, 1)...), 22, "person 1.0-9.0 0.80 of 1 open"},
		{"the best detection is the event's", detection.Rule{}, several(seen(1, "person", 0.5, 7), seen(2, "person", 0.9, 8), seen(3, "person", 0.9, 9)), 4, "person 1.0-3.0 0.90 of 8 open"},
		{"a late detection joins two events", detection.Rule{Quiet: seconds(4)}, several(seen(1, "person", 0.5, 0), seen(7, "person", 0.6, 0), seen(4, "person", 0.4, 0)), 8, "person 1.0-7.0 0.60 of 0 open"},
		{"outside the schedule", detection.Rule{Schedule: camera.Schedule{Spans: []string{"sun 01:00-02:00"}}},
			several(seen(1, "person", 0.9, 0)), 2, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := replay(t, []detection.Rule{normal(t, test.rule)}, test.reports, test.until).outcome(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestTheOrderOfArrivalChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rules := []detection.Rule{
		normal(t, detection.Rule{ID: "any", Quiet: seconds(3)}),
		normal(t, detection.Rule{ID: "long", MinDuration: seconds(4), Gap: seconds(1.5), Quiet: seconds(5)}),
		normal(t, detection.Rule{ID: "zone", MinScore: 0.3, Quiet: seconds(2), Zone: []detection.Point{{X: 0, Y: 0}, {X: 0.6, Y: 0}, {X: 0, Y: 0.9}}}),
	}
	for round := range 300 {
		var reports []*detection.Report
		for range 1 + random.IntN(60) {
			label := []string{"person", "car"}[random.IntN(2)]
			// Few scores and places, so that the best is often to be chosen of equals.
			reports = append(reports, seen(float64(random.IntN(120))/2, label, float64(random.IntN(5))/4, uint64(random.IntN(3)),
				float64(random.IntN(5))/10, float64(random.IntN(5))/10, 0.2, 0.3))
		}
		want := replay(t, rules, reports, 100).outcome()
		for range 5 {
			random.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
			if got := replay(t, rules, reports, 100).outcome(); got != want {
				t.Fatalf("round %d:\ngot  %s\nwant %s", round, got, want)
			}
		}
	}
}

func TestAnEventBeginsOnceAndEndsOnce(t *testing.T) {
	e, b := New(7), &book{events: map[int64]detection.Event{}}
	b.take(t, e.SetRules("door", []detection.Rule{normal(t, detection.Rule{})}))
	for s := range 30 {
		b.take(t, e.Add(seen(float64(s), "person", 0.9, 1)))
		b.take(t, e.Tick(at(float64(s))))
	}
	for s := range 200 {
		b.take(t, e.Tick(at(30+float64(s))))
	}
	if got := strings.Join(b.log, ", "); got != "began person, ended person" {
		t.Error(got)
	}
	if len(e.rules["door"][0].series) != 0 {
		t.Error("it is remembered though no report can change it any more")
	}
}

func TestARuleThatGoesEndsItsEvents(t *testing.T) {
	e, b := New(1), &book{events: map[int64]detection.Event{}}
	kept, gone := normal(t, detection.Rule{ID: "kept"}), normal(t, detection.Rule{ID: "gone"})
	b.take(t, e.SetRules("door", []detection.Rule{kept, gone}))
	b.take(t, e.Add(seen(1, "person", 0.9, 0)))
	b.take(t, e.SetRules("door", []detection.Rule{kept}))
	open := 0
	for _, event := range b.events {
		if event.Open {
			open++
			if event.Rule != "kept" {
				t.Errorf("the event of %s is open", event.Rule)
			}
		}
	}
	if open != 1 || len(b.events) != 2 {
		t.Errorf("%d of %d are open", open, len(b.events))
	}
	b.take(t, e.End())
	if got := strings.Join(b.log, ", "); got != "began person, began person, ended person, ended person" {
		t.Error(got)
	}
}

func TestWorkersCannotFillTheMemory(t *testing.T) {
	e := New(1)
	e.SetRules("door", []detection.Rule{normal(t, detection.Rule{MinDuration: seconds(60)})})
	for i := range 1000 {
		e.Add(seen(1, fmt.Sprint("label", i), 0.9, 0))
		e.Add(seen(1, "person", 0.9, uint64(i)))
	}
	r := e.rules["door"][0]
	if len(r.series) != maxSeries || e.Dropped() == 0 {
		t.Errorf("%d labels, %d dropped", len(r.series), e.Dropped())
	}
	for label, s := range r.series {
		if len(s.tracks) > maxTracks {
			t.Errorf("%d tracks of %s", len(s.tracks), label)
		}
	}
}
