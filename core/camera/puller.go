package camera

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/timeline"
)

// DefaultStallTimeout is how long a stream may bring no access unit.
const DefaultStallTimeout = 10 * time.Second

// watchInterval is how often a stream is looked at.
const watchInterval = time.Second

// puller keeps one source pulled: it connects, watches, and after a failure
// waits and connects again, for as long as it runs. Ring and timeline are the
// source's, not the connection's.
type puller struct {
	camera  string
	spec    SourceSpec
	sources []Source // of the URL, and of the fallback if there is one
	ring    *ring.Ring
	options *Options
	logger  *slog.Logger

	onDemand bool
	restart  chan struct{}
	wake     chan struct{}
	wantedAt atomic.Int64 // when somebody last asked for the source, in ns of Unix time

	// Owned by Run.
	timeline *timeline.Timeline
	seq      uint64
	backoff  Backoff

	lost     atomic.Uint64
	received atomic.Uint64

	reordered, kernelDropped atomic.Uint64

	connects atomic.Uint64 // that led to a stream
	discards discards

	mu    sync.Mutex
	state State
	since time.Time
	err   string
	fault Fault     // of err
	next  time.Time // of the next try, while waiting for it
	feed  *Feed     // of the connection that is, or of the last
}

func newPuller(camera string, spec SourceSpec, onDemand bool, options *Options) *puller {
	p := &puller{
		camera: camera, spec: spec, sources: []Source{options.Open(spec)},
		ring:     ring.New(options.Ring),
		options:  options,
		logger:   options.Logger.With("camera", camera, "source", spec.Name),
		onDemand: onDemand,
		restart:  make(chan struct{}, 1),
		wake:     make(chan struct{}, 1),
		timeline: timeline.New(0),
		state:    StateConnecting,
		since:    options.Now(),
	}
	if spec.FallbackURL != "" {
		fallback := spec
		fallback.URL, fallback.FallbackURL = spec.FallbackURL, ""
		p.sources = append(p.sources, options.Open(fallback))
	}
	p.backoff = Backoff{Min: options.BackoffMin, Max: options.BackoffMax, Random: options.Random}
	return p
}

// Run pulls until ctx ends; on demand, while somebody asks.
func (p *puller) Run(ctx context.Context) {
	attached := false
	defer func() {
		if attached {
			p.detach()
		}
	}()
	for ctx.Err() == nil {
		if p.onDemand && !p.wanted() {
			if attached {
				p.detach()
				p.ring.Clear() // of no use to who comes in an hour
				attached = false
			}
			p.idle(ctx)
			continue
		}
		if !attached {
			p.attach()
			attached = true
		}
		p.set(StateConnecting, "")
		err := p.pullAny(ctx)
		if ctx.Err() == nil && !errors.Is(err, errRestart) && !errors.Is(err, errQuiet) {
			p.wait(ctx, err)
		}
	}
}

// wait leaves the camera alone for a while after a failure.
func (p *puller) wait(ctx context.Context, err error) {
	var floor time.Duration
	if pull := (*PullError)(nil); errors.As(err, &pull) {
		floor = pull.RetryAfter
	}
	state := StateBackoff
	if errors.Is(err, ErrStalled) {
		state = StateStalled // and stays so until the next try
	}
	p.setFault(faultOf(err))
	p.set(state, err.Error())
	delay := p.backoff.next(floor)
	p.setNext(p.options.Now().Add(delay))
	defer p.setNext(time.Time{})
	p.logger.Debug("waiting before the next try", "delay", delay)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.restart:
		p.backoff.reset()
	case <-ctx.Done():
	}
}

// errRestart is the cause with which a pull is cancelled on request.
var errRestart = errors.New("restarted by request")

// pullAny runs one connection, over the fallback URL if the first brings no frame.
func (p *puller) pullAny(ctx context.Context) error {
	err := p.pullOnce(ctx, 0)
	if len(p.sources) == 1 || ctx.Err() != nil || errors.Is(err, errRestart) || errors.Is(err, errQuiet) || p.feed.firstAt.Load() != 0 {
		return err
	}
	p.logger.Info("trying the fallback", "err", err)
	fallbackErr := p.pullOnce(ctx, 1)
	if p.feed.firstAt.Load() != 0 {
		return fallbackErr
	}
	return fmt.Errorf("%w; the fallback: %w", err, fallbackErr)
}

// pullOnce runs one connection and watches it. The error is never nil.
func (p *puller) pullOnce(parent context.Context, which int) error {
	release, err := p.options.Dials.acquire(parent)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	feed := &Feed{
		Pool: p.options.Pool, Timeline: p.timeline, Logger: p.logger,
		ring: p.ring, puller: p, connected: release, seq: &p.seq, fallback: which > 0,
	}
	p.mu.Lock()
	p.feed = feed
	p.mu.Unlock()
	started := p.options.Now()
	done := make(chan error, 1)
	go func() { done <- p.guard(ctx, p.sources[which], feed) }()
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return p.ended(feed, err, context.Cause(ctx))
		case <-p.restart:
			p.backoff.reset()
			cancel(errRestart)
		case <-ticker.C:
			if cause := p.watch(feed, started); cause != nil && ctx.Err() == nil {
				if errors.Is(cause, ErrStalled) {
					p.setFault(FaultNetwork)
					p.set(StateStalled, cause.Error())
				}
				cancel(cause)
			}
		}
	}
}

// guard turns a panic into an error: a bad camera never costs another camera.
func (p *puller) guard(ctx context.Context, source Source, feed *Feed) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			p.logger.Error("pulling a camera failed inside Drover", "panic", reason, "stack", string(debug.Stack()))
			err = &PullError{Step: "read", Message: "Drover failed on what this camera sends: please report it with the log", RetryAfter: p.options.BackoffMax}
		}
	}()
	return source.Pull(ctx, feed)
}

// ended puts a connection's end into words, and forgives earlier failures as far as
// it ran for long enough.
func (p *puller) ended(feed *Feed, err, cause error) error {
	if first := feed.firstAt.Load(); first != 0 {
		p.backoff.ran(time.Duration(p.options.Now().UnixNano() - first))
	}
	if cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if err == nil {
		return errors.New("the camera ended the stream")
	}
	return err
}

// watch looks at a connection. It returns why it should be given up, or nil.
func (p *puller) watch(feed *Feed, started time.Time) error {
	now := p.options.Now()
	tracks := feed.tracks.Load()
	if tracks == nil {
		if waited := now.Sub(started); waited > p.options.ConnectTimeout {
			return fmt.Errorf("the camera took more than %v to agree on a stream", p.options.ConnectTimeout)
		}
		return nil
	}
	if p.onDemand && !p.wanted() {
		return errQuiet
	}
	watched := watchedTracks(*tracks)
	for _, t := range *tracks {
		t.measure(now)
	}
	for _, t := range watched {
		limit := p.options.StallTimeout
		t.mu.Lock()
		if fps := t.rates.fps; fps > 0 {
			// A camera of one picture in ten seconds is slow, not stalled.
			limit = max(limit, time.Duration(3/fps*float64(time.Second)))
		}
		t.mu.Unlock()
		if silent := now.Sub(time.Unix(0, t.aliveAt.Load())); silent > limit {
			return fmt.Errorf("%w: no %s for %v, though the connection stands", ErrStalled, t.offer.Kind, limit.Round(time.Second))
		}
	}
	if ready := time.Unix(0, feed.readyAt.Load()); feed.firstAt.Load() == 0 && now.Sub(ready) > p.options.StallTimeout {
		why := "the camera sends pictures but no keyframe yet: a shorter keyframe interval in its settings helps"
		if better := feed.waiting.Load(); better != nil {
			why = *better
		}
		p.set(StateConnecting, why)
	}
	return nil
}

// watchedTracks are those without which there is no stream: video, or audio where
// there is no video. A bad audio track never costs the video.
func watchedTracks(tracks []*feedTrack) []*feedTrack {
	for _, kind := range []media.Kind{media.KindVideo, media.KindAudio} {
		var watched []*feedTrack
		for _, t := range tracks {
			if t.offer.Kind == kind && t.offer.Playable {
				watched = append(watched, t)
			}
		}
		if len(watched) > 0 {
			return watched
		}
	}
	return nil
}

func (p *puller) live() { p.set(StateLive, "") }

// set changes the state, and tells who wants to know.
func (p *puller) set(state State, err string) {
	now := p.options.Now()
	p.mu.Lock()
	from, was := p.state, p.err
	if state == StateConnecting && err == "" {
		err = was // why it has to connect again, until it is live
	}
	if from == state && was == err {
		p.mu.Unlock()
		return
	}
	if from != state {
		p.since = now
	}
	p.state, p.err = state, err
	if state == StateLive {
		p.fault = FaultNone
	}
	fault := p.fault
	p.mu.Unlock()
	switch {
	case state == StateLive:
		p.logger.Info("live")
	case state == StateStalled, state == StateBackoff && was != err:
		p.logger.Warn("not live", "state", string(state), "err", err)
	default:
		p.logger.Debug("state", "state", string(state), "err", err)
	}
	if from != state {
		p.options.StateChanged(Change{Camera: p.camera, Source: p.spec.Name, State: state, Fault: fault, Reason: err, At: now})
	}
}

// setFault says what is wrong, ahead of the state that it leads to.
func (p *puller) setFault(fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// faultOf says what an error of pulling means for those who wait for footage.
func faultOf(err error) Fault {
	if pull := (*PullError)(nil); errors.As(err, &pull) && pull.Login {
		return FaultLogin
	}
	return FaultNetwork
}

func (p *puller) setNext(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = at
}

// Restart ends the connection, or the wait for the next.
func (p *puller) Restart() {
	select {
	case p.restart <- struct{}{}:
	default:
	}
}

// reconnects returns how many streams there were after the first.
func (p *puller) reconnects() uint64 { return max(p.connects.Load(), 1) - 1 }

// status returns how the source is doing.
func (p *puller) status() SourceStatus {
	p.mu.Lock()
	s := SourceStatus{Name: p.spec.Name, State: p.state, Since: p.since, Error: p.err, NextTryAt: p.next}
	feed := p.feed
	p.mu.Unlock()
	s.Reconnects, s.LostPackets, s.BytesIn = p.reconnects(), p.lost.Load(), p.received.Load()
	s.ReorderedPackets, s.KernelDroppedPackets = p.reordered.Load(), p.kernelDropped.Load()
	if feed == nil {
		return s
	}
	s.OnFallback = feed.fallback
	if t := feed.transport.Load(); t != nil {
		s.Transport = *t
	}
	if reason := feed.reason.Load(); reason != nil {
		s.TransportReason = *reason
	}
	if tracks := feed.tracks.Load(); tracks != nil {
		for _, t := range *tracks {
			s.Tracks = append(s.Tracks, t.status())
		}
	}
	s.GOP = time.Duration(feed.gopNs.Load())
	if at := feed.lastAt.Load(); at != 0 {
		s.LastFrameAt = time.Unix(0, at)
	}
	return s
}

// counters returns what was counted since the source was made.
func (p *puller) counters() SourceCounters {
	stats := p.ring.Stats()
	return SourceCounters{
		Name: p.spec.Name, Frames: stats.Written, BytesIn: p.received.Load(),
		LostPackets: p.lost.Load(), Reconnects: p.reconnects(),
		ReorderedPackets: p.reordered.Load(), KernelDroppedPackets: p.kernelDropped.Load(),
		Discards: p.discards.snapshot(), Ring: stats, Subscribers: p.ring.Subscribers(),
	}
}
