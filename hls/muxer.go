package hls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/ring"
)

// Muxer makes HLS of one source of a camera, from its ring. It outlives
// connections to the camera.
type Muxer struct {
	source  string
	derived bool // it makes the sound that the camera's variants share
	owner   *Camera
	ring    *ring.Ring
	config  *Config
	log     *slog.Logger

	published atomic.Pointer[snapshot] // never nil
	held      atomic.Int64
	segments  atomic.Uint64
	restarts  atomic.Uint64
	live      liveCounters
	drops     *dropCounters

	why        atomic.Pointer[string] // nothing can be shown; nil: it can, or it is not known yet
	unplayable atomic.Bool            // the camera sends pictures that no player of HLS shows

	wanted atomic.Int64  // when somebody last asked for low latency, in ns of Unix time
	wake   chan struct{} // somebody asks for low latency, and there is none
	away   chan struct{} // the camera is gone

	// Of a muxer that is made on demand.
	askedAt atomic.Int64  // when somebody last asked for the camera, in ns of Unix time
	start   chan struct{} // somebody asks
	rest    chan struct{} // of the shared sound: a source has ended its run
}

func newMuxer(source string, r *ring.Ring, config *Config, owner *Camera) *Muxer {
	m := &Muxer{
		source: source, derived: source == soundSource, ring: r, config: config, owner: owner, drops: new(dropCounters),
		log:  config.Log.With("camera", owner.id, "source", source),
		wake: make(chan struct{}, 1), away: make(chan struct{}, 1), start: make(chan struct{}, 1), rest: make(chan struct{}, 1),
	}
	m.published.Store(&snapshot{changed: make(chan struct{})})
	return m
}

// run publishes until ctx or the ring ends, and then takes back what it
// published. floor is the least number of its first segment; the least number of
// a next run is returned.
func (m *Muxer) run(ctx context.Context, floor uint64) (next uint64, err error) {
	ledger := &ledger{epochs: m.config.Epochs, camera: m.owner.id, periods: m.owner.periods}
	defer ledger.wait()
	first := ledger.begin(ctx, m.log, m.config.Now)
	first.sequence = max(floor, first.sequence)
	if ctx.Err() != nil {
		return floor, ctx.Err()
	}
	sub, err := m.ring.Subscribe(ring.Options{Name: "hls", Start: ring.StartOldest})
	if errors.Is(err, ring.ErrClosed) {
		return floor, nil
	}
	if err != nil {
		return floor, fmt.Errorf("subscribe: %w", err)
	}
	defer sub.Close()

	p := newPipeline(m, first)
	defer p.end()

	stale := uint64(0) // newest sound of when somebody last watched
	if mix := m.owner.mixer.Load(); m.derived && mix != nil {
		stale = mix.stale()
	}
	// What the ring holds becomes one playlist: its target comes from all of it.
	backlog := len(sub.C)
	for {
		select {
		case <-ctx.Done():
			return p.window.next, ctx.Err()
		case <-m.wake:
			p.goLive()
		case <-m.away:
			p.answerWaiters()
		case <-p.patience.C:
			p.answerWaiters()
		case <-m.rest:
			if m.quiet() {
				return p.window.next, nil
			}
		case item, ok := <-sub.C:
			if !ok {
				return p.window.next, nil
			}
			backlog-- // what is stale was part of it
			if item.Frame.Seq <= stale && m.derived {
				item.Frame.Release()
				continue
			}
			p.feed(item.Frame)
			p.segmenter.push(item)
			if m.quiet() {
				return p.window.next, nil
			}
		}
		if backlog <= 0 && p.publish() {
			ledger.used(ctx, p.window.next)
		}
	}
}

// A pipeline is one run of a muxer. It belongs to one goroutine.
type pipeline struct {
	*Muxer
	window    *window
	segmenter *segmenter
	ready     []*segment  // made and not yet published; the pipeline holds a reference
	counted   uint32      // the newest fragment that was published
	patience  *time.Timer // runs while there is low latency: how long waiters wait
	fate      trouble
	began     time.Time
	first     uint64 // number of the run's first segment
}

func newPipeline(m *Muxer, first numbers) *pipeline {
	p := &pipeline{Muxer: m, window: newWindow(m.source, m.config, m.owner.periods, first), patience: time.NewTimer(time.Hour)}
	p.patience.Stop()
	p.began, p.first = m.config.Now(), first.sequence
	p.segmenter = &segmenter{
		crowded: p.crowded,
		source:  m.source, config: m.config, periods: m.owner.periods, mixer: &m.owner.mixer, derived: m.derived, log: m.log, drops: m.drops, held: &m.held, unplayable: &m.unplayable, longest: p.window.longest,
		emit: func(s *segment) { p.ready = append(p.ready, s) },
	}
	m.published.Store(&snapshot{changed: make(chan struct{}), epoch: first.epoch})
	return p
}

// crowded reports whether segments come so fast that their numbers would overtake
// the clock, by which the next run's begin. What a ring holds may come at once.
func (p *pipeline) crowded() bool {
	clock := p.first + uint64(max(0, p.config.Now().Sub(p.began))/(sequenceTick*time.Millisecond))
	return p.window.next+uint64(len(p.ready)) > clock+mostAhead
}

// publish puts segments and parts that are ready into the window and a new
// snapshot before the viewers, and reports whether there were segments.
func (p *pipeline) publish() bool {
	segments := len(p.ready)
	p.retire()
	if segments == 0 && !(p.segmenter.live && p.segmenter.fresh) {
		return false
	}
	p.made()
	old := p.published.Load()
	now := old.after()
	var gone []*segment
	if segments > 0 {
		target := p.window.target
		gone = p.window.add(p.ready, p.segmenter.openDuration())
		p.ready = p.ready[:0]
		if target != 0 && p.window.target != target {
			p.restarts.Add(1)
			p.log.Info("playlist begins anew with another target duration", "seconds", p.window.target, "before", target)
		}
		p.window.render(now)
	}
	if p.segmenter.live {
		p.publishParts(now)
	}
	p.counted = p.segmenter.number
	p.replace(old, now)
	p.segments.Add(uint64(segments))
	for _, s := range gone {
		s.release()
	}
	return segments > 0
}

// replace puts a snapshot before the viewers, and wakes those who wait.
func (p *pipeline) replace(old, now *snapshot) {
	p.published.Store(now)
	close(old.changed)
	before, there := old.inLive()
	after, is := now.inLive()
	switch {
	case before != after, there != is, (old.media == nil) != (now.media == nil), p.owner.held.Load(), p.owner.seeing():
		p.owner.render()
	case old.live == nil && now.live != nil:
		p.owner.notify()
	}
}

// end takes back what was published and gives up every frame, but for those that
// a response still sends.
func (p *pipeline) end() {
	p.patience.Stop()
	p.why.Store(nil)
	p.owner.periods.leave(p.source)
	p.replace(p.published.Load(), &snapshot{changed: make(chan struct{}), ended: true})
	p.segmenter.end()
	for _, s := range p.ready {
		s.release()
	}
	p.window.clear()
}

// MuxerStats is how the HLS of one source is doing.
type MuxerStats struct {
	Source    string
	HeldBytes int64  // of media that it keeps from being freed
	Segments  uint64 // published
	Restarts  uint64 // of the playlist, with another target duration
	Dropped   map[string]uint64

	Live         bool   // low latency is being made
	Parts        uint64 // published
	LiveRestarts uint64 // of the playlist with parts, with another target of either kind
}

// Stats returns how the muxer is doing.
func (m *Muxer) Stats() MuxerStats {
	stats := MuxerStats{Source: m.source, HeldBytes: m.held.Load(), Segments: m.segments.Load(), Restarts: m.restarts.Load(),
		Live: m.published.Load().live != nil, Parts: m.live.parts.Load(), LiveRestarts: m.live.restarts.Load(),
		Dropped: make(map[string]uint64, int(dropReasons))}
	for reason := range dropReasons {
		stats.Dropped[reason.String()] = m.drops[reason].Load()
	}
	return stats
}
