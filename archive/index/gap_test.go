package index_test

import (
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
)

func TestWhereTheClockWasSetBackGapsEndThatWereTold(t *testing.T) {
	x := open(t, t.TempDir())
	s, err := x.Stream(t.Context(), "door", "main")
	if err != nil {
		t.Fatal(err)
	}
	gap := func(from, to time.Duration) index.Gap {
		g := index.Gap{Stream: s.ID, From: noon.Add(from), Cause: index.CauseUnknown}
		if to != 0 {
			g.To = noon.Add(to)
		}
		return g
	}
	if err := x.AddGaps(t.Context(), gap(-2*time.Hour, -time.Hour), gap(-time.Hour, 9000*time.Hour), gap(9001*time.Hour, 9002*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := x.ChangeGaps(t.Context(), index.GapChange{Gap: index.Gap{Stream: s.ID}, Back: noon}, index.GapChange{Gap: gap(time.Hour, 0)},
		index.GapChange{Gap: index.Gap{Stream: s.ID}, Back: noon.Add(2 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	got, err := x.Gaps(t.Context(), s.ID, time.Time{}, time.Time{}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []index.Gap{gap(-2*time.Hour, -time.Hour), gap(-time.Hour, 0), gap(9001*time.Hour, 9002*time.Hour), gap(time.Hour, 0)}
	want[1].To = noon
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range got {
		same := got[i].From.Equal(want[i].From) && (got[i].To.Equal(want[i].To) || want[i].To.IsZero())
		if !same {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}
