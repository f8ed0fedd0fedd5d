package hls

import (
	"net/http"
	"time"
)

// Blocking requests wait on the snapshot's one broadcast. A request that waits
// costs its connection and nothing else: the muxer keeps the time for all.

// live answers with a playlist with parts, once it has what is asked for.
func (p *reply) live(m *Muxer, asked directives) (answered bool) {
	p.camera.want(p.now())
	published := m.published.Load()
	v := published.live
	if v == nil {
		return false
	}
	if v.tooFar(asked) {
		p.problem(p.problems.directive)
		return true
	}
	p.noteViewer(v.target)
	if asked.hasMSN && !v.has(asked) {
		if published = p.await(m, published, func(n *snapshot) bool { return n.live != nil && n.live.has(asked) }); published == nil {
			p.problem(p.problems.late)
			return true
		}
		v = published.live
	}
	d := v.full
	if asked.skip && v.delta != nil {
		d = v.delta
	}
	cacheControl := d.cacheControl
	if asked.hasMSN && asked.msn+1 >= v.msn {
		cacheControl = v.recent // the URL names this version, or one next to it
	}
	p.document(d, cacheControl)
	return true
}

// part answers with a part, once it is there if it is the one that is hinted at.
func (p *reply) part(m *Muxer, n *name) {
	published := m.published.Load()
	part, coming := published.part(n)
	if coming {
		over := func(n2 *snapshot) bool { _, coming := n2.part(n); return !coming }
		if published = p.await(m, published, over); published == nil {
			p.problem(p.problems.late)
			return
		}
		part, _ = published.part(n)
	}
	if part == nil || !part.segment.acquire() {
		p.problem(p.problems.gone)
		return
	}
	defer part.segment.release()
	o := part.sent.Load()
	if o == nil {
		o = part.object(string(appendPartName(nil, n.source, n.epoch, n.sequence, n.part)))
	}
	p.object(o, p.headers.mp4, p.headers.partCache)
}

// await waits for a snapshot with which it is over. It returns nil where that does
// not come: the camera is away, or gone, or brings nothing for three target
// durations, or the viewer has left.
func (p *reply) await(m *Muxer, n *snapshot, over func(*snapshot) bool) *snapshot {
	began, broken := p.now(), n.broken
	limit := time.Duration(0)
	// The deadline for writing begins when there is something to write. Not every
	// ResponseWriter has deadlines.
	_ = http.NewResponseController(p.w).SetWriteDeadline(time.Time{})
	for {
		select {
		case <-n.changed:
		case <-p.r.Context().Done():
			return nil
		}
		n = m.published.Load()
		if over(n) {
			return n
		}
		if n.live != nil {
			limit = patienceTargets * n.live.target
		}
		now := p.now()
		if n.ended || n.broken != broken || limit > 0 && now.Sub(began) > limit {
			return nil
		}
		m.want(now)
	}
}
