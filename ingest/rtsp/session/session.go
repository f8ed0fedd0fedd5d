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
	"time"
)

// A Handler receives what Run reads. Its methods are called by one goroutine
// at a time, and must not call the session.
type Handler interface {
	// RTP hands over a packet, valid only during the call. It has a version
	// of 2 and a whole fixed header; nothing else was checked. Those of a
	// media come in order, over UDP as far as a short wait can bring them.
	RTP(media int, packet []byte, arrival time.Time)

	// RTCP hands over a compound packet, valid only during the call.
	RTCP(media int, packet []byte, arrival time.Time)

	// BatchEnd says that the packets of one read were handed over and
	// nothing more is buffered.
	BatchEnd()
}

// An Irregularity is what a network does to packets.
type Irregularity uint8

// The irregularities that a session tells.
const (
	Reordered     Irregularity = iota // came after a later one, and was put in order
	Late                              // came when it had been given up, and was not handed on
	Duplicate                         // had come before, and was not handed on
	KernelDropped                     // came to this machine, whose receive buffer was full
)

// A Watcher is a Handler that wants to know what happened to packets on their
// way. What is missing it sees by itself: the packets it is handed are in
// order. Only UDP has irregularities.
type Watcher interface {
	// Irregular is called as the methods of a Handler are.
	Irregular(media int, what Irregularity, packets int)
}

// A Session is a conversation with one camera. Its methods may be called from
// any goroutine; all but Medias, Stats and Close wait for each other.
type Session struct {
	options Options
	first   target // what the user asked for
	target  target // what was described, after redirects
	base    target // what controls are relative to
	control target // the whole session
	peer    netip.Addr
	medias  []Media

	httpLogins map[uint16]*login // by port, of a tunnel; owned by Open

	keep     string // the method of keepalives
	renewals int    // of the login, for the last keepalive

	turn     chan struct{} // holds one token: whoever took it has the conversation
	talk     *conversation
	channels [256]uint8 // interleaved channel to 1 + 2*track, + 1 for RTCP; 0 is none
	tracks   []*track   // in the order of Setup; written with delivery held
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
	window   window
	udp      *udpPair // nil over TCP
	channel  byte     // of RTCP over TCP
}

// Open connects to a camera, follows its redirects, logs in and asks for its
// description. The error is an *Error.
func Open(ctx context.Context, options Options) (*Session, error) {
	s := &Session{
		options: options.withDefaults(),
		turn:    make(chan struct{}, 1),
		ssrc:    rand.Uint32(),
	}
	switch s.options.Transport {
	case TCP, UDP, Multicast, Tunnel:
	default:
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
