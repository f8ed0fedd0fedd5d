package hls

import (
	"testing"
	"time"
)

func newTestPeriods(t *testing.T) (*periods, *testClock) {
	t.Helper()
	clock := &testClock{}
	clock.set(zero)
	p := newPeriods("door", &Config{Epochs: &clockEpochs{now: clock.now}, Now: clock.now})
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p, clock
}

// joins sees that a source's next segment comes into a period, behind so many
// discontinuities.
func joins(t *testing.T, p *periods, source string, breaks, first bool, period uint64, tags int) {
	t.Helper()
	if gotPeriod, gotTags := p.join(source, breaks, first); gotPeriod != period || gotTags != tags {
		t.Errorf("%s is in period %d behind %d discontinuities, want %d behind %d", source, gotPeriod, gotTags, period, tags)
	}
}

func TestSourcesThatBreakTogetherComeIntoOnePeriod(t *testing.T) {
	p, _ := newTestPeriods(t)
	joins(t, p, "main", true, true, 1, 1)
	joins(t, p, "sub", true, true, 1, 1)
	joins(t, p, "main", false, false, 1, 0)
	joins(t, p, "main", true, false, 2, 1)
	joins(t, p, "sub", true, false, 2, 1)
	joins(t, p, "sub", true, false, 3, 1)
	joins(t, p, "main", true, false, 3, 1)
}

func TestASourceThatGoesOnFollowsAndTheSoundGoesLast(t *testing.T) {
	p, clock := newTestPeriods(t)
	for _, source := range []string{"main", "sub", soundSource} {
		joins(t, p, source, true, true, 1, 1)
	}
	joins(t, p, "main", true, false, 2, 1)
	if !p.due("sub", false) || p.due("main", false) || p.due(soundSource, true) {
		t.Error("sub is to follow main, and the sound to wait for sub")
	}
	joins(t, p, "sub", false, false, 2, 1)
	if !p.due(soundSource, true) {
		t.Error("the sound is to follow when all have")
	}
	joins(t, p, soundSource, false, false, 2, 1)

	// A source that is away is not waited for.
	joins(t, p, "main", true, false, 3, 1)
	clock.set(zero.Add(time.Minute))
	joins(t, p, "main", false, false, 3, 0)
	if !p.due(soundSource, true) {
		t.Error("the sound waits for a source that is away")
	}
	joins(t, p, soundSource, false, false, 3, 1)
	p.leave("main")
	joins(t, p, "main", true, true, 4, 1) // a new run of it
	joins(t, p, "sub", true, false, 4, 2)
}

func TestMediaTimesAreThoseOfTheDayFromOneMoment(t *testing.T) {
	p, _ := newTestPeriods(t)
	main := p.shift(zero, 40*time.Second)
	sub := p.shift(zero.Add(3*time.Second), 7*time.Hour)
	if at := 40*time.Second + main; at != mediaZero || p.wall(at) != zero {
		t.Errorf("main begins at %v, which is %v", at, p.wall(at))
	}
	if at := 7*time.Hour + sub; at != mediaZero+3*time.Second {
		t.Errorf("sub is at %v three seconds later", at)
	}
	back := zero.Add(-30 * time.Hour)
	if at := 50*time.Second + p.shift(back, 50*time.Second); at < 0 || p.wall(at) != back {
		t.Errorf("a clock that was set back is at %v, which is %v", at, p.wall(at))
	}
}

func TestNumbersAreReservedAheadOfTheirUse(t *testing.T) {
	p, _ := newTestPeriods(t)
	if p.short() {
		t.Error("short from the beginning")
	}
	for range reservedDiscontinuities - discontinuityMargin {
		p.join("main", true, false)
	}
	if !p.short() {
		t.Error("not short with a few numbers left")
	}
	if err := p.reserve(t.Context()); err != nil || p.short() {
		t.Errorf("short behind more, %v", err)
	}
	p.note(2*reservedDiscontinuities - 1)
	if !p.short() {
		t.Error("numbers of MPEG-TS alone are not counted")
	}
}
