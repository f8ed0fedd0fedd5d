// Package session is the client's side of an RTSP conversation with one
// camera: it asks for a description, sets medias up, and then reads RTP and
// RTCP and hands them on without an allocation per packet.
//
// It is written for the cameras there are. What a camera says wrong about one
// media never costs another, and what is not needed is not read. It does not
// decide what to play or what to try next: that is its caller's.
package session

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A Handler receives what Run reads. Its methods are called by one goroutine
// at a time, and must not call the session.
type Handler interface {
	// RTP hands over a packet, valid only during the call. It has a version
	// of 2 and a whole fixed header; nothing else was checked.
	RTP(media int, packet []byte, arrival time.Time)

	// RTCP hands over a compound packet, valid only during the call.
	RTCP(media int, packet []byte, arrival time.Time)

	// BatchEnd says that the packets of one read were handed over and
	// nothing more is buffered.
	BatchEnd()
}

// A Session is a conversation with one camera. Its methods may be called from
// any goroutine; all but Medias, Stats and Close wait for each other.
type Session struct {
	options Options
	target  target // what was described, after redirects
	base    target // what controls are relative to
	control target // the whole session
	peer    netip.Addr
	medias  []Media

	keep     string // the method of keepalives
	renewals int    // of the login, for the last keepalive

	turn     chan struct{} // holds one token: whoever took it has the conversation
	talk     *conversation
	channels [256]uint8 // interleaved channel to 1 + 2*track, + 1 for RTCP; 0 is none
	tracks   []*track   // in the order of Setup
	early    []byte     // frames that came before Run, as on the wire
	ssrc     uint32     // ours, in reports

	// delivery serialises calls of the handler and guards what the tracks
	// count; readers of several sockets share it.
	delivery sync.Mutex
	lastRTP  time.Time

	closing   context.Context // done when Close was called
	close     context.CancelCauseFunc
	closeOnce sync.Once
	counters  counters
}

// A track is a media that was set up.
type track struct {
	media    int
	receiver receiver
	udp      *udpPair // nil over TCP
	channel  byte     // of RTCP over TCP
}

// counters count what was left out, by reason.
type counters struct {
	unknownChannel, invalid, strangers, earlyDropped, truncated atomic.Uint64
}

// Stats count what a session left out of what it received.
type Stats struct {
	GarbageBytes   uint64 // between frames
	Resyncs        uint64 // times that framing was lost and found
	UnknownChannel uint64 // frames for no media
	Invalid        uint64 // packets that are neither RTP nor RTCP
	Strangers      uint64 // datagrams from elsewhere
	EarlyDropped   uint64 // frames before Run that found no room
	Truncated      uint64 // datagrams larger than their buffer
}

// Stats returns the counts so far.
func (s *Session) Stats() Stats {
	return Stats{
		GarbageBytes:   s.talk.in.garbageBytes.Load(),
		Resyncs:        s.talk.in.resyncs.Load(),
		UnknownChannel: s.counters.unknownChannel.Load(),
		Invalid:        s.counters.invalid.Load(),
		Strangers:      s.counters.strangers.Load(),
		EarlyDropped:   s.counters.earlyDropped.Load(),
		Truncated:      s.counters.truncated.Load(),
	}
}

// Open connects to a camera, follows its redirects, logs in and asks for its
// description. The error is an *Error.
func Open(ctx context.Context, options Options) (*Session, error) {
	s := &Session{
		options: options.withDefaults(),
		turn:    make(chan struct{}, 1),
		ssrc:    rand.Uint32(),
	}
	if s.options.Transport != TCP && s.options.Transport != UDP {
		return nil, &Error{Step: StepConnect, Err: errors.New("no such transport")}
	}
	s.closing, s.close = context.WithCancelCause(context.Background())
	to, err := parseTarget(s.options.URL)
	if err != nil {
		s.close(ErrClosed)
		return nil, &Error{Step: StepConnect, Err: err, detail: err.Error()}
	}
	if err := s.open(ctx, to); err != nil {
		s.close(ErrClosed)
		return nil, err
	}
	s.turn <- struct{}{}
	return s, nil
}

// Medias returns what the camera offers, in the order of its description.
func (s *Session) Medias() []Media {
	out := make([]Media, len(s.medias))
	for i, m := range s.medias {
		out[i] = m.clone()
	}
	return out
}

// take waits for the turn and returns a context that also ends with Close.
func (s *Session) take(ctx context.Context, step Step) (context.Context, func(), error) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, nil, fail(ctx, step, ctx.Err())
	case <-s.closing.Done():
		return nil, nil, &Error{Step: step, Kind: ErrClosed}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.closing, func() { cancel(ErrClosed) })
	if s.closing.Err() != nil {
		cancel(ErrClosed)
	}
	return ctx, func() {
		stop()
		cancel(nil)
		s.turn <- struct{}{}
	}, nil
}

// teardownTimeout bounds the parting words.
const teardownTimeout = time.Second

// Close ends the session: it makes Run return, sends one TEARDOWN, waits
// briefly for the reply, so that the camera frees the slot, and closes the
// connection. Further calls do nothing. It must not be called by a Handler.
func (s *Session) Close() error {
	s.closeOnce.Do(func() {
		s.close(ErrClosed)
		<-s.turn // for good: nobody talks after this
		s.talk.early = nil
		s.early = nil
		if s.talk.sessionID != "" && !s.talk.broken {
			s.talk.timeout = min(s.talk.timeout, teardownTimeout)
			ctx, cancel := context.WithTimeout(context.Background(), teardownTimeout)
			defer cancel()
			if _, err := s.talk.do(ctx, "TEARDOWN", s.control.String()); err != nil {
				s.options.Logger.Debug("the camera did not answer the teardown", "err", err)
			}
		}
		_ = s.talk.conn.Close()
		for _, t := range s.tracks {
			if t.udp != nil {
				t.udp.close()
			}
		}
	})
	return nil
}
