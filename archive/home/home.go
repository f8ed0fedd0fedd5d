package home

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// Home is a second home. Run copies and deletes; all else may be called by all, and
// without Run.
type Home struct {
	options  Options
	index    *index.Index
	store    *store
	root     *os.Root // the archive's directory: nothing outside of it can be opened
	grouping grouping
	pace     pace
	reads    chan struct{} // slots

	mu     sync.Mutex
	status Status
}

// New returns a second home. It must be closed.
func New(o Options) (*Home, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	store, err := newStore(&o)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("second home: open the archive: %w", err)
	}
	h := &Home{
		options: o, index: o.Index, store: store, root: root,
		grouping: grouping{window: o.ObjectTime, maxBytes: o.ObjectBytes, grace: o.Grace},
		pace:     pace{rate: o.Bandwidth}, reads: make(chan struct{}, o.Reads),
	}
	h.status = Status{State: StateStarting, Since: o.Now(), Failures: make(map[Reason]uint64)}
	return h, nil
}

// Close lets go of the directory and of connections. Run must have returned.
func (h *Home) Close() error {
	h.store.close()
	return h.root.Close()
}

// Run copies finished files and deletes what is too old, until ctx ends. When it
// returns, nothing of it is under way: what was being sent will be sent again.
func (h *Home) Run(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	// It takes a while the first time that files are copied, and writes meanwhile.
	if err := h.retry(ctx, func() error { return h.index.Copying(ctx, true) }); err != nil {
		return nil
	}
	// What was being sent when the process before this ended is sent again, since the
	// same files become the same object. What no file asks for any more is deleted.
	if err := h.retry(ctx, func() error { return h.index.Abandon(ctx) }); err != nil {
		return nil
	}
	all.Go(func() { h.sweeps(ctx) })
	h.copies(ctx)
	return nil
}

// retry does what only the index can fail, until it succeeds or ctx ends.
func (h *Home) retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		h.options.Log.Error("second home: the index cannot be used", "err", err)
		if err := sleep(ctx, h.options.Poll); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
