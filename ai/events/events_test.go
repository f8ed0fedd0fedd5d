package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func at(seconds float64) time.Time {
	return time.Unix(1_790_000_000, 0).UTC().Add(time.Duration(seconds * float64(time.Second)))
}

func open(t *testing.T, dir string, limits Limits) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func write(t *testing.T, s *Store, b Batch) {
	t.Helper()
	if err := s.Write(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
}

func report(camera string, seconds float64, detections ...detection.Detection) detection.Report {
	return detection.Report{Camera: camera, Source: "main", Worker: "hog", Time: at(seconds), Detections: detections}
}

func one(label string, score float64) detection.Detection {
	return detection.Detection{Label: label, Score: score}
}

func TestADetectionComesBackAsItWas(t *testing.T) {
	s := open(t, t.TempDir(), DefaultLimits())
	full := report("door", 1.5, detection.Detection{
		Label: "person", Score: 0.875, Box: &detection.Box{X: 0.1, Y: 0.2, Width: 0.3, Height: 0.4}, Track: 1<<64 - 1,
		Attributes: map[string]string{"hat": "red"}, JSON: json.RawMessage(`{"a":[1]}`),
	})
	full.HasFrame, full.Epoch, full.Sequence = true, 1<<63+5, 7
	write(t, s, Batch{Reports: []detection.Report{full, report("door", 2, one("car", 0))}})
	got, cursor, err := s.Detections(context.Background(), detection.Query{Camera: "door", Limit: 10})
	if err != nil || len(got) != 2 || cursor.ID != 0 {
		t.Fatalf("got %+v, %v, %v", got, cursor, err)
	}
	want := detection.Seen{Detection: full.Detections[0], Camera: "door", Source: "main", Time: full.Time, Epoch: full.Epoch, Sequence: 7, HasFrame: true, Worker: "hog"}
	want.ID = got[0].ID
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("got  %+v\nwant %+v", got[0], want)
	}
	if got[1].HasFrame || got[1].Box != nil || got[1].Attributes != nil || got[1].JSON != nil {
		t.Errorf("got %+v", got[1])
	}
}

func TestAQuestionIsAnsweredInPiecesThatFitTogether(t *testing.T) {
	s := open(t, t.TempDir(), DefaultLimits())
	var reports []detection.Report
	for i := range 40 {
		camera := []string{"door", "yard"}[i%2]
		// Several of one time, so that a cursor has to know more than that.
		reports = append(reports, report(camera, float64(i/8), one([]string{"person", "car"}[i/2%2], float64(i)/40), one("person", 0.1)))
	}
	write(t, s, Batch{Reports: reports})
	tests := []struct {
		name  string
		query detection.Query
		want  int
	}{
		{"all", detection.Query{}, 80},
		{"newest first", detection.Query{Newest: true}, 80},
		{"of a camera", detection.Query{Camera: "yard"}, 40},
		{"of a camera, newest first", detection.Query{Camera: "yard", Newest: true}, 40},
		{"of a label", detection.Query{Label: "car"}, 20},
		{"with a score", detection.Query{Camera: "door", MinScore: 0.5}, 10},
		{"of a time", detection.Query{From: at(1), To: at(3)}, 32},
		{"of a camera, a time and a label", detection.Query{Camera: "door", From: at(1), To: at(3), Label: "car"}, 4},
		{"of nobody", detection.Query{Camera: "attic"}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			seen := map[int64]bool{}
			var before time.Time
			for pages := 0; ; pages++ {
				q := test.query
				q.Limit = 7
				got, cursor, err := s.Detections(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range got {
					if seen[d.ID] || !before.IsZero() && (q.Newest && d.Time.After(before) || !q.Newest && d.Time.Before(before)) {
						t.Errorf("%d at %s after %s", d.ID, d.Time, before)
					}
					seen[d.ID], before = true, d.Time
				}
				if cursor.ID == 0 {
					break
				}
				if len(got) != 7 || pages > 20 {
					t.Fatalf("page %d has %d", pages, len(got))
				}
				test.query.After = cursor
			}
			if len(seen) != test.want {
				t.Errorf("got %d, want %d", len(seen), test.want)
			}
		})
	}
}

func TestAQuestionReadsItsIndexAlone(t *testing.T) {
	s := open(t, t.TempDir(), DefaultLimits())
	rows, err := s.db.Reader().Query(`EXPLAIN QUERY PLAN SELECT d.id, d.label, d.score, f.source FROM detections d INDEXED BY detections_by_camera
		JOIN frames f ON f.id = d.frame WHERE d.camera = 'door' AND d.time >= 0 AND d.time < 9 AND (d.time, d.id) > (1, 2) ORDER BY d.time ASC, d.id ASC LIMIT 5`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var a, b, c int
		var text string
		if err := rows.Scan(&a, &b, &c, &text); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, text)
	}
	if all := strings.Join(plan, "; "); !strings.Contains(all, "detections_by_camera (camera=? AND time>? AND time<?)") || strings.Contains(all, "TEMP B-TREE") {
		t.Errorf("got %s", all)
	}
}

func TestFramesInWhichNothingIsSeenTakeNoRoom(t *testing.T) {
	s := open(t, t.TempDir(), DefaultLimits())
	said := report("door", 2)
	said.JSON = json.RawMessage(`{}`) // of which no question tells
	write(t, s, Batch{Reports: []detection.Report{report("door", 1), said}})
	if n := count(t, s, "frames"); n != 0 {
		t.Errorf("%d frames", n)
	}
}

func TestEventsAreKeptAsTheyAreNow(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, DefaultLimits())
	e := detection.Event{ID: 5, Camera: "door", Source: "main", Rule: "r", Name: "Rule", Label: "person", Start: at(1), End: at(2), Open: true,
		Score: 0.5, Box: &detection.Box{X: 0.5, Width: 0.5, Height: 1}, Track: 3, Best: at(1.5), Record: true}
	write(t, s, Batch{Events: []detection.Event{e, {ID: 6, Camera: "yard", Rule: "r", Label: "car", Start: at(3), End: at(3)}, {ID: 7, Camera: "door"}}})
	write(t, s, Batch{Gone: []int64{7}})
	if open, err := s.Unfinished(context.Background()); err != nil || len(open) != 1 || !reflect.DeepEqual(open[0], e) {
		t.Errorf("got %+v, %v", open, err)
	}
	e.End, e.Open = at(4), false
	write(t, s, Batch{Events: []detection.Event{e}})
	if _, events := s.Rows(); events != 2 {
		t.Errorf("%d events", events)
	}
	tests := []struct {
		name  string
		query detection.EventQuery
		want  string
	}{
		{"all, newest first", detection.EventQuery{}, "6 5"},
		{"of a camera", detection.EventQuery{Camera: "door"}, "5"},
		{"of a label", detection.EventQuery{Label: "car"}, "6"},
		{"of a rule", detection.EventQuery{Rule: "x"}, ""},
		{"that touch a time", detection.EventQuery{From: at(3.5), To: at(10)}, "5"},
		{"that began before a time", detection.EventQuery{To: at(2)}, "5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var ids []string
			for range 5 {
				test.query.Limit = 1
				got, cursor, err := s.Events(context.Background(), test.query)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range got {
					ids = append(ids, fmt.Sprint(e.ID))
				}
				if test.query.After = cursor; cursor.ID == 0 {
					break
				}
			}
			if got := strings.Join(ids, " "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, DefaultLimits())
	if last, err := again.LastEvent(context.Background()); err != nil || last != 7 {
		t.Errorf("the last event was %d, %v: an ID would stand for two", last, err)
	}
	if _, events := again.Rows(); events != 2 {
		t.Errorf("%d events", events)
	}
}

func prune(t *testing.T, s *Store, now time.Time) {
	t.Helper()
	for range 100 {
		deleted, err := s.Prune(context.Background(), now)
		if err != nil {
			t.Fatal(err)
		}
		if deleted == 0 {
			return
		}
	}
	t.Fatal("there is always more")
}

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	if err := s.db.Reader().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatIsOldOrTooMuchGoes(t *testing.T) {
	fill := func(t *testing.T, limits Limits) *Store {
		s := open(t, t.TempDir(), limits)
		var b Batch
		for i := range 5000 {
			b.Reports = append(b.Reports, report("door", float64(i), one("person", 0.5)))
		}
		for i := range 100 {
			b.Events = append(b.Events, detection.Event{ID: int64(i + 1), Camera: "door", Start: at(float64(i)), End: at(float64(i)), Open: i == 0})
		}
		write(t, s, b)
		return s
	}
	t.Run("by age", func(t *testing.T) {
		s := fill(t, Limits{DetectionAge: time.Hour, DetectionRows: 1e6, EventAge: time.Minute, EventRows: 1e6})
		prune(t, s, at(5000))
		if n, frames := count(t, s, "detections"), count(t, s, "frames"); n != 3600 || frames != 3600 {
			t.Errorf("%d detections, %d frames", n, frames)
		}
		if n := count(t, s, "events"); n != 1 {
			t.Errorf("%d events: the open one stays", n)
		}
		if detections, events := s.Rows(); detections != 3600 || events != 1 {
			t.Errorf("%d detections, %d events are counted", detections, events)
		}
	})
	t.Run("by number", func(t *testing.T) {
		s := fill(t, Limits{DetectionAge: 100 * time.Hour, DetectionRows: 700, EventAge: 100 * time.Hour, EventRows: 10})
		prune(t, s, at(5000))
		if n, frames := count(t, s, "detections"), count(t, s, "frames"); n != 700 || frames != 700 {
			t.Errorf("%d detections, %d frames", n, frames)
		}
		got, _, err := s.Detections(context.Background(), detection.Query{Limit: 1})
		if err != nil || len(got) != 1 || !got[0].Time.Equal(at(4300)) {
			t.Errorf("the oldest is %+v, %v", got, err)
		}
		if n := count(t, s, "events"); n > 11 {
			t.Errorf("%d events", n)
		}
	})
}

func TestRulesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, DefaultLimits())
	ctx := context.Background()
	r := detection.Rule{ID: "r", Camera: "door", Labels: []string{"person"}, Zone: []detection.Point{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 0, Y: 1}},
		Gap: time.Second, Quiet: time.Minute, Created: at(0), Schedule: camera.Schedule{Zone: "Europe/Berlin", Spans: []string{"mon 01:00-02:00"}}}
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	for _, camera := range []string{"door", "yard"} {
		for _, id := range []string{"r", "s"} {
			r.Camera, r.ID = camera, id
			if err := s.SetRule(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.MinScore = 0.5
	if err := errors.Join(s.SetRule(ctx, r), s.RemoveRule(ctx, "door", ""), s.RemoveRule(ctx, "yard", "r"), s.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir, DefaultLimits()).Rules(ctx)
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], r) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, r)
	}
}

func TestOneServerWritesAtATime(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, DefaultLimits())
	if _, err := Open(context.Background(), dir, DefaultLimits()); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("got %v", err)
	}
}

func TestWhatPlayersAskForIsByFrame(t *testing.T) {
	s := open(t, t.TempDir(), DefaultLimits())
	other := report("door", 1, one("bird", 0.5))
	other.Worker = "onnx"
	write(t, s, Batch{
		Reports: []detection.Report{report("door", 1, one("person", 0.5), one("car", 0.5)), other, report("door", 2, one("dog", 0.5)), report("yard", 1, one("cat", 0.5))},
		Events:  []detection.Event{{ID: 1, Camera: "door", Start: at(0), End: at(1)}, {ID: 2, Camera: "door", Start: at(1), End: at(5)}, {ID: 3, Camera: "door", Start: at(9), End: at(9)}},
	})
	ctx := context.Background()
	reports, err := s.ReportsOf(ctx, "door", at(1), at(3), 10)
	if err != nil || len(reports) != 3 || len(reports[0].Detections) != 2 || reports[1].Worker != "onnx" || reports[2].Detections[0].Label != "dog" {
		t.Errorf("got %+v, %v", reports, err)
	}
	events, err := s.EventsOf(ctx, "door", at(1), at(9), 10)
	if err != nil || len(events) != 2 || events[0].ID != 1 || events[1].ID != 2 {
		t.Errorf("got %+v, %v", events, err)
	}
	for camera, want := range map[string]bool{"door": true, "attic": false} {
		if got, err := s.SawIn(ctx, camera, at(0), at(9)); got != want || err != nil {
			t.Errorf("%s: %v, %v", camera, got, err)
		}
	}
	if got, err := s.SawIn(ctx, "door", at(3), at(9)); got || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
