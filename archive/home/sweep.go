package home

import (
	"context"
	"errors"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// maxSkew is how far the store's clock and ours may be apart for things to be deleted
// by their age: a clock that jumps a year deletes nothing.
const maxSkew = time.Hour

// sweptAtOnce is how many objects are looked at with one query.
const sweptAtOnce = 100

// sweeps lets go of what is too old or too much, and deletes what nobody needs, now
// and again until ctx ends.
func (h *Home) sweeps(ctx context.Context) {
	for {
		if err := h.sweep(ctx); err != nil && ctx.Err() == nil {
			h.options.Log.Warn("second home: nothing is deleted for now", "err", err)
			if reason := ReasonOf(err); reason != "" {
				h.counted(func(status *Status) { status.Failures[reason]++ })
			}
		}
		if sleep(ctx, h.options.Sweep) != nil {
			return
		}
	}
}

func (h *Home) sweep(ctx context.Context) error {
	if err := h.deleteDoomed(ctx); err != nil {
		return err
	}
	if h.options.MaxAge == 0 && h.options.MaxBytes == 0 {
		return nil
	}
	// What cannot be deleted there is not given up here, and the answer says what the
	// time is.
	if err := h.store.probe(ctx); err != nil {
		return err
	}
	if err := h.evictOld(ctx); err != nil {
		return err
	}
	if err := h.evictMuch(ctx); err != nil {
		return err
	}
	return h.deleteDoomed(ctx)
}

// deleteDoomed deletes the objects that nobody needs.
func (h *Home) deleteDoomed(ctx context.Context) error {
	for {
		doomed, err := h.index.DoomedObjects(ctx, sweptAtOnce)
		if err != nil || len(doomed) == 0 {
			return err
		}
		for i := range doomed {
			if err := h.store.remove(ctx, doomed[i].Name); err != nil {
				return err
			}
			// It is gone; whether ctx ends now changes nothing about it.
			if err := h.index.ForgetObject(context.WithoutCancel(ctx), doomed[i].ID); err != nil {
				return err
			}
			h.counted(func(status *Status) { status.Deleted++ })
		}
	}
}

// errSkew says why nothing is deleted by its age.
var errSkew = errors.New("this machine's clock and the store's are more than an hour apart, or the store tells no time: nothing is deleted by its age")

// evictOld takes out objects of which all is older than it may be.
func (h *Home) evictOld(ctx context.Context) error {
	if h.options.MaxAge == 0 {
		return nil
	}
	if skew, ok := h.store.skew(); !ok || skew.Abs() > maxSkew {
		return errSkew
	}
	cutoff := h.options.Now().Add(-h.options.MaxAge)
	return h.evict(ctx, func(o *index.Object) bool { return o.To.Before(cutoff) }, func(o *index.Object) bool { return !o.From.Before(cutoff) })
}

// evictMuch takes out the oldest objects until no more is left than may be.
func (h *Home) evictMuch(ctx context.Context) error {
	if h.options.MaxBytes == 0 {
		return nil
	}
	stored, err := h.index.Stored(ctx)
	if err != nil {
		return err
	}
	over := stored.Bytes - h.options.MaxBytes
	return h.evict(ctx, func(o *index.Object) bool { over -= o.Bytes; return true }, func(*index.Object) bool { return over <= 0 })
}

// evict takes out objects that are wanted out, oldest first, until enough; but not
// those of which a user's bookmark keeps something.
func (h *Home) evict(ctx context.Context, out, enough func(*index.Object) bool) error {
	cameras := make(map[int64]string)
	for _, s := range h.index.Streams() {
		cameras[s.ID] = s.Camera
	}
	for from := time.UnixMicro(0); ; {
		page, err := h.index.OldestObjects(ctx, from, sweptAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			o := &page[i]
			if enough(o) {
				return nil
			}
			kept, err := h.index.KeptByUser(ctx, cameras[o.Stream], o.From, o.To)
			if err != nil {
				return err
			}
			if kept || !out(o) {
				continue
			}
			if err := h.index.Evict(ctx, o, index.CauseDeleted); err != nil {
				return err
			}
		}
		from = page[len(page)-1].From.Add(time.Microsecond)
	}
}
