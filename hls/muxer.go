package hls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/drover-video/drover/core/ring"
)

// Muxer makes HLS of one source of a camera, from its ring. It outlives
// connections to the camera.
type Muxer struct {
	camera, source string
	ring           *ring.Ring
	config         *Config
	log            *slog.Logger
	changed        func() // the variant is another

	published atomic.Pointer[snapshot]
	held      atomic.Int64
	segments  atomic.Uint64
	restarts  atomic.Uint64
	drops     dropCounters

	unplayable atomic.Bool // the camera sends pictures that no player of HLS shows
}

func newMuxer(camera, source string, r *ring.Ring, config *Config, changed func()) *Muxer {
	return &Muxer{
		camera: camera, source: source, ring: r, config: config, changed: changed,
		log: config.Log.With("camera", camera, "source", source),
	}
}

// run publishes until ctx or the ring ends, and then takes back what it
// published. floor is the least number of its first segment; the least number of
// a next run is returned.
func (m *Muxer) run(ctx context.Context, floor uint64) (next uint64, err error) {
	first := m.firstNumbers(ctx, floor)
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

	ledger := &ledger{
		epochs: m.config.Epochs, camera: m.camera,
		highest: first.epoch, discontinuity: int64(first.discontinuity) + reservedDiscontinuities,
	}
	defer ledger.wait()
	p := newPipeline(m, first)
	defer p.end()

	// What the ring holds becomes one playlist: its target comes from all of it.
	for backlog := len(sub.C); ; backlog-- {
		select {
		case <-ctx.Done():
			return p.window.next, ctx.Err()
		case item, ok := <-sub.C:
			if !ok {
				return p.window.next, nil
			}
			p.segmenter.push(item)
		}
		if backlog <= 1 && p.publish() {
			ledger.used(ctx, p.window.next, p.window.lastDiscontinuity())
		}
	}
}

// firstNumbers asks the store where a run begins. The live picture does not depend
// on the disk: without an answer it goes by the clock.
func (m *Muxer) firstNumbers(ctx context.Context, floor uint64) numbers {
	epoch, err := m.config.Epochs.NextEpoch(ctx, m.camera)
	if err != nil {
		epoch = m.config.Now().UnixMilli()
	}
	discontinuity, reserveErr := m.config.Epochs.ReserveDiscontinuities(ctx, m.camera, reservedDiscontinuities)
	if err = errors.Join(err, reserveErr); err != nil && ctx.Err() == nil {
		m.log.Warn("no numbers from the store, going by the clock", "err", err)
	}
	return numbers{epoch: epoch, sequence: max(floor, sequenceOf(epoch)), discontinuity: uint64(discontinuity)}
}

// A pipeline is one run of a muxer. It belongs to one goroutine.
type pipeline struct {
	*Muxer
	window    *window
	segmenter *segmenter
	ready     []*segment // made and not yet published; the pipeline holds a reference
}

func newPipeline(m *Muxer, first numbers) *pipeline {
	p := &pipeline{Muxer: m, window: newWindow(m.source, m.config, first)}
	p.segmenter = &segmenter{
		source: m.source, config: m.config, log: m.log, drops: &m.drops, held: &m.held, unplayable: &m.unplayable, longest: p.window.longest,
		emit: func(s *segment) { p.ready = append(p.ready, s) },
	}
	return p
}

// publish puts segments that are ready into the window and a new snapshot before
// the viewers, and reports whether there were any.
func (p *pipeline) publish() bool {
	if len(p.ready) == 0 {
		return false
	}
	target := p.window.target
	gone := p.window.add(p.ready, p.segmenter.openDuration())
	published := uint64(len(p.ready))
	p.ready = p.ready[:0]
	if target != 0 && p.window.target != target {
		p.restarts.Add(1)
		p.log.Info("playlist restarts with a longer target duration", "seconds", p.window.target, "before", target)
	}
	old, now := p.published.Load(), p.window.snapshot()
	p.published.Store(now)
	if old == nil || old.variant != now.variant {
		p.changed()
	}
	p.segments.Add(published)
	for _, s := range gone {
		s.release()
	}
	return true
}

// end takes back what was published and gives up every frame, but for those that
// a response still sends.
func (p *pipeline) end() {
	p.published.Store(nil)
	p.changed()
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
	Restarts  uint64 // of the playlist, with a longer target duration
	Dropped   map[string]uint64
}

// Stats returns how the muxer is doing.
func (m *Muxer) Stats() MuxerStats {
	stats := MuxerStats{Source: m.source, HeldBytes: m.held.Load(), Segments: m.segments.Load(), Restarts: m.restarts.Load(),
		Dropped: make(map[string]uint64, int(dropReasons))}
	for reason := range dropReasons {
		stats.Dropped[reason.String()] = m.drops[reason].Load()
	}
	return stats
}
