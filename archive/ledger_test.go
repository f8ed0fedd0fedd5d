package archive

import (
	"slices"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
)

// at is so many seconds behind zero.
func at(seconds float64) time.Time { return zero.Add(time.Duration(seconds * float64(time.Second))) }

func written(from, to float64) disk.Outcome {
	return disk.Outcome{Start: at(from), End: at(to), Slack: 60 * time.Millisecond, Written: true}
}

func notWritten(from, to float64, cause index.Cause) disk.Outcome {
	return disk.Outcome{Start: at(from), End: at(to), Cause: cause}
}

// happened tells of what became of a fragment as soon as it is over.
func happened(l *ledger, o disk.Outcome) { l.outcome(o, o.End) }

func TestALedgerTellsEachGapOnceWithItsCause(t *testing.T) {
	type gap struct {
		from, to float64
		cause    index.Cause
	}
	for name, c := range map[string]struct {
		happens func(l *ledger)
		want    []gap
	}{
		"footage without a gap":          {func(l *ledger) { happened(l, written(0, 2)); happened(l, written(2.04, 4)) }, nil},
		"before the first there is none": {func(l *ledger) { happened(l, written(50, 52)) }, nil},
		"pictures were lost": {func(l *ledger) {
			happened(l, written(0, 2))
			o := written(5, 7)
			o.Lost = true
			happened(l, o)
		}, []gap{{2, 5, index.CauseLoss}}},
		"the disk did not take two": {func(l *ledger) {
			happened(l, written(0, 2))
			happened(l, notWritten(2, 4, index.CauseDiskSlow))
			happened(l, notWritten(4, 6, index.CauseDiskSlow))
			happened(l, written(6, 8))
		}, []gap{{2, 6, index.CauseDiskSlow}}},
		"what was dropped is told ahead of what was queued": {func(l *ledger) {
			happened(l, notWritten(4, 6, index.CauseDiskSlow))
			happened(l, written(0, 2))
			happened(l, written(2, 4))
			happened(l, written(6, 8))
		}, []gap{{4, 6, index.CauseDiskSlow}}},
		"the camera was away for a moment": {func(l *ledger) {
			happened(l, written(0, 2))
			l.absent(index.CauseLoginRefused, "", at(2))
			l.present(at(4))
			happened(l, written(4, 6))
		}, []gap{{2, 4, index.CauseLoginRefused}}},
		"a loss before the camera went": {func(l *ledger) {
			happened(l, written(0, 2))
			l.absent(index.CauseNetwork, "", at(9))
			o := written(4, 6)
			o.Lost = true
			happened(l, o)
		}, []gap{{2, 4, index.CauseLoss}}},
		"the clock was set back": {func(l *ledger) {
			happened(l, written(1000, 1002))
			happened(l, written(0, 2))
			happened(l, written(5, 7))
		}, []gap{{2, 5, index.CauseNetwork}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{}
			c.happens(l)
			entries := slices.DeleteFunc(l.take(at(8)), func(e entry) bool { return !e.back.IsZero() })
			if len(entries) != len(c.want) {
				t.Fatalf("got %+v, want %+v", entries, c.want)
			}
			for i, e := range entries {
				want := index.Gap{From: at(c.want[i].from), To: at(c.want[i].to), Cause: c.want[i].cause, Detail: e.gap.Detail}
				if e.gap != want || !e.close.IsZero() {
					t.Errorf("got %+v, want %+v", e, want)
				}
			}
		})
	}
}

func TestAGapThatGoesOnIsToldAndItsCauseMayChange(t *testing.T) {
	l := &ledger{}
	happened(l, written(0, 2))
	l.absent(index.CauseNetwork, "", at(2))
	if entries := l.take(at(6)); len(entries) > 0 {
		t.Errorf("told too soon: %+v", entries)
	}
	entries := l.take(at(8))
	if len(entries) != 1 || !entries[0].gap.From.Equal(at(2)) || !entries[0].gap.To.IsZero() || entries[0].gap.Cause != index.CauseNetwork {
		t.Fatalf("got %+v", entries)
	}
	if entries := l.take(at(60)); len(entries) > 0 {
		t.Errorf("told again: %+v", entries)
	}
	l.absent(index.CauseLoginRefused, "", at(100))
	if entries = l.take(at(110)); len(entries) != 1 || !entries[0].gap.From.Equal(at(100)) {
		t.Errorf("got %+v", entries)
	}
	l.present(at(120))
	happened(l, written(121, 123))
	if entries = l.take(at(124)); len(entries) != 1 || !entries[0].close.Equal(at(121)) {
		t.Errorf("got %+v", entries)
	}
	if c, ok := l.coverage(at(124)); !ok || c < 4.0/124 || c > 4.0/122 {
		t.Errorf("%v is covered", c)
	}
}

func TestWhileTheIndexHangsALedgerIsBounded(t *testing.T) {
	l := &ledger{}
	for i := range 10_000 {
		happened(l, written(float64(10*i), float64(10*i+2)))
	}
	if n := len(l.take(at(100_000))); n > maxEntries+2 {
		t.Errorf("%d entries wait", n)
	}
}

func TestWhatNobodyWantedDoesNotCount(t *testing.T) {
	l := &ledger{}
	happened(l, written(0, 10))
	l.absent(index.CauseRequest, "", at(10))
	l.take(at(20))
	l.present(at(1000))
	happened(l, written(1000, 1010))
	if c, ok := l.coverage(at(1010)); !ok || c != 1 {
		t.Errorf("%v of what should have been is covered", c)
	}
}

func TestEachCauseOfAGapCountsForItsOwnTime(t *testing.T) {
	const hour = 3600.0
	for name, c := range map[string]struct {
		happens func(l *ledger)
		want    float64 // is covered
	}{
		"off for ten hours, and eight seconds of connecting": {func(l *ledger) {
			l.absent(index.CauseRequest, "off", at(hour))
			l.take(at(hour + 10))
			l.expected(at(11 * hour))
			l.take(at(11*hour + 6))
			happened(l, written(11*hour+8, 12*hour))
		}, (2*hour - 8) / (2 * hour)},
		"away for ten hours, and off for seven seconds": {func(l *ledger) {
			l.absent(index.CauseNetwork, "away", at(hour))
			l.take(at(hour + 10))
			l.absent(index.CauseRequest, "off", at(11*hour))
			l.take(at(11*hour + 6))
			l.present(at(11*hour + 7))
			happened(l, written(11*hour+7, 12*hour))
		}, (2*hour - 7) / (12*hour - 7)},
		"away, off, and away again": {func(l *ledger) {
			l.absent(index.CauseNetwork, "away", at(hour))
			l.take(at(hour + 10))
			l.absent(index.CauseRequest, "off", at(2*hour))
			l.take(at(2*hour + 10))
			l.absent(index.CauseNetwork, "away", at(11*hour))
			l.take(at(11*hour + 10))
		}, hour / (3 * hour)},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{}
			happened(l, written(0, hour))
			c.happens(l)
			if got, ok := l.coverage(at(12 * hour)); !ok || got < c.want-1e-9 || got > c.want+1e-9 {
				t.Errorf("%.6f is covered, want %.6f", got, c.want)
			}
		})
	}
}

func TestSilenceIsJudgedByWhenFootageComesAndNotByItsTime(t *testing.T) {
	for name, off := range map[string]float64{"behind the clock": -120, "ahead of it": 120} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{}
			now := 0.0
			for ; now < 600; now += 2 {
				l.outcome(written(now+off, now+2+off), at(now+2))
				if entries := l.take(at(now + 2)); len(entries) > 0 {
					t.Fatalf("after %v seconds a gap is told: %+v", now, entries)
				}
			}
			told := 0
			for ; now < 700; now++ {
				told += len(l.take(at(now)))
			}
			if told != 1 {
				t.Errorf("when no more came, %d gaps were told, want 1", told)
			}
		})
	}
}

func TestTheGapOfACameraThatIsGoneIsByRequest(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, continuous, nil)
	r.gops(3)
	r.taken()
	r.stop()
	r.setClock(r.clock().Add(time.Minute))
	again, err := Open(t.Context(), Options{Dir: dir, Now: r.clock})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	r.setClock(r.clock().Add(time.Minute))
	again.decideAll()
	again.writeDown(t.Context())
	r.setClock(r.clock().Add(time.Minute))
	again.writeDown(t.Context())
	open, err := again.Index().OpenGaps(t.Context())
	if err != nil || len(open) != 1 || open[0].Cause != index.CauseRequest {
		t.Errorf("got %+v, %v", open, err)
	}
}
