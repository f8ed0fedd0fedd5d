package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/event"
)

// A seer remembers what it is told, and takes what is normal.
type seer struct {
	mu      sync.Mutex
	reports []detection.Numbered
	changed chan struct{}
	fail    error
	query   detection.Query
	rules   []detection.Rule
	missed  uint64
	refused map[detection.Reason]int

	inside  int
	entered chan int      // how many are inside, of each that enters; nil: nobody wants to know
	leave   chan struct{} // lets one of them leave
}

func (s *seer) Report(r detection.Report) error {
	if s.entered != nil {
		s.mu.Lock()
		s.inside++
		n := s.inside
		s.mu.Unlock()
		s.entered <- n
		<-s.leave
		s.mu.Lock()
		s.inside--
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	if r.Camera != "door" {
		return &detection.Error{Reason: detection.ReasonCamera, Text: "there is no such camera"}
	}
	if err := r.Normalize(); err != nil {
		var refused *detection.Error
		if errors.As(err, &refused) {
			s.refused[refused.Reason]++
		}
		return err
	}
	s.reports = append(s.reports, detection.Numbered{Report: r, Number: uint64(len(s.reports) + 1)})
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

func (s *seer) Detections(_ context.Context, q detection.Query) ([]detection.Seen, detection.Cursor, error) {
	s.query = q
	return []detection.Seen{{Detection: detection.Detection{ID: 3, Label: "person", Score: 0.5}, Camera: "door", Source: "main", Time: time.UnixMicro(1_500_001), Worker: "hog"}},
		detection.Cursor{Micros: 5, ID: 7}, s.fail
}

func (s *seer) Events(_ context.Context, q detection.EventQuery) ([]detection.Event, detection.Cursor, error) {
	return []detection.Event{{ID: 4, Camera: q.Camera, Rule: "r", Name: "R", Label: "person", Start: time.UnixMicro(1), End: time.UnixMicro(2), Best: time.UnixMicro(1), Box: &detection.Box{Width: 1, Height: 1}}}, detection.Cursor{}, s.fail
}

func (s *seer) After(_ string, number uint64, limit int) detection.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := detection.Batch{Last: number, Changed: s.changed, Missed: s.missed}
	s.missed = 0
	for _, r := range s.reports {
		if r.Number > number && len(b.Reports) < limit {
			b.Reports = append(b.Reports, r)
			b.Last = r.Number
		}
	}
	return b
}

func (s *seer) Newest(string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.reports))
}

func (s *seer) Rules(string) []detection.Rule { return s.rules }

func (s *seer) SetRule(_ context.Context, r detection.Rule) (detection.Rule, error) {
	if err := r.Normalize(); err != nil {
		return r, err
	}
	r.Created = time.UnixMilli(1000)
	s.rules = append(slices.DeleteFunc(s.rules, func(other detection.Rule) bool { return other.ID == r.ID }), r)
	return r, s.fail
}

func (s *seer) RemoveRule(_ context.Context, _, id string) (bool, error) {
	n := len(s.rules)
	s.rules = slices.DeleteFunc(s.rules, func(r detection.Rule) bool { return r.ID == id })
	return len(s.rules) < n, s.fail
}

func newSeer(t *testing.T) (*bench, *seer) {
	s := &seer{changed: make(chan struct{}), refused: map[detection.Reason]int{}}
	b := newBench(t, func(o *Options) { o.Detections = s })
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	return b, s
}

const reportPath = "/api/v1/cameras/door/detections"

func TestAReportIsTakenAsItWasSaid(t *testing.T) {
	b, s := newSeer(t)
	got := b.must(http.StatusAccepted, "POST", reportPath, `{"source":"sub","epoch":1790000000000,"sequence":7,"time":"2026-07-01T12:00:00.123456+02:00","worker":"hog",
		"json":{"ms": 5},"detections":[{"label":"person","score":0.5,"box":{"x":0.1,"y":0.2,"width":0.3,"height":0.4},"track_id":9,"attributes":{"hat":"red"},"json":{}},{"label":"rain","score":1}]}`)
	if body := strings.TrimSpace(got.Body.String()); body != `{"detections":2}` {
		t.Errorf("got %s", body)
	}
	r := s.reports[0].Report
	if r.Camera != "door" || r.Source != "sub" || !r.HasFrame || r.Epoch != 1790000000000 || r.Sequence != 7 || r.Worker != "hog" || string(r.JSON) != `{"ms":5}` ||
		!r.Time.Equal(time.Date(2026, 7, 1, 10, 0, 0, 123_456_000, time.UTC)) {
		t.Errorf("got %+v", r)
	}
	d := r.Detections[0]
	if *d.Box != (detection.Box{X: 0.1, Y: 0.2, Width: 0.3, Height: 0.4}) || d.Track != 9 || d.Attributes["hat"] != "red" || r.Detections[1].Box != nil {
		t.Errorf("got %+v", r.Detections)
	}
	b.must(http.StatusAccepted, "POST", reportPath, `{"time":"2026-07-01T10:00:00Z","detections":[]}`)
}

func TestABadReportHasAClearAnswer(t *testing.T) {
	b, _ := newSeer(t)
	const at = `"time":"2026-07-01T10:00:00Z"`
	for name, test := range map[string]struct {
		path, body string
		want       kind
	}{
		"for no camera":        {"/api/v1/cameras/attic/detections", `{` + at + `,"detections":[]}`, problemNoCamera},
		"NaN":                  {reportPath, `{` + at + `,"detections":[{"label":"a","score":NaN}]}`, problemMalformed},
		"a number beyond all":  {reportPath, `{` + at + `,"detections":[{"label":"a","score":1e999}]}`, problemMalformed},
		"a score above 1":      {reportPath, `{` + at + `,"detections":[{"label":"a","score":1.5}]}`, problemInvalid},
		"a box in pixels":      {reportPath, `{` + at + `,"detections":[{"label":"a","score":1,"box":{"x":100,"y":0,"width":1,"height":1}}]}`, problemInvalid},
		"an epoch alone":       {reportPath, `{"epoch":5,"detections":[]}`, problemInvalid},
		"a time that is none":  {reportPath, `{"time":"yesterday","detections":[]}`, problemInvalid},
		"no detections":        {reportPath, `{` + at + `}`, problemInvalid},
		"an unknown field":     {reportPath, `{` + at + `,"detections":[],"boxes":1}`, problemInvalid},
		"too many boxes":       {reportPath, `{` + at + `,"detections":[` + strings.Repeat(`{"label":"a","score":1},`, 300) + `{"label":"a","score":1}]}`, problemInvalid},
		"a million boxes":      {reportPath, `{` + at + `,"detections":[` + strings.Repeat(`{"label":"a","score":1},`, 1e6) + `{"label":"a","score":1}]}`, problemTooLarge},
		"many that are none":   {reportPath, `{` + at + `,"detections":[` + strings.Repeat(`{},`, 80_000) + `{}]}`, problemInvalid},
		"more than a report":   {reportPath, `{` + at + `,"detections":[]}` + strings.Repeat(" ", maxReportBytes), problemTooLarge},
		"half of one":          {reportPath, `{` + at + `,"detections":[`, problemMalformed},
		"JSON that is a list":  {reportPath, `{` + at + `,"detections":[],"json":[]}`, problemInvalid},
		"a negative sequence":  {reportPath, `{"epoch":5,"sequence":-1,"detections":[]}`, problemInvalid},
		"detections of a text": {reportPath, `{` + at + `,"detections":"none"}`, problemInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			w := b.do("POST", test.path, test.body)
			if got := (&bench{t: t}).refused(w, test.want); strings.Contains(got.Detail, "boxes\":1") {
				t.Errorf("it says back what came: %s", got.Detail)
			}
		})
	}
}

func TestTooManyDetectionsAreCountedBeforeTheyAreRead(t *testing.T) {
	b, s := newSeer(t)
	list := func(n int) string {
		return `{"time":"2026-07-01T10:00:00Z","detections":[` + strings.TrimSuffix(strings.Repeat(`{},`, n), ",") + `]}`
	}
	// Each of them lacks a label: that they are too many is known without reading them.
	got := b.refused(b.do("POST", reportPath, list(257)), problemInvalid)
	if got.Detail != "detections: there are at most 256 of one frame" || len(got.Errors) != 1 || s.refused[detection.ReasonMany] != 1 {
		t.Errorf("got %+v, counted %v", got, s.refused)
	}
	if got := b.refused(b.do("POST", reportPath, list(256)), problemInvalid); !strings.Contains(got.Detail, "label") {
		t.Errorf("got %+v", got)
	}
	b.refused(b.do("POST", "/api/v1/cameras/attic/detections", list(257)), problemNoCamera)
	// As many as there may be, with all that they may have.
	one := `{"label":"a, [b]","score":1,"box":{"x":0.1,"y":0.2,"width":0.3,"height":0.4},"attributes":{"a":"\"[,,"},"json":{"list":[1,2,[3,4]]}},`
	b.must(http.StatusAccepted, "POST", reportPath, `{"time":"2026-07-01T10:00:00Z","detections":[`+strings.TrimSuffix(strings.Repeat(one, 256), ",")+`]}`)
	if n := len(s.reports[0].Detections); n != 256 {
		t.Errorf("%d were taken", n)
	}
}

func TestElementsOfListsAreCounted(t *testing.T) {
	for text, want := range map[string]int{
		`{"detections":[]}`: 1, `{"detections":[{}]}`: 1, `{"detections":[{},{}]}`: 2, `{"a":1,"b":2}`: 0, `[1,2,3]`: 3,
		`{"detections":[{"json":{"list":[1,2,3,4]},"x":1}]}`: 1, `{"a":[1,2],"a":[3]}`: 3, `{"a":",[,","b":["\",[","c"]}`: 2,
		`[[1,2],[3,4]]`: 6, `]]]{"a":[1,2]}`: 2, `"`: 0, `"\`: 0, ``: 0,
	} {
		if got := elements([]byte(text), 100); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
	if got := elements([]byte("["+strings.Repeat("1,", 1000)+"1]"), 7); got != 8 {
		t.Errorf("it counts on to %d, though more than 7 are too many", got)
	}
}

func FuzzElements(f *testing.F) {
	f.Add([]byte(`{"detections":[{"a":[1,2]},{}],"json":{"b":"\"["}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := elements(data, len(data))
		var r struct{ Detections []json.RawMessage }
		if json.Unmarshal(data, &r) == nil && len(r.Detections) > got {
			t.Errorf("of %d detections %d were counted", len(r.Detections), got)
		}
	})
}

func TestFewReportsAreReadAtOnce(t *testing.T) {
	b, s := newSeer(t)
	s.entered, s.leave = make(chan int), make(chan struct{})
	const body = `{"time":"2026-07-01T10:00:00Z","detections":[]}`
	var group sync.WaitGroup
	for range 3 * maxReading {
		group.Go(func() {
			if w := b.do("POST", reportPath, body); w.Code != http.StatusAccepted {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
	most := 0
	for range 3 * maxReading {
		most = max(most, <-s.entered)
		if most == maxReading { // Until now none has left.
			s.leave <- struct{}{}
		}
	}
	close(s.leave)
	group.Wait()
	if most > maxReading {
		t.Errorf("%d were read at once", most)
	}
}

func TestAFloodIsToldWhenToComeAgain(t *testing.T) {
	b, s := newSeer(t)
	const body = `{"time":"2026-07-01T10:00:00Z","detections":[]}`
	for _, test := range []struct {
		reason detection.Reason
		retry  time.Duration
		want   kind
		header string
	}{{detection.ReasonRate, 10 * time.Millisecond, problemBusy, "1"}, {detection.ReasonStorage, 4500 * time.Millisecond, problemNoDetections, "5"}} {
		s.fail = &detection.Error{Reason: test.reason, Text: "slow down", Retry: test.retry}
		w := b.do("POST", reportPath, body)
		b.refused(w, test.want)
		if got := w.Header().Get("Retry-After"); got != test.header {
			t.Errorf("Retry-After %q", got)
		}
	}
}

func TestWithoutAStoreAllOfItIsUnavailable(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	b.refused(b.do("POST", reportPath, `{"detections":[]}`), problemNoDetections)
	for _, path := range []string{"/api/v1/detections", "/api/v1/detections/events", "/api/v1/cameras/door/rules"} {
		b.refused(b.do("GET", path, ""), problemNoDetections)
	}
}

func TestWhatIsKeptIsListed(t *testing.T) {
	b, s := newSeer(t)
	got := b.must(http.StatusOK, "GET", "/api/v1/detections?camera=door&from=2026-07-01T10:00:00Z&to=2026-07-01T11:00:00Z&label=person&min_score=0.25&limit=9&order=newest&cursor=5.7", "").Body.String()
	want := `{"detections":[{"id":3,"camera":"door","source":"main","time":"1970-01-01T00:00:01.500001Z","worker":"hog","label":"person","score":0.5}],"cursor":"5.7"}`
	if strings.TrimSpace(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if q := s.query; q.Camera != "door" || q.From.Hour() != 10 || q.To.Hour() != 11 || q.Label != "person" || q.MinScore != 0.25 || q.Limit != 9 || !q.Newest || q.After.ID != 7 {
		t.Errorf("asked for %+v", q)
	}
	b.must(http.StatusOK, "GET", "/api/v1/detections", "")
	if s.query.Limit != 500 || s.query.Newest || !s.query.From.IsZero() {
		t.Errorf("asked for %+v", s.query)
	}
	found := b.must(http.StatusOK, "GET", "/api/v1/detections/events?camera=door", "").Body.String()
	want = `{"events":[{"id":4,"camera":"door","source":"","rule":"r","name":"R","label":"person","start":"1970-01-01T00:00:00.000001Z","end":"1970-01-01T00:00:00.000002Z","open":false,"score":0,"box":{"x":0,"y":0,"width":1,"height":1},"best":"1970-01-01T00:00:00.000001Z"}]}`
	if strings.TrimSpace(found) != want {
		t.Errorf("got  %s\nwant %s", found, want)
	}
	for _, query := range []string{"limit=0", "limit=100000", "min_score=2", "from=noon", "cursor=x", "order=best"} {
		b.refused(b.do("GET", "/api/v1/detections?"+query, ""), problemInvalid)
	}
	s.fail = context.DeadlineExceeded
	b.refused(b.do("GET", "/api/v1/detections", ""), problemNoDetections)
}

func TestTimesOfWhatWasSeenAreGivenAsThoseOfRecordings(t *testing.T) {
	b, s := newSeer(t)
	at := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	for _, text := range []string{"2026-07-01T12:00:00%2B02:00", "1782900000", "1782900000000"} {
		b.must(http.StatusOK, "GET", "/api/v1/detections?from="+text, "")
		if !s.query.From.Equal(at) || !s.query.To.IsZero() {
			t.Errorf("%s: asked for %+v, want %s", text, s.query, at)
		}
	}
	for _, query := range []string{"/api/v1/detections?from=noon", "/api/v1/detections?to=noon", "/api/v1/detections/events?from=noon"} {
		answer := b.do("GET", query, "")
		if text := answer.Body.String(); answer.Code != http.StatusUnprocessableEntity || !strings.Contains(text, noTime) {
			t.Errorf("%s: %d, %s", query, answer.Code, text)
		}
	}
}

func TestAListenerHearsWhatIsSeen(t *testing.T) {
	b, s := newSeer(t)
	b.refused(b.do("GET", "/api/v1/detections", "", "Accept", "text/event-stream"), problemInvalid)
	b.refused(b.do("GET", "/api/v1/detections?camera=attic", "", "Accept", "text/event-stream"), problemNoCamera)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/v1/detections?camera=door&label=person", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	next := func(prefix string) string {
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
	next("retry:")
	s.mu.Lock()
	s.missed = 3
	s.mu.Unlock()
	if err := s.Report(detection.Report{Camera: "door", Time: time.UnixMicro(5), Detections: []detection.Detection{{Label: "car", Score: 1}, {Label: "person", Score: 0.5}}}); err != nil {
		t.Fatal(err)
	}
	if got := next("data: "); got != `{"missed":3}` {
		t.Errorf("got %s", got)
	}
	if got := next("id: "); got != "1" {
		t.Errorf("got %s", got)
	}
	if got := next("data: "); got != `{"camera":"door","source":"","time":"1970-01-01T00:00:00.000005Z","worker":"worker","detections":[{"label":"person","score":0.5}]}` {
		t.Errorf("got %s", got)
	}
}

func TestAListenerIsSentAwayWhenTheCameraIsRemoved(t *testing.T) {
	b, s := newSeer(t)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/detections?camera=door", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b.must(http.StatusNoContent, "DELETE", "/api/v1/cameras/door", "")
	s.mu.Lock()
	close(s.changed) // as the desk does
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "retry: 2000\n\n" {
		t.Errorf("got %q, %v", text, err)
	}
	b.refused(b.do("GET", "/api/v1/detections?camera=door", "", "Accept", "text/event-stream"), problemNoCamera)
}

func TestRulesAreSetListedAndRemoved(t *testing.T) {
	b, s := newSeer(t)
	const path = "/api/v1/cameras/door/rules"
	w := b.must(http.StatusCreated, "POST", path, `{"name":"Somebody at the door!","labels":["person"],"min_score":0.5,"zone":[{"x":0,"y":0},{"x":1,"y":0},{"x":0,"y":1}],"anchor":"center",
		"min_duration":"3s","gap":"500ms","quiet":"1m","record":false,"schedule":{"zone":"Europe/Berlin","spans":["mon,sun 22:00-06:00"]}}`)
	want := `{"id":"somebody-at-the-door","name":"Somebody at the door!","labels":["person"],"min_score":0.5,"zone":[{"x":0,"y":0},{"x":1,"y":0},{"x":0,"y":1}],"anchor":"center",` +
		`"min_duration":"3s","gap":"500ms","quiet":"1m","schedule":{"zone":"Europe/Berlin","spans":["mon,sun 22:00-06:00"]},"record":false,"created":"1970-01-01T00:00:01.000Z"}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := w.Header().Get("Location"); got != path+"/somebody-at-the-door" {
		t.Errorf("Location %s", got)
	}
	r := s.rules[0]
	if r.Camera != "door" || r.MinDuration != 3*time.Second || r.Schedule.Spans[0] != "mon,sun 22:00-06:00" || r.Record {
		t.Errorf("got %+v", r)
	}
	b.must(http.StatusCreated, "POST", path, `{"id":"all"}`)
	if r := s.rules[1]; r.Quiet != detection.DefaultQuiet || r.Gap != detection.DefaultGap || !r.Record || r.Anchor != detection.AnchorFoot {
		t.Errorf("got %+v", r)
	}
	// What is listed can be sent back.
	var list struct{ Rules []json.RawMessage }
	if err := json.Unmarshal(b.must(http.StatusOK, "GET", path, "").Body.Bytes(), &list); err != nil || len(list.Rules) != 2 {
		t.Fatalf("%d rules, %v", len(list.Rules), err)
	}
	back := strings.Replace(string(list.Rules[0]), `,"created":"1970-01-01T00:00:01.000Z"`, "", 1)
	b.must(http.StatusCreated, "POST", path, back)
	b.must(http.StatusNoContent, "DELETE", path+"/all", "")
	b.refused(b.do("DELETE", path+"/all", ""), problemNoRule)
	b.refused(b.do("GET", "/api/v1/cameras/attic/rules", ""), problemNoCamera)
	b.refused(b.do("POST", "/api/v1/cameras/attic/rules", `{"id":"all"}`), problemNoCamera)
	for field, body := range map[string]string{
		"id": `{}`, "min_duration": `{"id":"a","min_duration":"long"}`, "quiet": `{"id":"a","quiet":"0s"}`, "zone": `{"id":"a","zone":[{"x":0,"y":0}]}`,
		"schedule.spans[0]": `{"id":"a","schedule":{"spans":["always"]}}`,
		"schedule.zone":     `{"id":"a","schedule":{"zone":"Mars","spans":["daily 00:00-01:00"]}}`,
		"schedule.spans":    `{"id":"a","schedule":{"spans":[]}}`,
	} {
		if got := b.refused(b.do("POST", path, body), problemInvalid); !strings.HasPrefix(got.Detail, field+":") {
			t.Errorf("%s: %s", body, got.Detail)
		}
	}
}

func TestAnEventOfARuleIsOnTheBus(t *testing.T) {
	b, _ := newSeer(t)
	b.registry.events.Publish(event.Event{Kind: event.KindDetectionBegan, Camera: "door", Detection: &detection.Event{ID: 6, Camera: "door", Rule: "r", Label: "person", Open: true}})
	if got := b.must(http.StatusOK, "GET", "/api/v1/events", "").Body.String(); !strings.Contains(got, `"kind":"detection.began","camera":"door","detection":{"id":6,"camera":"door"`) {
		t.Errorf("got %s", got)
	}
}
