package archive

import (
	"context"
	"slices"
	"time"

	"github.com/drover-video/drover/archive/index"
)

const (
	// rollingMargin is how much longer than its pre-roll is kept of a camera whose
	// events are recorded by recording always.
	rollingMargin = 30 * time.Second

	// besideMargin is how much of a file's time may be missing of another source for
	// it to stand in for the file: keyframes of sources lie apart, and connections end
	// at different moments.
	besideMargin = 2 * time.Second
)

// An ageRule says what of a stream goes after a while.
type ageRule struct {
	age   time.Duration // 0: nothing does
	from  time.Time     // what was recorded before stays
	cause index.Cause
	kept  func(ctx context.Context, camera string, from, to time.Time) (bool, error)

	// beside are streams of which one must have about all of a file's time; nil: none.
	beside []index.Stream
}

// byAge deletes what of a camera is too old. rolling is since when it is recorded for
// its events' sake.
func (k *keeper) byAge(ctx context.Context, p *policy, streams []index.Stream, now, rolling time.Time) error {
	x := k.r.index
	for i, s := range streams {
		for _, rule := range [...]ageRule{
			{age: p.record.MaxAge, cause: index.CauseDeleted, kept: x.KeptByUser},
			{age: p.rollingAge(), from: rolling, cause: index.CauseRequest, kept: x.Kept},
			{age: p.firstGoesAfter(s.Source), cause: index.CauseDeleted, kept: x.Kept, beside: others(streams, i)},
		} {
			if rule.age == 0 {
				continue
			}
			if err := k.olderThan(ctx, s, now.Add(-rule.age), &rule); err != nil {
				return err
			}
		}
	}
	if p.record.MaxAge == 0 {
		return nil
	}
	return x.ForgetEvents(ctx, streams[0].Camera, now.Add(-p.record.MaxAge))
}

func others(streams []index.Stream, i int) []index.Stream {
	return append(slices.Clone(streams[:i]), streams[i+1:]...)
}

// olderThan deletes files of a stream that ended before a time, as a rule says. It ends
// at the first file that is not so old.
func (k *keeper) olderThan(ctx context.Context, s index.Stream, before time.Time, rule *ageRule) error {
	for after := (index.Moment{Start: rule.from}); ; {
		page, err := k.r.index.Earliest(ctx, s.ID, after, doomAtOnce)
		if err != nil {
			return err
		}
		var victims []index.Victim
		for i := range page {
			f := &page[i]
			if !f.End().Before(before) {
				return k.doom(ctx, rule.cause, victims)
			}
			if rule.cause == index.CauseDeleted && k.waits(f) {
				continue
			}
			if goes, err := k.goes(ctx, s, f, rule); err != nil {
				return err
			} else if goes {
				victims = append(victims, index.Victim{File: *f, Path: pathOf(s, f)})
			}
		}
		if err := k.doom(ctx, rule.cause, victims); err != nil {
			return err
		}
		if len(page) < doomAtOnce {
			return nil
		}
		after = page[len(page)-1].Moment()
	}
}

// goes reports whether a file that is old may be deleted.
func (k *keeper) goes(ctx context.Context, s index.Stream, f *index.File, rule *ageRule) (bool, error) {
	kept, err := rule.kept(ctx, s.Camera, f.Start, f.End())
	if err != nil || kept || rule.beside == nil {
		return !kept, err
	}
	for _, other := range rule.beside {
		missing, err := k.missing(ctx, other, f)
		if err != nil {
			return false, err
		}
		if missing <= min(besideMargin, f.Span/10) {
			return true, nil
		}
	}
	return false, nil
}

// missing returns of how much of a file's time another stream has no footage.
func (k *keeper) missing(ctx context.Context, other index.Stream, f *index.File) (time.Duration, error) {
	spans, err := k.r.index.Spans(ctx, other.ID, f.Start, f.End(), 0)
	missing := f.Span
	for _, s := range spans {
		from, to := s.From, s.To
		if from.Before(f.Start) {
			from = f.Start
		}
		if to.After(f.End()) {
			to = f.End()
		}
		missing -= max(0, min(to.Sub(from), s.Covered))
	}
	return missing, err
}

// rollingAge is after what time footage goes that no event was in; 0: never.
func (p *policy) rollingAge() time.Duration {
	if !p.rolling {
		return 0
	}
	return p.record.PreRoll + rollingMargin
}
