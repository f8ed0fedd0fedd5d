package archive

import (
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
)

func TestFootageGoesWhereTheClockWasSetToInAFileOfItsOwn(t *testing.T) {
	for _, by := range []time.Duration{20 * time.Second, time.Hour, -20 * time.Second, -time.Hour, 50 * 365 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			r := newCutRig(t)
			r.gops(5)
			r.pictures(20)
			r.drift = by // in mid-GOP
			r.pictures(30)
			r.gops(100)
			r.end([2]int{})
			leaps := 0
			for i, f := range r.got[1:] {
				between := f.Start.Sub(r.got[i].End)
				if f.Leap != 0 {
					leaps++
					if !f.Fresh || !f.Breaks || f.Entry.Hole || f.Lost || f.Leap != between {
						t.Errorf("fragment %d begins %v further on: %+v", i+1, between, f)
					}
				} else if between.Abs() > f.Slack {
					t.Errorf("fragment %d begins %v after the one before", i+1, between)
				}
			}
			last := r.got[len(r.got)-1]
			if off := last.End.Sub(zero.Add(r.video.Duration(r.dts) + by)); leaps != 1 || off.Abs() > deadband {
				t.Errorf("it was moved %d times, and is %v off in the end", leaps, off)
			}
		})
	}
}

func TestAnEstimateThatIsALittleOffBeginsNoFile(t *testing.T) {
	for _, by := range []time.Duration{8 * time.Second, -8 * time.Second} {
		r := newCutRig(t)
		r.gops(5)
		r.drift = by
		r.gops(20)
		r.end([2]int{})
		for i, f := range r.got[1:] {
			if f.Breaks || f.Leap != 0 {
				t.Errorf("%v off: fragment %d goes on from nothing: %+v", by, i+1, f)
			}
		}
	}
}

func TestAClockThatWasSetWhileTheCameraWasAwayIsTold(t *testing.T) {
	for _, c := range []struct{ by, want time.Duration }{{0, 0}, {10 * time.Second, 0}, {time.Hour, time.Hour}, {-time.Hour, -time.Hour}} {
		r := newCutRig(t)
		r.gops(2)
		r.drift = c.by
		r.reconnect(30 * time.Second)
		r.gops(2)
		r.end([2]int{})
		if f := r.got[2]; f.Leap != c.want || !f.Start.Equal(r.got[1].End.Add(30*time.Second+c.by)) {
			t.Errorf("set by %v: %v is told, and it begins %v after what was before", c.by, f.Leap, f.Start.Sub(r.got[1].End))
		}
	}
}

func TestWhatAClockWasSetAheadByIsAGapOfItsOwnAndNothingMissing(t *testing.T) {
	type gap struct {
		from, to float64
		cause    index.Cause
	}
	const year = 365 * 24 * 3600.0
	ahead := func(o disk.Outcome, by float64) disk.Outcome {
		o.Leap = time.Duration(by * float64(time.Second))
		return o
	}
	for name, c := range map[string]struct {
		happens func(l *ledger)
		want    []gap
		closed  float64 // a gap that went on ended there; 0: there was none
		covered float64 // of six seconds and more
	}{
		"while footage came": {func(l *ledger) {
			l.outcome(ahead(written(year+4, year+6), year), at(6))
		}, []gap{{4, year + 4, index.CauseUnknown}}, 0, 1},
		"while packets were lost": {func(l *ledger) {
			o := ahead(written(year+6, year+8), year)
			o.Lost = true
			l.outcome(o, at(8))
		}, []gap{{4, 6, index.CauseLoss}, {6, year + 6, index.CauseUnknown}}, 0, 6.0 / 8},
		"while the disk took nothing": {func(l *ledger) {
			o := ahead(notWritten(year+4, year+6, index.CauseDiskError), year)
			l.outcome(o, at(6))
			l.outcome(written(year+6, year+8), at(8))
		}, []gap{{4, 6, index.CauseDiskError}, {6, year + 6, index.CauseUnknown}}, 0, 6.0 / 8},
		"while the camera was away": {func(l *ledger) {
			l.absent(index.CauseNetwork, "away", at(4))
			if n := len(l.take(at(14))); n != 1 {
				t.Errorf("%d gaps go on", n)
			}
			l.present(at(24))
			l.outcome(ahead(written(year+24, year+26), year), at(26))
		}, []gap{{24, year + 24, index.CauseUnknown}}, 24, 6.0 / 26},
		"back, while footage came": {func(l *ledger) {
			l.outcome(ahead(written(-96, -94), -100), at(6))
			l.outcome(written(-94, -92), at(8))
		}, nil, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{}
			l.outcome(written(0, 2), at(2))
			l.outcome(written(2, 4), at(4))
			c.happens(l)
			var got []gap
			closed := 0.0
			for _, e := range l.take(at(27)) {
				if !e.close.IsZero() {
					closed = e.close.Sub(zero).Seconds()
				}
				if !e.isGap() {
					continue
				}
				got = append(got, gap{e.gap.From.Sub(zero).Seconds(), e.gap.To.Sub(zero).Seconds(), e.gap.Cause})
			}
			if len(got) != len(c.want) || closed != c.closed {
				t.Fatalf("got %+v, one that went on ended at %v; want %+v, %v", got, closed, c.want, c.closed)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("got %+v, want %+v", got[i], c.want[i])
				}
			}
			if share, ok := l.coverage(at(27)); !ok || share < c.covered-1e-9 || share > c.covered+1e-9 {
				t.Errorf("%v is covered, want %v", share, c.covered)
			}
		})
	}
}
