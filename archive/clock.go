package archive

import (
	"context"
	"sync"
	"time"

	"github.com/drover-video/drover/core/event"
)

const (
	// leap is by how much the clock may be ahead of the last sign of life when Drover
	// starts, without being doubted: a server may well be off for that long.
	leap = 7 * 24 * time.Hour

	// step is by how much it may move otherwise than time passes, while Drover runs.
	step = time.Hour
)

// A watch looks after the clock by which recordings are too old. One that jumps ahead
// would have everything deleted: it is doubted, and nothing is deleted by age, until a
// person says that it is right, or until it is what it was again.
type watch struct {
	r *Recorder

	mu     sync.Mutex
	doubts bool
	sane   time.Time // by the clock, before it was doubted
	at     time.Time // of the last look, by the clock, with the time that passes in it
	loaded bool
}

// look returns whether the clock is doubted.
func (w *watch) look(ctx context.Context, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.loaded {
		w.load(ctx, now)
	}
	if !w.at.IsZero() {
		// Go's times hold two clocks: Sub goes by the one that nobody sets, Round(0)
		// leaves only the other.
		moved, passed := now.Round(0).Sub(w.at.Round(0)), now.Sub(w.at)
		if w.r.options.Passed != nil {
			passed = w.r.options.Passed()
		}
		switch {
		case moved-passed > step && !w.isPutRight(now):
			w.doubt(ctx, later(w.at, w.r.lastSign))
		case w.doubts && passed-moved > step && now.Sub(w.sane).Abs() < leap:
			w.believe(ctx, "the clock is what it was again")
		}
	}
	w.at = now
	return w.doubts
}

// isPutRight reports whether a clock that jumped ahead was behind the last sign of life
// before Drover started, as one without a battery is, and is now where it may well be.
func (w *watch) isPutRight(now time.Time) bool {
	last := w.r.lastSign
	return w.at.Before(last) && now.Sub(last) <= leap
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// load looks at the clock for the first time, beside what was before.
func (w *watch) load(ctx context.Context, now time.Time) {
	w.loaded = true
	since, doubted, err := w.r.index.ClockDoubt(ctx)
	if err == nil && doubted {
		if now.Sub(since).Abs() < leap {
			w.doubts, w.sane = true, since
			w.believe(ctx, "the clock is what it was again")
			return
		}
		w.doubts, w.sane = true, since
		w.tell()
		return
	}
	if last := w.r.lastSign; !last.IsZero() && now.Sub(last) > leap {
		w.doubt(ctx, last)
	}
}

func (w *watch) doubt(ctx context.Context, sane time.Time) {
	if w.doubts {
		return
	}
	w.doubts, w.sane = true, sane
	if err := w.r.index.DoubtClock(ctx, sane); err != nil {
		w.r.options.Log.Warn("that the clock is doubted could not be written down", "err", err)
	}
	w.tell()
}

func (w *watch) tell() {
	w.r.options.Log.Error("the clock is far ahead of the newest recording: nothing is deleted by age until somebody says that it is right", "last", w.sane)
	w.r.options.Event(event.Event{Kind: event.KindArchiveClock, Reason: "the clock jumped ahead, from " + stamp(w.sane) + ": nothing is deleted by age until somebody confirms that it is right (POST /api/v1/archive/confirm-clock)"})
}

func (w *watch) believe(ctx context.Context, why string) {
	if !w.doubts {
		return
	}
	w.doubts = false
	if err := w.r.index.BelieveClock(ctx); err != nil {
		w.r.options.Log.Warn("that the clock is right could not be written down", "err", err)
	}
	w.r.options.Log.Info("recordings are deleted by age again", "reason", why)
}

// ConfirmClock says that the clock is right, so that recordings are deleted by age.
func (r *Recorder) ConfirmClock(ctx context.Context) {
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	r.watch.loaded = true
	r.watch.believe(ctx, "somebody said that the clock is right")
}
