// Package rtsp pulls cameras by RTSP: the conversation (package session), the
// access units (package depacket), and the camera.Source that puts them together.
package rtsp

import (
	"context"
	"errors"
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
	Batch     int    // datagrams that one system call reads at most; 0 for the session's default

	// WithoutFLAC leaves G.711, G.722 and L16 out, which else become FLAC: players
	// of HLS take them in no other form.
	WithoutFLAC bool
}

// Open returns what makes sources of specs.
func Open(options Options) camera.OpenSource {
	buffers := session.NewBuffers(options.Batch)
	return func(spec camera.SourceSpec) camera.Source {
		return &source{options: options, spec: spec, buffers: buffers}
	}
}

// source is one stream of a camera. Pull is not called twice at once.
type source struct {
	options Options
	spec    camera.SourceSpec
	buffers *session.Buffers // of all sources

	first   session.Transport // to try: the one that brought packets last
	why     string            // it was, where others had failed
	reorder timeline.Reorder  // what was learnt of the stream outlives a connection
}

// errNothingUsable is the cause when a camera offers no track that can be used.
var errNothingUsable = errors.New("no usable track")

// pull runs one conversation, after others by other transports. More says that
// there are more to try.
func (s *source) pull(ctx context.Context, feed *camera.Feed, transport session.Transport, tried []attempt, more bool) (err error) {
	received := false
	defer func() { s.learn(transport, tried, received, context.Cause(ctx), err) }()
	options := session.Options{
		URL: s.spec.URL, Username: s.spec.Username, Password: s.spec.Password,
		Transport: transport, Buffers: s.buffers, UserAgent: s.options.UserAgent, Logger: feed.Logger,
	}
	if more && transport != session.UDP {
		options.FirstPacketTimeout = firstPacketTimeout
	}
	if options.TLSConfig, err = session.TLSConfig(session.Trust(s.spec.TLS.Verify), s.spec.TLS.Fingerprint); err != nil {
		return err
	}
	conversation, err := session.Open(ctx, options)
	if err != nil {
		return err
	}
	defer conversation.Close()
	plan := choose(conversation.Medias(), s.options)
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
	feed.Because(s.reason(transport, tried))
	feed.Connected(camera.Transport(transport), plan.offers())
	stream := newStream(feed, plan, &s.reorder)
	defer stream.close()
	err = conversation.Run(ctx, stream)
	received = stream.received
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
		RetryAfter: wait, Login: errors.Is(err, session.ErrAuth), Err: err,
	}
}
