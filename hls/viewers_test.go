package hls

import (
	"strconv"
	"testing"
	"time"
)

func TestViewersCountUntilTheyAreQuietForTooLong(t *testing.T) {
	var v viewerSet
	at := func(seconds int) time.Time { return zero.Add(time.Duration(seconds) * time.Second) }
	v.note("10.0.0.1", "a", at(0), 6*time.Second)
	v.note("10.0.0.1", "b", at(1), 6*time.Second)
	v.note("10.0.0.2", "a", at(2), 6*time.Second)
	v.note("10.0.0.1", "a", at(5), 6*time.Second)
	for _, c := range []struct{ seconds, want int }{{5, 3}, {7, 3}, {8, 2}, {9, 1}, {11, 1}, {12, 0}} {
		if got := v.count(at(c.seconds)); got != c.want {
			t.Errorf("after %d s: %d viewers, want %d", c.seconds, got, c.want)
		}
	}
	if v.seen != nil {
		t.Error("nobody watches, and there is room for some")
	}
}

func TestMoreViewersThanAreToldApartTakeThePlacesOfThoseWhoLeft(t *testing.T) {
	var v viewerSet
	for i := range maxViewers {
		v.note(strconv.Itoa(i), "", zero.Add(time.Duration(i)), time.Second)
	}
	v.note("one more", "", zero, time.Second)
	if got := v.count(zero); got != maxViewers {
		t.Errorf("%d viewers", got)
	}
	later := zero.Add(time.Second + 10)
	for i := range 20 {
		v.note("late "+strconv.Itoa(i), "", later, time.Second)
	}
	if _, known := v.seen[v.order.Back().Value.(*counted).key]; !known || len(v.seen) != maxViewers {
		t.Errorf("%d viewers are known", len(v.seen))
	}
	if got := v.count(zero.Add(time.Minute)); got != 0 || v.order.Len() != 0 {
		t.Errorf("%d viewers, %d in the order, after a minute", got, v.order.Len())
	}
}

func BenchmarkViewersBeyondThoseToldApart(b *testing.B) {
	var v viewerSet
	for i := range maxViewers {
		v.note(strconv.Itoa(i), "", zero, time.Hour)
	}
	b.ReportAllocs()
	for b.Loop() {
		v.note("one more", "an agent", zero, time.Hour)
	}
}
