package hls

import (
	"sync/atomic"
	"time"
)

// Low latency is made while somebody asks for it: a thousand cameras that nobody
// looks at cost what whole segments cost.

// liveIdle is how long it is made after the last request, at least.
const liveIdle = 30 * time.Second

type liveCounters struct{ parts, restarts atomic.Uint64 }

// want tells that somebody asks for low latency. It is cheap enough for each
// request.
func (m *Muxer) want(now time.Time) {
	if at := now.UnixNano(); at-m.wanted.Load() > int64(time.Second) {
		m.wanted.Store(at)
	}
	if m.published.Load().live != nil {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// goLive begins to make low latency, from the frames of the open segment on.
func (p *pipeline) goLive() {
	s := p.segmenter
	if s.live {
		return
	}
	s.live, s.fresh = true, true
	if s.open.active {
		if n := len(s.open.lead) - 1; n > 0 {
			s.cutLive(n, s.open.lead[n].DTS)
		}
	}
	p.window.startLive(s.openDuration())
}

// retire ends low latency that nobody has asked for of late. The segment being
// made stays as it was begun.
func (p *pipeline) retire() {
	if !p.segmenter.live {
		return
	}
	idle := max(liveIdle, 3*time.Duration(p.window.live.target)*time.Second)
	if p.config.Now().Sub(time.Unix(0, p.wanted.Load())) < idle {
		return
	}
	p.segmenter.live, p.window.live.on = false, false
	p.patience.Stop()
	old := p.published.Load()
	now := old.after()
	now.live = nil
	p.replace(old, now)
}

// publishParts makes the low latency of a snapshot.
func (p *pipeline) publishParts(now *snapshot) {
	s := p.segmenter
	s.fresh = false
	open := s.open.segment
	if open == nil && len(now.segments) == 0 {
		return // nothing yet
	}
	if s.partTarget == 0 {
		return // no frame has followed another
	}
	before := p.window.live
	if p.window.renderLive(now, open, s.partTarget, *p.owner.muxers.Load()) {
		p.live.restarts.Add(1)
		p.log.Info("low-latency playlist restarts", "target_seconds", p.window.live.target, "target_seconds_before", before.target,
			"part_target", p.window.live.partTarget, "part_target_before", before.partTarget)
	}
	p.patience.Reset(patienceTargets * now.live.target)
	p.live.parts.Add(uint64(s.number - p.counted))
}

// patienceTargets is how long a request may wait, in target durations (RFC 8216bis
// 6.2.5.2).
const patienceTargets = 3

// answerWaiters sends those away who wait for what does not come.
func (p *pipeline) answerWaiters() {
	old := p.published.Load()
	if old.live == nil {
		return
	}
	now := old.after()
	now.broken++
	p.replace(old, now)
	p.patience.Reset(patienceTargets * now.live.target)
}
