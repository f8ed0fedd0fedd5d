package camera

import (
	"context"
	"sync"
	"time"
)

// DefaultDialLimit is how many cameras are dialled at once.
const DefaultDialLimit = 32

// dialHold is how long a camera that does not answer keeps its place among those
// who dial: long enough for one that works, short enough that a dead camera
// cannot hold up the others.
const dialHold = time.Second

// DialLimit bounds how many connections are being made at once, over all
// cameras.
type DialLimit struct {
	places chan struct{}
}

// NewDialLimit returns a limit of n; n <= 0 means DefaultDialLimit.
func NewDialLimit(n int) *DialLimit {
	if n <= 0 {
		n = DefaultDialLimit
	}
	return &DialLimit{places: make(chan struct{}, n)}
}

// acquire waits for a place. It is given back by release, or by itself after
// dialHold, whichever comes first; release must be called.
func (d *DialLimit) acquire(ctx context.Context) (release func(), err error) {
	select {
	case d.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var once sync.Once
	free := func() { once.Do(func() { <-d.places }) }
	timer := time.AfterFunc(dialHold, free)
	return func() {
		timer.Stop()
		free()
	}, nil
}
