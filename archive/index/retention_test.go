package index_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
)

func spoil(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "archive.db"), []byte("this is no database, and was one once"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func victims(t *testing.T, x *index.Index, streamID int64, n int) []index.Victim {
	t.Helper()
	oldest, err := x.Oldest(t.Context(), streamID, 0, index.Here, n)
	if err != nil {
		t.Fatal(err)
	}
	var all []index.Victim
	for _, f := range oldest {
		all = append(all, index.Victim{File: f, Path: "door/main/" + strconv.FormatInt(f.Number, 10)})
	}
	return all
}

func TestWhatIsDeletedMinuteByMinuteLeavesOneGapAndNothingElse(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	for i := range 90 {
		record(t, x, s.ID, time.Duration(i)*time.Minute, 30)
	}
	for range 5 {
		if err := x.Doom(t.Context(), index.CauseDeleted, victims(t, x, s.ID, 14)...); err != nil {
			t.Fatal(err)
		}
	}
	again := index.Victim{File: index.File{Stream: s.ID, Number: 1, Start: noon, Span: time.Minute, Bytes: 30900}, Path: "door/main/1"}
	if err := x.Doom(t.Context(), index.CauseDeleted, again); err != nil {
		t.Fatal(err)
	}
	gaps, err := x.Gaps(t.Context(), s.ID, noon, noon.Add(24*time.Hour), 0, 100)
	want := []index.Gap{{Stream: s.ID, From: noon, To: noon.Add(70 * time.Minute), Cause: index.CauseDeleted}}
	if err != nil || !reflect.DeepEqual(gaps, want) {
		t.Errorf("gaps %+v, %v, want %+v", gaps, err, want)
	}
	usage, err := x.Usage(t.Context())
	wantUsage := []index.Usage{{Stream: s.ID, Files: 20, Bytes: 20 * 30900, From: noon.Add(70 * time.Minute), To: noon.Add(90 * time.Minute)}}
	if err != nil || !reflect.DeepEqual(usage, wantUsage) {
		t.Errorf("usage %+v, %v, want %+v", usage, err, wantUsage)
	}
	days, err := x.Days(t.Context(), s.ID, noon.Add(-24*time.Hour), noon.Add(24*time.Hour), time.UTC)
	wantDays := []index.Day{{Date: "2026-11-30", Bytes: 20 * 30900, Covered: 20 * time.Minute}}
	if err != nil || !reflect.DeepEqual(days, wantDays) {
		t.Errorf("days %+v, %v, want %+v", days, err, wantDays)
	}
	doomed, err := x.Doomed(t.Context(), "", 1000)
	if err != nil || len(doomed) != 70 {
		t.Fatalf("%d doomed, %v, want 70", len(doomed), err)
	}
	if err := x.Forget(t.Context(), doomed...); err != nil {
		t.Fatal(err)
	}
	if doomed, err = x.Doomed(t.Context(), "", 10); err != nil || len(doomed) != 0 {
		t.Errorf("still doomed: %v, %v", doomed, err)
	}
}

func TestAGapGoesOnUntilItsCauseEnds(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	steps := []struct {
		open  index.Cause // "": the gap ends
		at    int
		later []index.Gap
	}{
		{index.CauseNetwork, 0, []index.Gap{{Stream: s.ID, From: at(0), Cause: index.CauseNetwork}}},
		{index.CauseNetwork, 5, []index.Gap{{Stream: s.ID, From: at(0), Cause: index.CauseNetwork}}},
		{index.CauseLoginRefused, 7, []index.Gap{{Stream: s.ID, From: at(0), To: at(7), Cause: index.CauseNetwork}, {Stream: s.ID, From: at(7), Cause: index.CauseLoginRefused}}},
		{"", 9, []index.Gap{{Stream: s.ID, From: at(0), To: at(7), Cause: index.CauseNetwork}, {Stream: s.ID, From: at(7), To: at(9), Cause: index.CauseLoginRefused}}},
		{"", 10, []index.Gap{{Stream: s.ID, From: at(0), To: at(7), Cause: index.CauseNetwork}, {Stream: s.ID, From: at(7), To: at(9), Cause: index.CauseLoginRefused}}},
	}
	for i, step := range steps {
		var err error
		if step.open != "" {
			err = x.OpenGap(t.Context(), index.Gap{Stream: s.ID, From: at(step.at), Cause: step.open})
		} else {
			err = x.CloseGap(t.Context(), s.ID, at(step.at))
		}
		if err != nil {
			t.Fatal(err)
		}
		gaps, err := x.Gaps(t.Context(), s.ID, noon, time.Time{}, 0, 10)
		if err != nil || !reflect.DeepEqual(gaps, step.later) {
			t.Errorf("step %d: %+v, %v, want %+v", i, gaps, err, step.later)
		}
	}
}

func TestABookmarkKeepsWhatItSpans(t *testing.T) {
	x := open(t, t.TempDir())
	b := index.Bookmark{Camera: "door", From: noon, To: noon.Add(time.Minute), Kind: "event", Name: "a person", Keep: true, Created: noon}
	id, err := x.AddBookmark(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	b.ID = id
	if got, err := x.Bookmarks(t.Context(), "door", noon.Add(30*time.Second), time.Time{}, 5); err != nil || !reflect.DeepEqual(got, []index.Bookmark{b}) {
		t.Errorf("got %+v, %v, want %+v", got, err, b)
	}
	for _, c := range []struct {
		camera   string
		from, to time.Duration
		want     bool
	}{{"door", -time.Minute, 0, false}, {"door", -time.Minute, time.Microsecond, true}, {"door", time.Minute, time.Hour, false}, {"yard", 0, time.Minute, false}} {
		if got, err := x.Kept(t.Context(), c.camera, noon.Add(c.from), noon.Add(c.to)); err != nil || got != c.want {
			t.Errorf("%+v: kept %v, %v", c, got, err)
		}
	}
	if found, err := x.ExtendBookmark(t.Context(), id, noon.Add(-time.Hour), noon.Add(time.Hour)); err != nil || !found {
		t.Errorf("extend: %v, %v", found, err)
	}
	for _, minute := range []time.Duration{-30 * time.Minute, 30 * time.Minute} {
		if kept, err := x.Kept(t.Context(), "door", noon.Add(minute), noon.Add(minute+time.Minute)); err != nil || !kept {
			t.Errorf("what was added at %v is not kept: %v", minute, err)
		}
	}
	if found, err := x.RemoveBookmark(t.Context(), "yard", id); err != nil || found {
		t.Errorf("another camera's: %v, %v, want none", found, err)
	}
	if found, err := x.RemoveBookmark(t.Context(), "door", id); err != nil || !found {
		t.Errorf("remove: %v, %v", found, err)
	}
}

func TestATimelineJoinsWhatLiesCloserThanItsResolution(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	for i := range 30 {
		if i == 10 || i == 11 {
			continue // two minutes of nothing
		}
		record(t, x, s.ID, time.Duration(i)*time.Minute, 30)
	}
	live := begin(t, x, s.ID, 30*time.Minute)
	add(t, x, live, 10)
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	exact := []index.Span{
		{From: at(5 * time.Minute), To: at(10 * time.Minute), Bytes: 10 * 30900, Covered: 5 * time.Minute},
		{From: at(12 * time.Minute), To: at(30*time.Minute + 18*time.Second), Bytes: 18*30900 + 10900, Covered: 18*time.Minute + 18*time.Second},
	} // of what is being written, the last two seconds may still grow
	exact[0].Bytes = 5 * 30900
	got, err := x.Spans(t.Context(), s.ID, at(5*time.Minute), at(time.Hour), time.Second)
	if err != nil || !reflect.DeepEqual(got, exact) {
		t.Errorf("got %+v, %v, want %+v", got, err, exact)
	}
	got, err = x.Spans(t.Context(), s.ID, at(5*time.Minute), at(time.Hour), 5*time.Minute)
	if err != nil || len(got) != 1 || got[0].Covered != 23*time.Minute+18*time.Second {
		t.Errorf("joined: %+v, %v", got, err)
	}
	got, err = x.Spans(t.Context(), s.ID, at(-5000*time.Hour), at(5000*time.Hour), time.Hour)
	if err != nil || len(got) != 1 || got[0].From != noon || got[0].To != at(time.Hour) {
		t.Errorf("a year: %+v, %v", got, err)
	}
}

func TestWhatIsHeldIsKeptUntilItIsLetGo(t *testing.T) {
	x := open(t, t.TempDir())
	release := x.Hold("door", noon, noon.Add(time.Minute))
	for _, want := range []bool{true, false} {
		if kept, err := x.Kept(t.Context(), "door", noon.Add(time.Second), noon.Add(time.Hour)); err != nil || kept != want {
			t.Errorf("kept %v, %v, want %v", kept, err, want)
		}
		if want {
			release()
		}
	}
}
