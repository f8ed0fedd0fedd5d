package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/drover-video/drover/benchmarks/proc"
)

// run has the viewers arrive, watches them, and says what came of it.
func run(ctx context.Context, o options) (report, error) {
	ctx, leave := context.WithCancel(ctx)
	tally := newTally(o.viewers)
	var crowd sync.WaitGroup
	defer crowd.Wait()
	defer leave()
	// The first viewer shows where the playlist is, and has the server begin with
	// parts before its memory is looked at.
	first, err := arrive(ctx, o)
	if err != nil {
		return report{}, err
	}
	crowd.Go(func() { first.wait(ctx, tally) })
	if err := pause(ctx, o.settle); err != nil {
		return report{}, err
	}
	r := report{URL: first.playlist.Redacted(), Viewers: o.viewers}
	if r.Before, err = look(o.pid); err != nil {
		return r, err
	}
	began := time.Now()
	for i := 1; i < o.viewers; i++ {
		crowd.Go(func() {
			due := began.Add(o.ramp * time.Duration(i) / time.Duration(o.viewers))
			if pause(ctx, time.Until(due)) != nil {
				return
			}
			newViewer(o, first.playlist).wait(ctx, tally)
		})
	}
	if err := pause(ctx, o.ramp+o.settle); err != nil {
		return r, err
	}
	if err := tally.awaitAll(ctx); err != nil {
		return r, err
	}
	if err := r.watch(ctx, o, tally); err != nil {
		return r, err
	}
	leave()
	crowd.Wait()
	r.sum(tally)
	return r, nil
}

// lookEvery is how often the server's memory is looked at.
const lookEvery = time.Second

// watch measures while all wait.
func (r *report) watch(ctx context.Context, o options, tally *tally) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var before time.Duration
	var err error
	if o.pid != 0 {
		if before, err = proc.ThreadCPU(o.pid); err != nil {
			return err
		}
	}
	tally.begin()
	began := time.Now()
	for time.Since(began) < o.duration {
		now, err := look(o.pid)
		if err != nil {
			return err
		}
		r.Waiting = append(r.Waiting, now)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("while they waited: %w", ctx.Err())
		}
	}
	tally.end()
	r.Seconds = time.Since(began).Seconds()
	if o.pid != 0 {
		after, err := proc.ThreadCPU(o.pid)
		if err != nil {
			return err
		}
		r.CPUSeconds = (after - before).Seconds()
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
