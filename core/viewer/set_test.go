package viewer

import (
	"strconv"
	"sync"
	"testing"
	"time"
)

func at(seconds int) time.Time { return time.Unix(1_700_000_000+int64(seconds), 0) }

func TestAViewerCountsUntilItsTimeIsUp(t *testing.T) {
	var s Set
	if got := s.Note("10.0.0.1", "a", at(0), at(6), 0); got != Admitted {
		t.Errorf("a new viewer: %v", got)
	}
	if got := s.Note("10.0.0.1", "a", at(5), at(11), 0); got != Known {
		t.Errorf("the same again: %v", got)
	}
	s.Note("10.0.0.1", "b", at(5), at(7), 0)
	s.Note("10.0.0.2", "a", at(5), at(7), 0)
	if got := s.Count(at(6)); got != 3 {
		t.Errorf("%d viewers, want 3", got)
	}
	if got := s.Count(at(10)); got != 1 {
		t.Errorf("%d viewers later, want 1", got)
	}
	if got := s.Count(at(12)); got != 0 || s.seen != nil {
		t.Errorf("%d viewers in the end", got)
	}
}

func TestALimitRefusesNewViewersAndKeepsThoseWhoAreIn(t *testing.T) {
	var s Set
	s.Note("1", "", at(0), at(10), 2)
	s.Note("2", "", at(0), at(20), 2)
	if got := s.Note("3", "", at(1), at(10), 2); got != Full || got.In() {
		t.Errorf("one too many: %v", got)
	}
	if got := s.Note("1", "", at(2), at(10), 2); got != Known {
		t.Errorf("one that is in: %v", got)
	}
	if s.Renew("3", "", at(2), at(10)) || !s.Renew("1", "", at(2), at(10)) {
		t.Error("Renew lets in who is not, or not who is")
	}
	if got := s.Note("3", "", at(11), at(15), 2); got != Admitted {
		t.Errorf("after one has left: %v", got)
	}
	if s.Renew("1", "", at(12), at(15)) {
		t.Error("one that has left is renewed")
	}
	if got := s.Note("1", "", at(12), at(15), 2); got != Full {
		t.Errorf("one that has left comes back: %v", got)
	}
}

func TestALimitHoldsInACrowd(t *testing.T) {
	var s Set
	var crowd sync.WaitGroup
	for i := range 8 {
		crowd.Go(func() {
			for j := range 200 {
				s.Note(strconv.Itoa(i), strconv.Itoa(j), at(0), at(10), 50)
			}
		})
	}
	crowd.Wait()
	if n := s.Count(at(1)); n != 50 {
		t.Errorf("%d viewers, want 50", n)
	}
}

func TestMemoryIsBoundedHoweverManyCome(t *testing.T) {
	var s Set
	for i := range maxKnown + 100 {
		if got := s.Note(strconv.Itoa(i), "", at(0), at(10), 0); !got.In() {
			t.Fatalf("viewer %d: %v", i, got)
		}
	}
	if got := s.Count(at(1)); got != maxKnown {
		t.Errorf("%d viewers are known", got)
	}
}
