package camera

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Bounds of a probe.
const (
	// ProbeTimeout bounds a probe altogether.
	ProbeTimeout = 20 * time.Second

	// probeWatch is how long a stream is watched after its first frame, for the
	// distance of keyframes and the rates.
	probeWatch = 5 * time.Second

	// probeLook is how often.
	probeLook = 50 * time.Millisecond
)

// Probe connects to a source as if to pull it, watches for a few seconds, and
// says what it offers. Of options, Open is needed.
func Probe(ctx context.Context, options Options, spec SourceSpec) ProbeResult {
	options.fill()
	options.Logger = slog.New(slog.DiscardHandler)
	options.StateChanged = func(Change) {}
	begun := options.Now()
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	p := newPuller("probe", spec, false, &options)
	defer p.ring.Close()
	feed := &Feed{
		Pool: options.Pool, Timeline: p.timeline, Logger: options.Logger,
		ring: p.ring, puller: p, connected: func() {}, seq: &p.seq,
	}
	p.feed = feed
	done := make(chan error, 1)
	go func() { done <- p.guard(ctx, p.sources[0], feed) }()
	err := p.watchProbe(ctx, feed, done)
	cancel()
	if err == nil {
		<-done
	}
	status := p.status()
	result := ProbeResult{
		Transport: status.Transport, TransportReason: status.TransportReason, Tracks: status.Tracks, GOP: status.GOP,
		Elapsed: options.Now().Sub(begun),
	}
	if err != nil && feed.firstAt.Load() == 0 {
		result.Step, result.Error = "read", err.Error()
		if pull := (*PullError)(nil); errors.As(err, &pull) {
			result.Step = pull.Step
		}
	}
	return result
}

// errNoFrame is what a probe ends with when a camera agreed and sent no picture.
var errNoFrame = errors.New("the camera agreed to send but no picture came: it may send keyframes very rarely, or a firewall is in the way")

// watchProbe waits until enough was seen. It returns an error only when the pull
// ended by itself or brought nothing.
func (p *puller) watchProbe(ctx context.Context, feed *Feed, done <-chan error) error {
	ticker := time.NewTicker(probeLook)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			if ctx.Err() != nil && feed.tracks.Load() != nil {
				return errNoFrame
			}
			return p.ended(feed, err, nil)
		case <-ticker.C:
			now := p.options.Now()
			if tracks := feed.tracks.Load(); tracks != nil {
				for _, t := range *tracks {
					t.measure(now)
				}
			}
			first := feed.firstAt.Load()
			if first == 0 {
				continue
			}
			watched := now.Sub(time.Unix(0, first))
			if watched >= probeWatch || feed.gopNs.Load() > 0 && watched >= rateInterval+2*probeLook {
				return nil
			}
		}
	}
}
