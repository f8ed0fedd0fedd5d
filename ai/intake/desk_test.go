package intake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/ai/events"
	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is a desk with a clock of its own and an archive that writes down what it is
// told.
type rig struct {
	t     testing.TB
	desk  *Desk
	store *events.Store
	bus   *event.Log

	mu      sync.Mutex
	now     time.Time
	archive archive
	cameras map[string][]string
}

type archive struct {
	calls   []string
	refuses bool
}

func (a *archive) Record(e detection.Event, until time.Time) error {
	if a.refuses {
		return errors.New("no room")
	}
	a.calls = append(a.calls, fmt.Sprintf("%s for %s", e.Camera, until.Sub(e.Start)))
	return nil
}

func start() time.Time { return time.Unix(1_790_000_000, 0).UTC() }

func newRig(t testing.TB, dir string, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, now: start(), cameras: map[string][]string{"door": {"main", "sub"}, "yard": {"main"}}}
	var err error
	if r.store, err = events.Open(context.Background(), dir, events.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Close() })
	r.bus = event.New(100, r.clock)
	o := Options{
		Store: r.store, Publish: r.bus.Publish, Now: r.clock, Archive: &r.archive,
		Sources: func(id string) ([]string, bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			sources, ok := r.cameras[id]
			return sources, ok
		},
	}
	if change != nil {
		change(&o)
	}
	if r.desk, err = New(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// person is a report of now.
func (r *rig) person(camera string) detection.Report {
	return detection.Report{Camera: camera, Time: r.clock(), Worker: "test", Detections: []detection.Detection{{Label: "person", Score: 0.9}}}
}

// round does what Run does at each tick.
func (r *rig) round() {
	(&recorder{desk: r.desk, forgot: r.clock()}).turn()
	(&writer{desk: r.desk, pruned: r.clock()}).round(context.Background())
}

func (r *rig) kept(camera string) []detection.Seen {
	r.t.Helper()
	got, _, err := r.desk.Detections(context.Background(), detection.Query{Camera: camera, Limit: 5000})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) rule(rule detection.Rule) {
	r.t.Helper()
	rule.Gap, rule.Quiet = detection.DefaultGap, detection.DefaultQuiet
	if _, err := r.desk.SetRule(context.Background(), rule); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) must(report detection.Report) {
	r.t.Helper()
	if err := r.desk.Report(report); err != nil {
		r.t.Fatal(err)
	}
}

func reason(err error) detection.Reason {
	var refused *detection.Error
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return ""
}

func TestBadReportsAreRefusedAndCounted(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	with := func(change func(*detection.Report)) detection.Report {
		report := r.person("door")
		change(&report)
		return report
	}
	tests := []struct {
		name   string
		report detection.Report
		want   detection.Reason
	}{
		{"for no camera", r.person("attic"), detection.ReasonCamera},
		{"for no source", with(func(r *detection.Report) { r.Source = "third" }), detection.ReasonFrame},
		{"of no frame", with(func(r *detection.Report) { r.Time = time.Time{} }), detection.ReasonFrame},
		{"of a frame nobody knows", with(func(r *detection.Report) { r.Time, r.HasFrame = time.Time{}, true }), detection.ReasonFrame},
		{"from the future", with(func(r *detection.Report) { r.Time = r.Time.Add(time.Minute) }), detection.ReasonFuture},
		{"from yesterday", with(func(r *detection.Report) { r.Time = r.Time.Add(-24 * time.Hour) }), detection.ReasonOld},
		{"with NaN", with(func(r *detection.Report) { r.Detections[0].Score = math.NaN() }), detection.ReasonNumber},
		{"with a million boxes", with(func(r *detection.Report) { r.Detections = make([]detection.Detection, 1e6) }), detection.ReasonMany},
	}
	want := map[detection.Reason]uint64{}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want[test.want]++
			if err := r.desk.Report(test.report); reason(err) != test.want {
				t.Errorf("got %v", err)
			}
		})
	}
	s := r.desk.Stats()
	for _, reason := range detection.Reasons() {
		if s.Refused[reason] != want[reason] {
			t.Errorf("%s: %d are counted, want %d", reason, s.Refused[reason], want[reason])
		}
	}
	if s.Reports != 0 || s.Pending != 0 {
		t.Errorf("%+v", s)
	}
	r.must(r.person("door"))
	r.must(with(func(r *detection.Report) { r.Time = r.Time.Add(2 * time.Second) })) // clocks differ
}

func TestAFrameIsFoundByItsPlace(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	frames := ring.New(ring.Limits{})
	defer frames.Close()
	if err := r.desk.Attach("door", "sub", frames); err != nil {
		t.Fatal(err)
	}
	arena := media.NewArena(media.NewPool(), 0)
	defer arena.Close()
	track := &media.Track{Codec: media.CodecH264, ClockRate: 90000}
	for i := range 50 {
		arena.Begin()
		f, err := arena.Finish()
		if err != nil {
			t.Fatal(err)
		}
		f.Track, f.Seq, f.Epoch, f.DTS, f.Entry = track, uint64(i), uint64(3+i/25), int64(i)*3600, i%10 == 0
		f.Wall = start().Add(time.Duration(i) * time.Millisecond)
		frames.Write(f)
	}
	report := r.person("door")
	report.Source, report.HasFrame, report.Epoch, report.Sequence = "sub", true, 4, 33
	report.Time = time.Time{}
	r.must(report)
	report.Epoch = 3 // of which there is no such frame
	if err := r.desk.Report(report); reason(err) != detection.ReasonFrame {
		t.Errorf("got %v", err)
	}
	report.Time = start().Add(time.Second) // then the time counts
	r.must(report)
	r.round()
	kept := r.kept("door")
	if len(kept) != 2 || !kept[0].Time.Equal(start().Add(33*time.Millisecond)) || !kept[1].Time.Equal(start().Add(time.Second)) {
		t.Errorf("got %+v", kept)
	}
	r.desk.Detach("door", "sub")
	report.Epoch, report.Time = 4, time.Time{}
	if err := r.desk.Report(report); reason(err) != detection.ReasonFrame {
		t.Errorf("of a source that is gone: %v", err)
	}
}

func TestAFloodIsHeldBackAndCostsOthersNothing(t *testing.T) {
	r := newRig(t, t.TempDir(), func(o *Options) { o.Limits = Limits{WorkerReports: 10, WorkerBytes: 1e6, AllReports: 1000} })
	refused := 0
	for range 500 {
		if err := r.desk.Report(r.person("door")); reason(err) == detection.ReasonRate {
			refused++
			var e *detection.Error
			if errors.As(err, &e); e.Retry <= 0 || e.Retry > time.Second {
				t.Fatalf("try again in %s", e.Retry)
			}
		}
	}
	if refused != 480 {
		t.Errorf("%d of 500 were refused", refused)
	}
	r.must(r.person("yard"))
	other := r.person("door")
	other.Worker = "another"
	r.must(other)
	r.pass(time.Second)
	for range 10 {
		r.must(r.person("door"))
	}
	if err := r.desk.Report(r.person("door")); reason(err) != detection.ReasonRate {
		t.Errorf("the eleventh of a second: %v", err)
	}
}

func TestWorkersWithEverNewNamesAreHeldBackTogether(t *testing.T) {
	r := newRig(t, t.TempDir(), func(o *Options) { o.Limits = Limits{WorkerReports: 10, WorkerBytes: 1e6, AllReports: 1e6} })
	var last error
	for i := range maxMeters + 1 {
		report := r.person("door")
		report.Worker = fmt.Sprint("w", i)
		last = r.desk.Report(report)
	}
	if reason(last) != detection.ReasonRate {
		t.Errorf("got %v", last)
	}
	r.pass(time.Minute)
	r.must(r.person("door"))
}

func TestWhatTheDiskDoesNotTakeIsRefusedAndNotWaitedFor(t *testing.T) {
	r := newRig(t, t.TempDir(), func(o *Options) { o.Limits = Limits{WorkerReports: 1e9, WorkerBytes: 1e12, AllReports: 1e9} })
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	report := r.person("door")
	for i := range maxPendingReports + 10 {
		if err := r.desk.Report(report); (reason(err) == detection.ReasonStorage) != (i >= maxPendingReports) {
			t.Fatalf("report %d: %v", i, err)
		}
	}
	if s := r.desk.Stats(); s.Pending != maxPendingReports || s.Refused[detection.ReasonStorage] != 10 {
		t.Errorf("%+v", s)
	}
}

func TestListenersHearOfReportsAndOfWhatTheyMissed(t *testing.T) {
	r := newRig(t, t.TempDir(), func(o *Options) { o.Limits = Limits{WorkerReports: 1e9, WorkerBytes: 1e12, AllReports: 1e9} })
	last := r.desk.Newest("door")
	batch := r.desk.After("door", last, 10)
	if len(batch.Reports) != 0 {
		t.Fatalf("got %+v", batch)
	}
	r.must(r.person("yard"))
	r.must(r.person("door"))
	<-batch.Changed
	if batch = r.desk.After("door", last, 10); len(batch.Reports) != 1 || batch.Missed != 0 || batch.Last != last+1 {
		t.Errorf("got %+v", batch)
	}
	for range keptReports + 5 {
		r.must(r.person("door"))
	}
	if batch = r.desk.After("door", batch.Last, 3); len(batch.Reports) != 3 || batch.Missed != 5 || batch.Reports[0].Number != last+7 {
		t.Errorf("%d reports, %d missed, the first %d after %d", len(batch.Reports), batch.Missed, batch.Reports[0].Number, last)
	}
	if batch = r.desk.After("door", 7, 1); batch.Missed != 6 {
		t.Errorf("who was there before it all missed %d", batch.Missed)
	}
	if got := len(r.desk.Recent("door", start(), start().Add(1))); got != keptReports {
		t.Errorf("%d are remembered", got)
	}
}

func TestAnEventIsRecordedKeptAndTold(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.rule(detection.Rule{ID: "people", Camera: "door", Labels: []string{"person"}, Record: true})
	r.rule(detection.Rule{ID: "quietly", Camera: "yard"})
	r.must(r.person("yard"))
	r.must(r.person("door"))
	r.round()
	if got := strings.Join(r.archive.calls, ", "); got != "door for 3s" {
		t.Errorf("at its beginning: %s", got)
	}
	for range 6 {
		r.pass(time.Second)
		r.must(r.person("door"))
		r.round()
	}
	if got := strings.Join(r.archive.calls, ", "); got != "door for 3s, door for 5s, door for 7s, door for 9s" {
		t.Errorf("while it lasts: %s", got)
	}
	if open := r.desk.Happened("door", start(), r.clock()); len(open) != 1 || !open[0].Open {
		t.Errorf("got %+v", open)
	}
	r.pass(20 * time.Second)
	r.round()
	r.round()
	if got := len(r.archive.calls); got != 4 {
		t.Errorf("after its end: %v", r.archive.calls)
	}
	kept, _, err := r.desk.Events(context.Background(), detection.EventQuery{Camera: "door", Limit: 5})
	if err != nil || len(kept) != 1 || kept[0].Open || !kept[0].Start.Equal(start()) || !kept[0].End.Equal(start().Add(6*time.Second)) {
		t.Errorf("got %+v, %v", kept, err)
	}
	var kinds []string
	for _, e := range r.bus.Newest(10).Events {
		if e.Detection == nil || e.Camera != e.Detection.Camera {
			t.Errorf("got %+v", e)
		}
		if e.Camera == "door" {
			kinds = append(kinds, string(e.Kind))
		}
	}
	if got := strings.Join(kinds, " "); got != "detection.began detection.ended" {
		t.Errorf("the bus had %s", got)
	}
	r.pass(time.Hour)
	r.round()
	if got := r.desk.Happened("door", start(), r.clock()); len(got) != 0 {
		t.Errorf("it is remembered for ever: %+v", got)
	}
}

func TestAnEventThatAnotherTakesInIsNotKept(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.rule(detection.Rule{ID: "people", Camera: "door"})
	first, last, between := r.person("door"), r.person("door"), r.person("door")
	first.Time, between.Time, last.Time = start().Add(-8*time.Second), start().Add(-2*time.Second), start().Add(4*time.Second)
	r.must(first)
	r.must(last)
	r.round()
	r.must(between)
	r.round()
	kept, _, err := r.desk.Events(context.Background(), detection.EventQuery{Limit: 5})
	if err != nil || len(kept) != 1 || !kept[0].Start.Equal(first.Time) || !kept[0].End.Equal(last.Time) {
		t.Errorf("got %+v, %v", kept, err)
	}
}

func TestAnArchiveThatRefusesCostsNoEvent(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.archive.refuses = true
	r.rule(detection.Rule{ID: "people", Camera: "door", Record: true})
	r.must(r.person("door"))
	r.round()
	if kept, _, err := r.desk.Events(context.Background(), detection.EventQuery{Limit: 5}); err != nil || len(kept) != 1 {
		t.Errorf("got %+v, %v", kept, err)
	}
}

func TestRunWritesWhatIsThereWhenItEnds(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, nil)
	r.rule(detection.Rule{ID: "people", Camera: "door"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.desk.Run(ctx) }()
	r.must(r.person("door"))
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := r.desk.Report(r.person("door")); reason(err) != detection.ReasonStorage {
		t.Errorf("after the end: %v", err)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	again := newRig(t, dir, nil)
	if len(again.kept("door")) != 1 || len(again.desk.Rules("door")) != 1 {
		t.Errorf("%d detections, %d rules", len(again.kept("door")), len(again.desk.Rules("door")))
	}
	kept, _, err := again.desk.Events(context.Background(), detection.EventQuery{Limit: 5})
	if err != nil || len(kept) != 1 || kept[0].Open {
		t.Errorf("got %+v, %v", kept, err)
	}
	again.must(again.person("door")) // its ID is another
	again.round()
	if kept, _, _ = again.desk.Events(context.Background(), detection.EventQuery{Limit: 5}); len(kept) != 2 {
		t.Errorf("got %+v", kept)
	}
}

func TestRulesGoWithTheirCamera(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, nil)
	ctx := context.Background()
	if _, err := r.desk.SetRule(ctx, detection.Rule{ID: "x", Camera: "attic", Gap: time.Second, Quiet: time.Second}); reason(err) != detection.ReasonCamera {
		t.Errorf("of no camera: %v", err)
	}
	for i := range detection.MaxRules {
		r.rule(detection.Rule{ID: fmt.Sprint("rule-", i), Camera: "door"})
	}
	r.rule(detection.Rule{ID: "rule-3", Camera: "door", MinScore: 0.5})
	if _, err := r.desk.SetRule(ctx, detection.Rule{ID: "more", Camera: "door", Gap: time.Second, Quiet: time.Second}); reason(err) != detection.ReasonMany {
		t.Errorf("one too many: %v", err)
	}
	if found, err := r.desk.RemoveRule(ctx, "door", "rule-0"); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if found, err := r.desk.RemoveRule(ctx, "door", "rule-0"); found || err != nil {
		t.Errorf("twice: %v, %v", found, err)
	}
	if n := len(r.desk.Rules("door")); n != detection.MaxRules-1 {
		t.Errorf("%d rules", n)
	}
	r.rule(detection.Rule{ID: "x", Camera: "yard"})
	r.desk.Removed("door")
	// A camera of its id that is added at once begins without.
	r.rule(detection.Rule{ID: "new", Camera: "door"})
	r.round()
	all, err := r.store.Rules(ctx)
	if err != nil || len(all) != 2 || all[0].ID != "new" || all[1].Camera != "yard" {
		t.Errorf("got %+v, %v", all, err)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	// Cameras may also go while Drover does not look.
	again := newRig(t, dir, nil)
	delete(again.cameras, "yard")
	again.desk.forgetUnknown()
	again.round()
	if all, err = again.store.Rules(ctx); err != nil || len(all) != 1 {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestManyWhoMakeRulesAtOnceMakeNoMoreThanThereMayBe(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	var work sync.WaitGroup
	for i := range 2 * detection.MaxRules {
		work.Go(func() {
			rule := detection.Rule{ID: fmt.Sprint("rule-", i), Camera: "door", Gap: time.Second, Quiet: time.Second}
			if _, err := r.desk.SetRule(context.Background(), rule); err != nil && reason(err) != detection.ReasonMany {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if n := len(r.desk.Rules("door")); n != detection.MaxRules {
		t.Errorf("%d rules", n)
	}
}

func TestCamerasOfWhichNothingComesAreLetGo(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.must(r.person("door"))
	batch := r.desk.After("door", r.desk.Newest("door"), 1)
	if !r.desk.SeesSince("door", start().Add(-time.Second)) || r.desk.SeesSince("yard", time.Time{}) {
		t.Error("who sees is not known")
	}
	r.pass(time.Hour)
	r.desk.mu.Lock()
	r.desk.forget(r.clock())
	n := len(r.desk.feeds)
	r.desk.mu.Unlock()
	<-batch.Changed
	if n != 0 {
		t.Errorf("%d are remembered", n)
	}
	if got := r.desk.After("door", batch.Last, 10); got.Missed != 0 || len(got.Reports) != 0 {
		t.Errorf("a listener that stayed hears %+v", got)
	}
}

func TestWhoListensToACameraThatIsRemovedIsWoken(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.must(r.person("door"))
	batch := r.desk.After("door", r.desk.Newest("door"), 1)
	r.desk.Removed("door")
	select {
	case <-batch.Changed:
	default:
		t.Error("a listener hears nothing of it")
	}
	r.desk.Removed("door") // of nothing
}

func TestManyReportAtOnce(t *testing.T) {
	r := newRig(t, t.TempDir(), func(o *Options) { o.Limits = Limits{WorkerReports: 1e9, WorkerBytes: 1e12, AllReports: 1e9} })
	r.rule(detection.Rule{ID: "people", Camera: "door"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.desk.Run(ctx) }()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 200 {
				report := r.person([]string{"door", "yard"}[i%2])
				report.Worker = fmt.Sprint("w", i)
				if err := r.desk.Report(report); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := len(r.kept("door")) + len(r.kept("yard")); n != 1600 {
		t.Errorf("%d are kept", n)
	}
	if cameras := slices.Sorted(func(yield func(string) bool) {
		for c := range r.desk.feeds {
			if !yield(c) {
				return
			}
		}
	}); len(cameras) != 2 {
		t.Errorf("got %v", cameras)
	}
}
