package layout_test

import (
	"testing"
	"time"

	"github.com/drover-video/drover/archive/layout"
)

func TestTheClockGoesByDurationsAndShifts(t *testing.T) {
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	write := layout.NewClock(start)
	var fragments []layout.Fragment
	var want []time.Time
	at := start
	for i := range 1000 {
		f := layout.Fragment{Duration: 3003} // which is no whole number of microseconds
		if i == 500 {
			at = at.Add(7 * time.Second)
		}
		if i < 500 {
			at = write.Due()
		}
		f.Shift = write.Shift(at)
		write.Next(&f)
		fragments, want = append(fragments, f), append(want, at)
		at = at.Add(layout.Time(f.Duration)).Truncate(time.Microsecond)
	}
	if fragments[499].Shift != 0 || fragments[500].Shift < 6_900_000 {
		t.Errorf("shifts are %d and %d", fragments[499].Shift, fragments[500].Shift)
	}
	read := layout.NewClock(start)
	for i := range fragments {
		if got := read.Next(&fragments[i]); !got.Equal(want[i]) {
			t.Fatalf("fragment %d is at %v, want %v", i, got, want[i])
		}
	}
	if got, want := layout.Ends(start, fragments), want[999].Add(layout.Time(3003)); !got.Equal(want) {
		t.Errorf("ends at %v, want %v", got, want)
	}
}
