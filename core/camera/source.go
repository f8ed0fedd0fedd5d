package camera

import (
	"context"
	"errors"
	"time"

	"github.com/drover-video/drover/core/media"
)

// A Source pulls one stream of a camera.
type Source interface {
	// Pull connects, tells feed what there is, and writes frames into it until the
	// stream ends or ctx does. It returns why; a *PullError where a person can be
	// told more than the error's text. When it returns, all it started has ended.
	Pull(ctx context.Context, feed *Feed) error
}

// OpenSource makes the Source of a spec. It does not connect.
type OpenSource func(spec SourceSpec) Source

// A PullError says why a stream could not be pulled, in words for people.
type PullError struct {
	Step       string        // of the conversation: "connect", "describe", …
	Message    string        // what happened and what to do; never holds a secret
	RetryAfter time.Duration // how long the camera should be left alone at least
	Login      bool          // the camera refused the login
	Err        error         // the cause
}

// Error implements error.
func (e *PullError) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *PullError) Unwrap() error { return e.Err }

// ErrStalled is the cause with which a pull is cancelled that brings no more
// access units.
var ErrStalled = errors.New("no access unit came for too long")

// TrackOffer is a track as the camera offers it.
type TrackOffer struct {
	Codec    string // as in TrackStatus
	Kind     media.Kind
	Playable bool
	Reason   string // why not

	DeliveredAs string // as in TrackStatus
	MPEGTS      bool   // as in TrackStatus

	// Of audio, where the camera says it before the first frame.
	SampleRate int
	// Known parameters, or nil.
	Params *media.Params
}
