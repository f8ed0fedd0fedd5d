package index_test

import (
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
)

func bookmark(t *testing.T, x *index.Index, kind string, from, to time.Duration) {
	t.Helper()
	if _, err := x.AddBookmark(t.Context(), index.Bookmark{Camera: "door", From: noon.Add(from), To: noon.Add(to), Kind: kind, Keep: true}); err != nil {
		t.Fatal(err)
	}
}

func bookmarks(t *testing.T, x *index.Index) int {
	t.Helper()
	all, err := x.Bookmarks(t.Context(), "door", time.Unix(0, 0), time.Time{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func doom(t *testing.T, x *index.Index, f *index.File) {
	t.Helper()
	if err := x.Doom(t.Context(), index.CauseDeleted, victim(t, x, f.Key())); err != nil {
		t.Fatal(err)
	}
}

func TestAnEventsBookmarkGoesWithTheLastOfItsFootage(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	sub, err := x.Stream(t.Context(), "door", "sub")
	if err != nil {
		t.Fatal(err)
	}
	first, second := record(t, x, s.ID, 0, 30), record(t, x, s.ID, time.Minute, 30)
	other := record(t, x, sub.ID, time.Second, 30)
	growing := begin(t, x, sub.ID, time.Hour)
	bookmark(t, x, "event", 30*time.Second, 5*time.Minute) // its end was not recorded
	bookmark(t, x, "event", time.Hour+time.Second, time.Hour+time.Minute)
	bookmark(t, x, "user", 0, time.Minute)
	for i, step := range []struct {
		gone *index.File
		left int
	}{{first, 3}, {second, 3}, {other, 2}} {
		doom(t, x, step.gone)
		if n := bookmarks(t, x); n != step.left {
			t.Fatalf("after file %d %d bookmarks are left, want %d", i, n, step.left)
		}
	}
	add(t, x, growing, 1)
	late := record(t, x, s.ID, time.Hour, 30)
	doom(t, x, late)
	if n := bookmarks(t, x); n != 2 {
		t.Errorf("an event that is being recorded is forgotten: %d bookmarks are left", n)
	}
}

func TestAnEventOfWhichNothingWasRecordedIsForgottenOnceNothingIsSoOld(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	f := record(t, x, s.ID, 0, 30)
	bookmark(t, x, "event", -time.Hour, -time.Minute)
	bookmark(t, x, "event", time.Hour, 2*time.Hour)
	bookmark(t, x, "user", -time.Hour, -time.Minute)
	forget := func(before time.Duration, left int) {
		t.Helper()
		if err := x.ForgetEvents(t.Context(), "door", noon.Add(before)); err != nil {
			t.Fatal(err)
		}
		if n := bookmarks(t, x); n != left {
			t.Errorf("%d bookmarks are left, want %d", n, left)
		}
	}
	forget(-30*time.Minute, 3)
	forget(24*time.Hour, 2) // the second is not older than all footage
	doom(t, x, f)
	forget(24*time.Hour, 1)
}

func TestEventsAreNoBookmarksThatSomebodyMade(t *testing.T) {
	x := open(t, t.TempDir())
	bookmark(t, x, "event", 0, time.Minute)
	bookmark(t, x, "user", time.Hour, 2*time.Hour)
	if n, err := x.CountBookmarks(t.Context(), "door"); err != nil || n != 1 {
		t.Errorf("counted %d, %v", n, err)
	}
	for minute, want := range map[int]bool{0: false, 90: true} {
		at := noon.Add(time.Duration(minute) * time.Minute)
		if kept, err := x.KeptByUser(t.Context(), "door", at, at.Add(time.Second)); err != nil || kept != want {
			t.Errorf("minute %d is kept: %t, %v", minute, kept, err)
		}
		if kept, err := x.Kept(t.Context(), "door", at, at.Add(time.Second)); err != nil || !kept {
			t.Errorf("minute %d is kept for whom it may concern: %t, %v", minute, kept, err)
		}
	}
}
