package intake

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/ai/events"
	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/event"
)

func TestWhatIsTooMuchIsDeletedToTheEndHoweverMuchItIs(t *testing.T) {
	store, err := events.Open(context.Background(), t.TempDir(), events.Limits{
		DetectionAge: time.Hour, DetectionRows: 1000, EventAge: time.Hour, EventRows: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r := newRig(t, t.TempDir(), func(o *Options) {
		o.Store, o.Limits = store, Limits{WorkerReports: 1e9, WorkerBytes: 1e12, AllReports: 1e9}
	})
	w := &writer{desk: r.desk, pruned: r.clock()}
	report := r.person("door")
	for len(report.Detections) < detection.MaxDetections {
		report.Detections = append(report.Detections, report.Detections[0])
	}
	for range 3 {
		for range 150 { // 38,400 rows, of more than a store may have
			r.pass(time.Millisecond)
			report.Time = r.clock()
			r.must(report)
		}
		w.round(context.Background())
	}
	r.pass(time.Minute)
	w.round(context.Background())
	if n, _ := store.Rows(); n > 1000 || n < 700 { // those of one time go together
		t.Errorf("%d are kept", n)
	}
}

func TestWhatIsReportedWhileMuchIsDeletedIsWrittenBetween(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	w := &writer{desk: r.desk, pruned: r.clock()}
	for range 3 { // each more than is deleted at once
		b := events.Batch{}
		for range 50 {
			report := r.person("yard")
			for range 99 {
				report.Detections = append(report.Detections, report.Detections[0])
			}
			b.Reports = append(b.Reports, report)
		}
		if err := r.store.Write(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
	}
	r.pass(30 * 24 * time.Hour) // all of it is too old
	w.write(context.Background())
	if !w.prune(context.Background()) {
		t.Fatal("all was deleted at once")
	}
	r.must(r.person("door"))
	if w.write(context.Background()); len(r.kept("door")) != 1 {
		t.Error("a report waits until all is deleted")
	}
	w.round(context.Background())
	if n, _ := r.store.Rows(); n != 1 {
		t.Errorf("%d are kept", n)
	}
}

func TestWhatTheDiskDidNotTakeIsWrittenAtTheEndWithAllBehindIt(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.rule(detection.Rule{ID: "people", Camera: "door"})
	w := &writer{desk: r.desk, pruned: r.clock()}
	r.must(r.person("door"))
	failing, cancel := context.WithCancel(context.Background())
	cancel()
	w.round(failing)
	for range 7 {
		r.must(r.person("door"))
	}
	(&recorder{desk: r.desk}).finish()
	w.finish(context.Background())
	if n := len(r.kept("door")); n != 8 {
		t.Errorf("%d of 8 are kept", n)
	}
	if open, err := r.store.Unfinished(context.Background()); err != nil || len(open) != 0 {
		t.Errorf("still open: %+v, %v", open, err)
	}
}

func TestRunThatIsToldToEndAtOnceWritesAllThatWaits(t *testing.T) {
	r := newRig(t, t.TempDir(), func(o *Options) { o.Limits = Limits{WorkerReports: 1e9, WorkerBytes: 1e12, AllReports: 1e9} })
	r.rule(detection.Rule{ID: "people", Camera: "door"})
	for range batchReports + 5 {
		r.must(r.person("door"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.desk.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(r.kept("door")); n != batchReports+5 {
		t.Errorf("%d are kept", n)
	}
	if open, err := r.store.Unfinished(context.Background()); err != nil || len(open) != 0 {
		t.Errorf("still open: %+v, %v", open, err)
	}
}

// told is an archive that says of which cameras it was told, and a log that says so
// when it hears of a failure.
type told chan string

func (c told) Record(e detection.Event, _ time.Time) error { c <- e.Camera; return nil }

func (c told) Write(line []byte) (int, error) { c <- string(line); return len(line), nil }

func TestEventsAreRecordedWhileTheDiskHangs(t *testing.T) {
	dir, heard := t.TempDir(), make(told, 100)
	r := newRig(t, dir, func(o *Options) { o.Archive, o.Log = heard, slog.New(slog.NewTextHandler(heard, nil)) })
	for _, camera := range []string{"door", "yard"} {
		r.rule(detection.Rule{ID: "people", Camera: camera, Record: true})
	}
	// Whoever writes waits for this, and then fails.
	other, err := sql.Open("sqlite", filepath.Join(dir, "events.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { _ = r.desk.Run(ctx) })
	for _, camera := range []string{"door", "yard"} {
		r.must(r.person(camera))
		if got := <-heard; got != camera {
			t.Errorf("heard %s, want an event of %s to be recorded", got, camera)
		}
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	cancel()
	work.Wait()
	if n := len(r.kept("door")) + len(r.kept("yard")); n != 2 {
		t.Errorf("%d are kept", n)
	}
}

func TestAnEventThatAnotherTakesInIsToldToBeOver(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.rule(detection.Rule{ID: "people", Camera: "door"})
	first, last, between := r.person("door"), r.person("door"), r.person("door")
	first.Time, between.Time, last.Time = start().Add(-8*time.Second), start().Add(-2*time.Second), start().Add(4*time.Second)
	for _, report := range []detection.Report{first, last, between} {
		r.must(report)
	}
	r.pass(time.Minute)
	r.round()
	open := map[int64]bool{}
	for _, e := range r.bus.Newest(10).Events {
		if open[e.Detection.ID] == (e.Kind == event.KindDetectionBegan) {
			t.Errorf("%s of %d", e.Kind, e.Detection.ID)
		}
		open[e.Detection.ID] = e.Kind == event.KindDetectionBegan
		if open[e.Detection.ID] != e.Detection.Open {
			t.Errorf("%s says %+v", e.Kind, e.Detection)
		}
	}
	if got := fmt.Sprint(open); got != "map[1:false 2:false]" {
		t.Errorf("who listens holds these to be open: %s", got)
	}
}
