package hls

import (
	"context"
	"time"
)

// DefaultIdleAfter is how long a muxer that is made on demand runs after the last
// request for its camera.
const DefaultIdleAfter = time.Minute

// startMuxers tells a camera's muxers that somebody asks, for those made on demand. The
// first of however many come at once starts them; what the ring holds makes the
// first playlist.
func (c *Camera) startMuxers(now time.Time) {
	for _, m := range *c.muxers.Load() {
		m.askedAt.Store(now.UnixNano())
		select {
		case m.start <- struct{}{}:
		default: // told already
		}
	}
}

// restSound tells the sound that variants share that one of them has ended its run:
// without them no frame comes that would tell it so.
func (c *Camera) restSound() {
	for _, m := range *c.muxers.Load() {
		if !m.derived {
			continue
		}
		select {
		case m.rest <- struct{}{}:
		default: // told already
		}
	}
}

// quiet reports whether nobody has asked for as long as the muxer would wait.
func (m *Muxer) quiet() bool {
	return m.config.OnDemand && m.config.Now().UnixNano()-m.askedAt.Load() >= int64(m.config.IdleAfter)
}

// runOnDemand runs the muxer whenever somebody asks, until ctx or the ring ends.
func (m *Muxer) runOnDemand(ctx context.Context, floor uint64) (next uint64, err error) {
	for {
		select {
		case <-ctx.Done():
			return floor, ctx.Err()
		case <-m.start:
		}
		if m.quiet() {
			continue // a request of long ago
		}
		floor, err = m.run(ctx, floor)
		m.owner.restSound()
		if err != nil || ctx.Err() != nil || m.ring.Closed() {
			return floor, err
		}
	}
}
