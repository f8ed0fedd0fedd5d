package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/drover-video/drover/core/secret"
)

// What a session can fail of, for errors.Is. Anything else is a fault of the
// network or of the camera's firmware, told by Error.Err and Error.Status.
var (
	ErrAuth             = errors.New("the camera refused the login")
	ErrNotFound         = errors.New("the camera has no such stream")
	ErrSessionLimit     = errors.New("the camera serves no more sessions")
	ErrTransportRefused = errors.New("the camera refused the transport")
	ErrNoPackets        = errors.New("the camera accepted but sent nothing")
	ErrNoMedia          = errors.New("the camera described no media")
	ErrBye              = errors.New("the camera ended the stream")
	ErrTimeout          = errors.New("the camera did not answer in time")
	ErrAddress          = errors.New("the address may not be dialled")
	ErrRedirect         = errors.New("the camera's redirect cannot be followed")
	ErrFraming          = errors.New("the camera's stream is broken again and again")
	ErrNotRTSP          = errors.New("what answers does not speak RTSP")
	ErrCertificate      = errors.New("the camera's certificate is not trusted")
	ErrTooLarge         = errors.New("the camera's message is too large")
	ErrClosed           = errors.New("the session is closed")
)

// Step is the step of the conversation that failed.
type Step string

// The steps of a conversation.
const (
	StepConnect  Step = "connect"
	StepOptions  Step = "options"
	StepDescribe Step = "describe"
	StepSetup    Step = "setup"
	StepPlay     Step = "play"
	StepRead     Step = "read"
)

// An Error says at which step the conversation failed and what the camera
// said. It never holds a secret.
type Error struct {
	Step   Step
	Status int    // the camera's status code, 0 when it did not answer
	Reason string // the camera's words, made printable
	Kind   error  // one of the sentinels, or nil
	Err    error  // the cause, or nil

	// RetryAfter is how long the camera should be left alone at least: for
	// ErrSessionLimit the time in which it forgets a session. 0: no wish.
	RetryAfter time.Duration

	detail string       // overrides the usual hint
	post   *postRefusal // of a tunnel that was refused late, or nil
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Step))
	if e.Kind != nil {
		b.WriteString(": " + e.Kind.Error())
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
		if e.Reason != "" {
			b.WriteString(" " + e.Reason)
		}
	}
	if e.Err != nil && e.Err != e.Kind {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap lets errors.Is find the kind and the cause.
func (e *Error) Unwrap() []error {
	var out []error
	if e.Kind != nil {
		out = append(out, e.Kind)
	}
	if e.Err != nil && e.Err != e.Kind {
		out = append(out, e.Err)
	}
	return out
}

// Hint says to a person what to do, in a sentence without a full stop.
func (e *Error) Hint() string {
	if e.detail != "" {
		return e.detail
	}
	switch e.Kind {
	case ErrAuth:
		return "the camera refused the login: check user name and password"
	case ErrNotFound:
		return "the camera has no stream of this name: check the path of the URL"
	case ErrSessionLimit:
		return "the camera serves no more sessions: close other viewers of it, or wait until it forgets an old session"
	case ErrTransportRefused:
		return "the camera refused this transport: try another one"
	case ErrNoPackets:
		return "the camera accepted but sent nothing: a firewall may be in the way, or the transport is the wrong one"
	case ErrNoMedia:
		return "the camera answered but offers no stream: check the path of the URL and that the camera's encoder is on"
	case ErrBye:
		return "the camera ended the stream: it may be restarting"
	case ErrTimeout:
		if e.Step == StepConnect {
			return "nothing answers at this address: check host and port, and that the camera is on"
		}
		return "the camera stopped answering: check the network and the load of the camera"
	case ErrAddress:
		return "cameras may not be at this address: give the camera's own address"
	case ErrRedirect:
		return "the camera sends us elsewhere: give the URL that it should be pulled from"
	case ErrFraming, ErrTooLarge:
		return "the camera sends broken data: try another transport, or newer firmware"
	case ErrNotRTSP:
		return "what answers there does not speak RTSP: check the port, usually 554"
	case ErrClosed:
		return "the session was closed"
	}
	switch {
	case e.Step == StepConnect:
		return "no connection to the camera: check host and port, and that the camera is on"
	case e.Status >= 500:
		return "the camera reports a fault of its own: restart it if this stays"
	case e.Status != 0:
		return "the camera refused the request: check the URL"
	}
	return "the connection to the camera was lost"
}

// isRefusal reports whether an error is an answer of the camera.
func isRefusal(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status != 0
}

// fail names the step of an error, and its kind where the cause tells it.
func fail(ctx context.Context, step Step, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, ErrClosed) {
			return &Error{Step: step, Kind: ErrClosed}
		}
		if errors.As(cause, &e) {
			return cause
		}
		return &Error{Step: step, Err: cause}
	}
	for _, kind := range []error{ErrAuth, ErrNoPackets, ErrNoMedia, ErrBye, ErrTimeout, ErrAddress, ErrRedirect, ErrFraming, ErrNotRTSP, ErrTooLarge, ErrTransportRefused} {
		if errors.Is(err, kind) {
			return &Error{Step: step, Kind: kind, Err: err}
		}
	}
	var untrusted *certificateError
	if errors.As(err, &untrusted) {
		return &Error{Step: step, Kind: ErrCertificate, Err: untrusted.err, detail: untrusted.hint()}
	}
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()) {
		return &Error{Step: step, Kind: ErrTimeout}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Step: step, Err: errClosedByCamera}
	}
	return &Error{Step: step, Err: err}
}

var errClosedByCamera = fmt.Errorf("the camera closed the connection: %w", io.EOF)

// refusal makes an error of a reply that is not a success.
func refusal(step Step, reply *message, password string, sessionTimeout time.Duration) *Error {
	e := &Error{Step: step, Status: reply.status, Reason: printable(reply.reason, password)}
	switch reply.status {
	case 401, 403, 407, 470, 471:
		e.Kind = ErrAuth
	case 404, 410:
		e.Kind = ErrNotFound
	case 453, 503:
		e.Kind = ErrSessionLimit
		e.RetryAfter = max(sessionTimeout, reply.retryAfter())
	case 461:
		e.Kind = ErrTransportRefused
	case 408, 504:
		e.Kind = ErrTimeout
	}
	return e
}

// printable makes a camera's words fit for a log and a web page: short, on
// one line, and without the login, should the camera echo it.
func printable(words, password string) string {
	words = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(words, ""))
	if password != "" && strings.Contains(words, password) {
		return secret.Redacted
	}
	words = secret.RedactURL(words)
	const most = 120
	if len(words) > most {
		words = strings.ToValidUTF8(words[:most], "")
	}
	return words
}
