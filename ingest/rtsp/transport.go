package rtsp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsp/session"
)

// firstPacketTimeout is how long a camera may take to send the first packet when
// there is another transport to try. It is less than those bear who watch for
// streams that stand still.
const firstPacketTimeout = 8 * time.Second

// transports are those to try, in order.
func (s *source) transports() []session.Transport {
	if s.spec.Transport != camera.TransportAuto && s.spec.Transport != "" {
		return []session.Transport{session.Transport(s.spec.Transport)}
	}
	return from(s.first, session.TCP, session.UDP, session.Tunnel)
}

// from returns transports beginning with the one given, if it is among them.
func from(first session.Transport, all ...session.Transport) []session.Transport {
	i := max(slices.Index(all, first), 0)
	return slices.Concat(all[i:], all[:i])
}

// An attempt is a transport that brought nothing.
type attempt struct {
	transport session.Transport
	err       error
}

// Pull implements camera.Source.
func (s *source) Pull(ctx context.Context, feed *camera.Feed) error {
	var tried []attempt
	order := s.transports()
	for i, transport := range order {
		if len(tried) > 0 {
			last := tried[len(tried)-1]
			if unheard(last.err) && (transport != session.Tunnel && last.transport != session.Tunnel) {
				continue // it would begin with the conversation that failed
			}
			feed.Logger.Debug("trying another transport", "transport", string(transport), "err", last.err)
		}
		err := s.pull(ctx, feed, transport, tried, i+1 < len(order))
		if ctx.Err() != nil || !leadsOn(err) {
			return explain(telling(append(tried, attempt{transport, err})))
		}
		tried = append(tried, attempt{transport, err})
	}
	return explain(telling(tried))
}

// leadsOn reports whether an error lets another transport be tried.
func leadsOn(err error) bool {
	return errors.Is(err, session.ErrTransportRefused) || errors.Is(err, session.ErrNoPackets) || unheard(err)
}

// unheard reports whether somebody is there who does not speak RTSP. Where
// nobody is, as with a camera that is off, there is nothing else to try.
func unheard(err error) bool {
	return errors.Is(err, session.ErrNotRTSP) || errors.Is(err, syscall.ECONNREFUSED)
}

// telling returns the error to tell people. That there is no tunnel either is no
// news; most cameras have none.
func telling(tried []attempt) error {
	last := tried[len(tried)-1]
	var answer *session.Error
	if len(tried) > 1 && last.transport == session.Tunnel && errors.As(last.err, &answer) && answer.Step == session.StepConnect {
		return tried[len(tried)-2].err
	}
	return last.err
}

// reason says why a transport is chosen, for people.
func (s *source) reason(transport session.Transport, tried []attempt) string {
	switch {
	case len(s.transports()) == 1:
		return "set for this source"
	case len(tried) > 0:
		return failures(tried)
	case s.first != transport:
		return "tried first"
	case s.why == "":
		return "it worked before"
	}
	return "it worked before, when " + s.why
}

func failures(tried []attempt) string {
	var b strings.Builder
	for i, a := range tried {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(string(a.transport) + " failed: " + a.err.Error())
	}
	return b.String()
}

// learn takes over what a connection tells about transports.
func (s *source) learn(transport session.Transport, tried []attempt, received bool, cause, err error) {
	switch {
	case received:
		if len(tried) > 0 {
			s.why = failures(tried)
		} else if s.first != transport {
			s.why = ""
		}
		s.first = transport
	case errors.Is(cause, camera.ErrStalled):
		// Given up by those who watch, before the conversation itself noticed that
		// this transport brings nothing. Another is due all the same.
		order := s.transports()
		s.first = order[(slices.Index(order, transport)+1)%len(order)]
		s.why = failures([]attempt{{transport, cause}})
	case transport == session.Tunnel && atConnect(err):
		s.first, s.why = "", "" // for who keeps silent at HTTP may speak RTSP again
	}
}

func atConnect(err error) bool {
	var answer *session.Error
	return errors.As(err, &answer) && answer.Step == session.StepConnect
}
