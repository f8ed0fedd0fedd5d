package camera

import (
	"context"
	"errors"
	"time"
)

// DefaultIdleAfter is how long an on-demand camera is pulled after the last one
// who asked for it.
const DefaultIdleAfter = 30 * time.Second

// errQuiet is the cause with which a pull is cancelled that nobody asks for.
var errQuiet = errors.New("nobody watches")

// Want tells that somebody asks for a camera: one that is pulled on demand is
// pulled until nobody has asked for a while. It is cheap enough for each request.
func (r *Registry) Want(id string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e, ok := r.cameras[id]; ok {
		for _, p := range e.pullers {
			p.want()
		}
	}
}

func (p *puller) want() {
	if !p.onDemand {
		return
	}
	p.wantedAt.Store(p.options.Now().UnixNano())
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// wanted reports whether somebody has asked of late.
func (p *puller) wanted() bool {
	at := p.wantedAt.Load()
	return at != 0 && p.options.Now().Sub(time.Unix(0, at)) < p.options.IdleAfter
}

// idle waits until somebody asks.
func (p *puller) idle(ctx context.Context) {
	p.set(StateIdle, "")
	select {
	case <-p.wake:
	case <-p.restart:
		p.wantedAt.Store(p.options.Now().UnixNano())
	case <-ctx.Done():
	}
}

func (p *puller) attach() {
	for _, output := range p.options.Outputs {
		if err := output.Attach(p.camera, p.spec.Name, p.ring); err != nil {
			p.logger.Error("an output does not take this source", "err", err)
		}
	}
}

func (p *puller) detach() {
	for _, output := range p.options.Outputs {
		output.Detach(p.camera, p.spec.Name)
	}
}
