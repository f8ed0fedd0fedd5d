package session

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
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

// refusal makes an error of a reply that is not a success. The URLs are the
// ones that were asked for, whose logins the camera may echo.
func refusal(step Step, reply *message, password string, sessionTimeout time.Duration, urls ...string) *Error {
	e := &Error{Step: step, Status: reply.status, Reason: printable(reply.reason, password, urls...)}
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
func printable(words, password string, urls ...string) string {
	words = onePrintableLine(words)
	words = maskSecrets(words, secretsOf(password, urls))
	words = secret.RedactURL(words)
	words = maskCredentials(words)
	const most = 120
	if len(words) > most {
		words = strings.ToValidUTF8(words[:most], "")
	}
	return words
}

func onePrintableLine(words string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' ' // kept as a border between words
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(words, ""))
}

// leastSecret is the length from which a secret is looked for: shorter ones are
// in every other word.
const leastSecret = 3

// secretsOf lists what must not be shown: the password, and the logins in the
// parameters of URLs, as they stand there and decoded.
func secretsOf(password string, urls []string) []string {
	found := []string{password}
	for _, url := range urls {
		for _, value := range secret.Hidden(url) {
			found = append(found, value, string(decoded(value, false).text), string(decoded(value, true).text))
		}
	}
	var out []string
	for _, text := range found {
		for _, form := range [...]string{text, onePrintableLine(text)} {
			if len(form) >= leastSecret {
				out = append(out, lowerASCII(form))
			}
		}
	}
	return out
}

// maskSecrets hides the secrets wherever they are, be it plain, percent-encoded
// in any way, or in base64. Bytes are marked first and replaced afterwards, so
// that secrets that overlap leave no rest.
func maskSecrets(words string, secrets []string) string {
	marked := make([]bool, len(words))
	for _, v := range [...]view{verbatim(words), decoded(words, false), decoded(words, true)} {
		text := lowerASCII(string(v.text))
		for _, s := range secrets {
			for from := 0; ; {
				i := strings.Index(text[from:], s)
				if i < 0 {
					break
				}
				i += from
				mark(marked, v.start[i], v.start[i+len(s)])
				from = i + 1
			}
		}
		// What is percent-encoded may be base64 inside, its "=" above all.
		eachRun(string(v.text), isBase64, func(from, to int) {
			if holdsSecret(string(v.text[from:to]), secrets) {
				mark(marked, v.start[from], v.start[to])
			}
		})
	}
	// Answers to digest challenges, with which passwords can be guessed.
	const shortestHash = 32
	eachRun(words, isHex, func(from, to int) {
		if to-from >= shortestHash {
			mark(marked, from, to)
		}
	})
	return replaceMarked(words, marked)
}

// holdsSecret reports whether base64 has a secret in it, wherever it begins.
func holdsSecret(run string, secrets []string) bool {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	for skip := range min(4, len(run)) {
		text := run[skip:]
		if len(text)%4 == 1 {
			text = text[:len(text)-1]
		}
		// Errors are about the last bits: what came before them counts.
		clear, _ := base64.RawStdEncoding.DecodeString(text)
		for _, s := range secrets {
			if strings.Contains(lowerASCII(string(clear)), s) {
				return true
			}
		}
	}
	return false
}

// maskCredentials hides what follows the marks of an Authorization header.
func maskCredentials(words string) string {
	for _, name := range [...]string{"basic ", "response=", "response%3d"} {
		i := strings.Index(lowerASCII(words), name)
		if i >= 0 && i+len(name) < len(words) {
			words = words[:i+len(name)] + secret.Redacted
		}
	}
	return words
}

// A view is a text as it reads when decoded, and where each of its bytes, and
// its end, is in the original.
type view struct {
	text  []byte
	start []int
}

func verbatim(text string) view {
	v := view{text: []byte(text)}
	for i := range len(text) + 1 {
		v.start = append(v.start, i)
	}
	return v
}

// decoded undoes percent-encoding where there is any: the rest may be words.
func decoded(text string, plusIsBlank bool) view {
	var v view
	for i := 0; i < len(text); {
		c, size := text[i], 1
		if c == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				c, size = byte(n), 3
			}
		} else if c == '+' && plusIsBlank {
			c = ' '
		}
		v.text, v.start = append(v.text, c), append(v.start, i)
		i += size
	}
	v.start = append(v.start, len(text))
	return v
}

func mark(marked []bool, from, to int) {
	for i := from; i < to; i++ {
		marked[i] = true
	}
}

func replaceMarked(words string, marked []bool) string {
	var b strings.Builder
	for i := range len(words) {
		switch {
		case !marked[i]:
			b.WriteByte(words[i])
		case i == 0 || !marked[i-1]:
			b.WriteString(secret.Redacted)
		}
	}
	return strings.ToValidUTF8(b.String(), "") // a secret may end within a character
}

// eachRun calls f with every longest piece of text that is made of some bytes.
func eachRun(text string, of func(byte) bool, f func(from, to int)) {
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && of(text[to]) {
			to++
		}
		if to > from {
			f(from, to)
		}
		from = to + 1
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("+/-_", c) >= 0
}

// lowerASCII keeps the length, which strings.ToLower does not.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
