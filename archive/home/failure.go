package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"
)

// Reason says why a request to the store failed. It is the label of a metric, and told
// in the API.
type Reason string

// The reasons of failures.
const (
	ReasonUnreachable Reason = "unreachable" // no connection, or it broke, or no answer came in time
	ReasonBusy        Reason = "busy"        // it asks to slow down
	ReasonBroken      Reason = "broken"      // it says that it has failed
	ReasonRefused     Reason = "refused"     // it does not let Drover do this
	ReasonNoBucket    Reason = "no_bucket"
	ReasonClock       Reason = "clock"    // this machine's clock and the store's are too far apart
	ReasonMismatch    Reason = "mismatch" // what arrived is not what was sent
	ReasonMissing     Reason = "missing"  // an object is not there
	ReasonRejected    Reason = "rejected" // any other answer that is no success
	ReasonLocal       Reason = "local"    // the disk, not the store
)

// A Failure is a request to the store that failed. What it says is made here, out of
// what the store is known to answer: never out of what it wrote, which nobody has
// looked at and which repeats parts of the request.
type Failure struct {
	Step   string
	Reason Reason
	Status int    // of HTTP; 0 without an answer
	Code   string // of S3, as far as it is one
	Skew   time.Duration
}

// Error implements error.
func (f *Failure) Error() string {
	text := fmt.Sprintf("%s: %s", f.Step, f.Reason.explain())
	switch {
	case f.Reason == ReasonClock && f.Skew != 0:
		text += fmt.Sprintf(" (by %s)", f.Skew.Abs().Round(time.Second))
	case f.Code != "":
		text += fmt.Sprintf(" (%d %s)", f.Status, f.Code)
	case f.Status != 0:
		text += fmt.Sprintf(" (%d)", f.Status)
	}
	return text
}

// plain reports whether the store said nothing but a status.
func (f *Failure) plain() bool { return f.Code == "" || f.Code == "Forbidden" }

// Is makes a missing object fs.ErrNotExist.
func (f *Failure) Is(target error) bool {
	return target == fs.ErrNotExist && f.Reason == ReasonMissing
}

func (r Reason) explain() string {
	switch r {
	case ReasonUnreachable:
		return "the store cannot be reached, or does not answer in time: look at archive.second_home.endpoint and at the network"
	case ReasonBusy:
		return "the store asks to slow down"
	case ReasonBroken:
		return "the store says that it has failed"
	case ReasonRefused:
		return "the store refuses: look at archive.second_home.access_key and secret_key, and at what they may do"
	case ReasonNoBucket:
		return "there is no such bucket: make it, or look at archive.second_home.bucket and region"
	case ReasonClock:
		return "this machine's clock and the store's are apart"
	case ReasonMismatch:
		return "what arrived is not what was sent"
	case ReasonMissing:
		return "it is not there"
	case ReasonLocal:
		return "a file cannot be read here"
	default:
		return "the store rejects the request"
	}
}

// general reports whether what failed would fail for every object.
func (r Reason) general() bool {
	switch r {
	case ReasonUnreachable, ReasonBusy, ReasonBroken, ReasonRefused, ReasonNoBucket, ReasonClock:
		return true
	default:
		return false
	}
}

// explain makes a Failure of what the client says; nil stays nil. An end by ctx is
// returned as it is.
func explain(ctx context.Context, step string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStalled) {
		return ctx.Err()
	}
	var known *Failure
	if errors.As(err, &known) {
		return known
	}
	f := &Failure{Step: step, Reason: ReasonUnreachable}
	var local *localError
	if errors.As(err, &local) {
		f.Reason = ReasonLocal
		return f
	}
	var answer *refusal
	if errors.As(err, &answer) {
		f.Status, f.Code = answer.status, answer.code
	}
	f.Reason = reasonOf(f.Status, f.Code, err)
	return f
}

// cleanCode keeps a code of S3, which is a word, and nothing else.
func cleanCode(code string) string {
	const most = 64
	if len(code) > most {
		return ""
	}
	for _, c := range []byte(code) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return ""
		}
	}
	return code
}

func reasonOf(status int, code string, err error) Reason {
	switch code {
	case "RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture":
		return ReasonClock
	case "NoSuchBucket", "PermanentRedirect", "AuthorizationHeaderMalformed", "InvalidBucketName":
		return ReasonNoBucket
	case "NoSuchKey", "NoSuchVersion", "PreconditionFailed":
		return ReasonMissing
	case "BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "InvalidDigest", "IncompleteBody":
		return ReasonMismatch
	case "SlowDown", "SlowDownWrite", "SlowDownRead", "ServiceUnavailable", "Throttling", "TooManyRequests", "RequestLimitExceeded":
		return ReasonBusy
	case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "AllAccessDisabled", "AccountProblem":
		return ReasonRefused
	case "RequestTimeout":
		return ReasonUnreachable
	}
	switch {
	case status == 401, status == 403:
		return ReasonRefused
	case status == 404 && code != "" && code != "NotFound":
		return ReasonRefused // who asks, for example, is not known
	case status == 404, status == 412:
		return ReasonMissing
	case status == 408:
		return ReasonUnreachable
	case status == 429, status == 503:
		return ReasonBusy
	case status >= 500:
		return ReasonBroken
	case status >= 300:
		return ReasonRejected
	}
	var network net.Error
	if errors.As(err, &network) || status == 0 {
		return ReasonUnreachable
	}
	return ReasonBroken // a success whose body is none
}

// ReasonOf returns why a request to the store failed; "" for other errors.
func ReasonOf(err error) Reason {
	var f *Failure
	if errors.As(err, &f) {
		return f.Reason
	}
	return ""
}

// A localError is one of the disk, seen by whoever reads what is sent.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }
