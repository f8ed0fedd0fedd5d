// Package rtsp pulls cameras by RTSP: the conversation (package session), the
// access units (package depacket), and the camera.Source that puts them together.
package rtsp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/timeline"
	"github.com/drover-video/drover/ingest/rtsp/session"
)

// authRetry is how long a camera is left alone that refused the login: many lock
// the account after a few more.
const authRetry = 30 * time.Second

// Options hold what all sources share.
type Options struct {
	UserAgent string // "" for the session's default
}

// Open returns what makes sources of specs.
func Open(options Options) camera.OpenSource {
	return func(spec camera.SourceSpec) camera.Source {
		return &source{options: options, spec: spec}
	}
}

// source is one stream of a camera. Pull is not called twice at once.
type source struct {
	options Options
	spec    camera.SourceSpec

	first   session.Transport // to try: the one that brought packets last
	reorder timeline.Reorder  // what was learnt of the stream outlives a connection
}

// errNothingUsable is the cause when a camera offers no track that can be used.
var errNothingUsable = errors.New("no usable track")

// Pull implements camera.Source.
func (s *source) Pull(ctx context.Context, feed *camera.Feed) error {
	var err error
	for i, transport := range s.transports() {
		if i > 0 {
			feed.Logger.Info("trying another transport", "transport", string(transport), "err", err)
		}
		err = s.pull(ctx, feed, transport)
		if ctx.Err() != nil || !(errors.Is(err, session.ErrTransportRefused) || errors.Is(err, session.ErrNoPackets)) {
			break
		}
	}
	return explain(err)
}

// transports are those to try, in order.
func (s *source) transports() []session.Transport {
	switch s.spec.Transport {
	case camera.TransportTCP:
		return []session.Transport{session.TCP}
	case camera.TransportUDP:
		return []session.Transport{session.UDP}
	}
	return from(s.first, session.TCP, session.UDP)
}

// from returns transports beginning with the one given, if it is among them.
func from(first session.Transport, all ...session.Transport) []session.Transport {
	i := max(slices.Index(all, first), 0)
	return slices.Concat(all[i:], all[:i])
}

// pull runs one conversation.
func (s *source) pull(ctx context.Context, feed *camera.Feed, transport session.Transport) error {
	if s.spec.Transport == camera.TransportMulticast {
		return &camera.PullError{Step: "setup", Err: errNothingUsable, RetryAfter: time.Minute,
			Message: "multicast is not yet pulled by this version: set the transport to auto, tcp or udp"}
	}
	conversation, err := session.Open(ctx, session.Options{
		URL: s.spec.URL, Username: s.spec.Username, Password: s.spec.Password,
		Transport: transport, UserAgent: s.options.UserAgent, Logger: feed.Logger,
	})
	if err != nil {
		return err
	}
	defer conversation.Close()
	plan := choose(conversation.Medias())
	if err := setup(ctx, conversation, plan); err != nil {
		return err
	}
	if !plan.has(media.KindVideo) && !plan.has(media.KindAudio) {
		return &camera.PullError{Step: "describe", Message: plan.describe(), Err: errNothingUsable}
	}
	for _, c := range plan {
		if c.install == nil {
			feed.Logger.Warn("track left out", "track", c.offer.Codec, "reason", c.offer.Reason)
		}
	}
	if err := conversation.Play(ctx); err != nil {
		return err
	}
	feed.Connected(camera.Transport(transport), plan.offers())
	stream := newStream(feed, plan, &s.reorder)
	defer stream.close()
	err = conversation.Run(ctx, stream)
	switch {
	case stream.received:
		s.first = transport
	case errors.Is(context.Cause(ctx), camera.ErrStalled):
		// Given up by those who watch, before the conversation itself noticed that
		// this transport brings nothing. Another is due all the same.
		order := s.transports()
		s.first = order[(slices.Index(order, transport)+1)%len(order)]
	}
	return err
}

// setup asks for the tracks of the plan. Audio that the camera refuses is given
// up: it never costs the video.
func setup(ctx context.Context, conversation *session.Session, plan plan) error {
	for i, c := range plan {
		if c.install == nil {
			continue
		}
		err := conversation.Setup(ctx, c.media)
		if err == nil {
			continue
		}
		if answer := (*session.Error)(nil); c.offer.Kind == media.KindAudio && plan.has(media.KindVideo) &&
			errors.As(err, &answer) && answer.Status != 0 && !errors.Is(err, session.ErrTransportRefused) {
			plan.without(i, "the camera refused to send it: "+answer.Error())
			continue
		}
		return err
	}
	return nil
}

// explain puts an error of the conversation into words for people.
func explain(err error) error {
	answer := (*session.Error)(nil)
	if !errors.As(err, &answer) {
		return err
	}
	wait := answer.RetryAfter
	if errors.Is(err, session.ErrAuth) {
		wait = max(wait, authRetry)
	}
	return &camera.PullError{
		Step: string(answer.Step), Message: answer.Hint() + " (" + answer.Error() + ")",
		RetryAfter: wait, Err: err,
	}
}
