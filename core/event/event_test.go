package event

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
)

func at(ms int64) func() time.Time { return func() time.Time { return time.UnixMilli(ms) } }

func publish(l *Log, names ...string) {
	for _, name := range names {
		l.Publish(Event{Kind: KindCameraState, Camera: name, State: camera.StateLive})
	}
}

func names(b Batch) string {
	text := ""
	for _, e := range b.Events {
		text += e.Camera
	}
	return text
}

func TestEventsComeInOrderFromWhereAReaderLeftOff(t *testing.T) {
	l := New(10, at(1000))
	publish(l, "a", "b", "c")
	got := l.After(1000, 2)
	if names(got) != "ab" || got.Last != 1002 || got.Missed != 0 {
		t.Errorf("got %+v", got)
	}
	if got = l.After(got.Last, 2); names(got) != "c" {
		t.Errorf("got %+v", got)
	}
	if got = l.After(got.Last, 2); names(got) != "" || got.Last != 1003 {
		t.Errorf("got %+v", got)
	}
}

func TestASlowReaderIsToldHowMuchItMissed(t *testing.T) {
	l := New(3, at(1000))
	publish(l, "a", "b", "c", "d", "e")
	got := l.After(1000, 10)
	if names(got) != "cde" || got.Missed != 2 {
		t.Errorf("got %s, missed %d", names(got), got.Missed)
	}
}

func TestAReaderOfAnotherProcessMissedOnlyWhatThisOneDropped(t *testing.T) {
	l := New(3, at(1000))
	publish(l, "a", "b", "c", "d")
	if got := l.After(7, 10); names(got) != "bcd" || got.Missed != 1 {
		t.Errorf("got %s, missed %d", names(got), got.Missed)
	}
}

func TestAnIDOfTheFutureCountsAsTheNewest(t *testing.T) {
	l := New(3, at(1000))
	publish(l, "a")
	got := l.After(1<<60, 10)
	if names(got) != "" || got.Last != 1001 {
		t.Fatalf("got %+v", got)
	}
	publish(l, "b")
	if got = l.After(got.Last, 10); names(got) != "b" {
		t.Errorf("got %+v", got)
	}
}

func TestTheNewestEventsAreNoMoreThanAskedFor(t *testing.T) {
	l := New(5, at(1000))
	if got := l.Newest(3); names(got) != "" {
		t.Errorf("of an empty log: %+v", got)
	}
	publish(l, "a", "b", "c", "d")
	for limit, want := range map[int]string{-1: "", 0: "", 1: "d", 2: "cd", 9: "abcd"} {
		if got := l.Newest(limit); names(got) != want || got.Missed != 0 {
			t.Errorf("%d: got %s, missed %d", limit, names(got), got.Missed)
		}
	}
}

func TestAReaderIsWokenByTheNextEvent(t *testing.T) {
	l := New(5, at(1000))
	batch := l.After(1000, 5)
	select {
	case <-batch.Changed:
		t.Fatal("woken by nothing")
	default:
	}
	publish(l, "a")
	<-batch.Changed
	if got := l.After(batch.Last, 5); names(got) != "a" || !got.Events[0].Time.Equal(time.UnixMilli(1000)) {
		t.Errorf("got %+v", got)
	}
}

func TestManyWritersAndReadersLoseNothing(t *testing.T) {
	const writers, each = 4, 50
	l := New(writers*each, at(1000))
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				publish(l, fmt.Sprintf("%d-%d ", w, i))
			}
		})
	}
	for range 3 {
		group.Go(func() {
			seen, last := 0, uint64(1000)
			for seen < writers*each {
				batch := l.After(last, 7)
				for _, e := range batch.Events {
					if e.ID != last+1 {
						t.Errorf("%d came after %d", e.ID, last)
					}
					last = e.ID
				}
				if seen += len(batch.Events); len(batch.Events) == 0 {
					<-batch.Changed
				}
			}
		})
	}
	group.Wait()
}
