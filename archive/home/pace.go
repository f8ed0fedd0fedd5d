package home

import (
	"context"
	"io"
	"sync"
	"time"
)

// A pace spreads bytes over time, for all who share it. A zero rate sets no limit.
type pace struct {
	rate int64 // bytes per second

	mu   sync.Mutex
	free time.Time // when all that was granted will have been sent
}

// burst is how much may be sent at once after a pause: what a socket buffers.
const burst = 50 * time.Millisecond

// wait returns when n more bytes may be sent.
func (p *pace) wait(ctx context.Context, n int) error {
	if p.rate <= 0 {
		return ctx.Err()
	}
	p.mu.Lock()
	now := time.Now()
	if earliest := now.Add(-burst); p.free.Before(earliest) {
		p.free = earliest
	}
	p.free = p.free.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	delay := p.free.Sub(now)
	p.mu.Unlock()
	if delay <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// paced reads as fast as a pace allows.
type paced struct {
	ctx    context.Context
	reader io.Reader
	pace   *pace
}

func (p *paced) Read(into []byte) (int, error) {
	// A piece takes a tenth of a second at most, so that nothing looks stalled.
	if p.pace.rate > 0 {
		into = into[:max(1, min(int64(len(into)), p.pace.rate/10))]
	}
	n, err := p.reader.Read(into)
	if n > 0 {
		if late := p.pace.wait(p.ctx, n); late != nil {
			return n, late
		}
	}
	return n, err
}
