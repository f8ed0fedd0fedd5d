package hls

import (
	"net/http"
	"strings"
	"time"
)

// playlist answers with a playlist. Where a camera has none yet it waits for a
// while: a player that is told to come back later shows an error first.
func (p *reply) playlist(n *name) {
	asked, ok := directives{}, true
	if n.kind == nameLive {
		asked, ok = parseDirectives(p.r.URL.RawQuery)
	}
	if !ok {
		p.problem(p.problems.directive)
		return
	}
	if !p.tryPlaylist(n, asked) {
		p.awaitFirst(n, asked)
	}
	p.count()
}

// awaitFirst answers once the camera has a playlist.
func (p *reply) awaitFirst(n *name, asked directives) {
	place, ok := p.cameras.Await(n.camera)
	if !ok {
		p.problem(p.problems.notYet)
		return
	}
	defer place.leave()
	_ = http.NewResponseController(p.w).SetWriteDeadline(time.Time{}) // as in await
	timer := time.NewTimer(place.patience)
	defer timer.Stop()
	for {
		changed, ok := place.changed()
		if p.tryPlaylist(n, asked) {
			return
		}
		if ok {
			select {
			case <-changed:
				continue
			case <-timer.C:
			case <-p.r.Context().Done():
			}
		}
		p.problem(p.problems.notYet)
		return
	}
}

// tryPlaylist answers, unless the playlist is one that may come in a moment.
func (p *reply) tryPlaylist(n *name, asked directives) (answered bool) {
	if !p.lookup(n.camera) {
		p.problem(p.problems.camera)
		return true
	}
	if p.camera == nil {
		return false
	}
	if p.ready(n, asked) {
		return true
	}
	if p.camera.unplayable() {
		p.problem(p.problems.notInHLS)
		return true
	}
	return false
}

// ready answers with a playlist of the camera, unless there is none yet.
func (p *reply) ready(n *name, asked directives) (answered bool) {
	switch n.kind {
	case nameMultivariant:
		return p.multivariant(n.ts)
	case nameLiveMultivariant:
		return p.liveMultivariant()
	}
	m := p.camera.muxer(n.source)
	switch {
	case m == nil && len(*p.camera.muxers.Load()) > 0:
		p.problem(p.problems.unknown)
		return true
	case m == nil:
		return false
	case n.kind == nameLive:
		return p.live(m, asked)
	case n.kind == nameBoxes:
		return p.boxesPlaylist(m.published.Load())
	default:
		return p.media(m.published.Load(), n.ts)
	}
}

func (p *reply) multivariant(ts bool) (answered bool) {
	d := p.camera.multivariant.Load()
	switch {
	case d == nil:
		return false
	case ts:
		if d = p.camera.multivariantTS.Load(); d == nil {
			p.problem(p.problems.notInTS)
			return true
		}
	}
	p.document(d, d.cacheControl)
	return true
}

// liveMultivariant also has low latency begun, so that its playlist is there when
// the player asks for it.
func (p *reply) liveMultivariant() (answered bool) {
	p.camera.want(p.now())
	d := p.camera.liveList.Load()
	if d == nil {
		return false
	}
	p.document(d, d.cacheControl)
	return true
}

func (p *reply) media(published *snapshot, ts bool) (answered bool) {
	d := published.media
	if d == nil {
		return false
	}
	p.noteViewer(published.target)
	if ts {
		if d = published.ts; d == nil {
			p.problem(p.problems.notInTS)
			return true
		}
	}
	p.document(d, d.cacheControl)
	return true
}

func (p *reply) noteViewer(target time.Duration) {
	address := p.r.RemoteAddr
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		address = address[:i]
	}
	p.camera.viewers.note(address, p.r.UserAgent(), p.now(), viewerPatience*target)
}
