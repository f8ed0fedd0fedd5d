package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// reportInterval is that of receiver reports (RFC 3550 6.2).
	reportInterval = 5 * time.Second

	// writeTimeout bounds a write from within Run, which would hold up the
	// reading. The send buffer is all but empty, so it is never waited for
	// unless the camera has stopped reading.
	writeTimeout = 2 * time.Second

	// maxResyncs in one reportInterval is more than a stream is worth.
	maxResyncs = 50
)

// Run reads until the context ends, the session is closed, or the stream
// does, and says why. It is called once, after Play. The error is an *Error
// and never nil.
func (s *Session) Run(ctx context.Context, h Handler) error {
	ctx, release, err := s.take(ctx, StepRead)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	var readers sync.WaitGroup
	defer func() {
		cancel(nil)
		readers.Wait()
		// Where a handler panics is where Run was called, whoever read the packet.
		var failed *readerPanic
		if errors.As(context.Cause(ctx), &failed) {
			panic(failed.Error())
		}
	}()
	s.delivery.Lock()
	s.lastRTP = time.Time{}
	s.delivery.Unlock()
	for _, t := range s.tracks {
		if t.udp != nil {
			s.startUDP(ctx, cancel, &readers, t, h)
		}
	}
	return s.withHint(fail(ctx, StepRead, s.read(ctx, h)))
}

// withHint adds what the counts tell about an error.
func (s *Session) withHint(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == ErrNoPackets && s.counters.strangers.Load() > 0 {
		e.detail = "the camera accepted, but what comes is from another address: a router in between may change addresses, so try tcp"
	}
	return err
}

// read is the loop over the conversation's connection. It is where
// interleaved packets arrive, and whose deadlines drive what is done in time.
func (s *Session) read(ctx context.Context, h Handler) error {
	undo := interrupt(ctx, s.talk.conn)
	defer undo()
	now := time.Now()
	chores := newChores(s, now)
	if err := s.replayEarly(h, now); err != nil {
		return err
	}
	if err := s.consume(h, now); err != nil {
		return err
	}
	deadline := time.Time{}
	for {
		if err := chores.do(now); err != nil {
			return err
		}
		// Setting a deadline costs more than reading a packet: it is only
		// moved when it has passed.
		if !deadline.Equal(chores.next) {
			deadline = chores.next
			if err := s.talk.conn.SetReadDeadline(deadline); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil { // the interruption may have come before
				return err
			}
		}
		n, err := s.talk.in.fill(s.talk.conn)
		now = time.Now()
		if n > 0 {
			if err := s.consume(h, now); err != nil {
				return err
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !isDeadline(err) {
				s.talk.broken = true
				return err
			}
			deadline = time.Time{} // it has passed, so it must be set again
		}
	}
}

// replayEarly hands on the frames that came before Run.
func (s *Session) replayEarly(h Handler, now time.Time) error {
	early := s.early
	s.early = nil
	if len(early) == 0 {
		return nil
	}
	s.delivery.Lock()
	defer s.delivery.Unlock()
	for len(early) > 0 {
		size := 4 + int(binary.BigEndian.Uint16(early[2:]))
		s.frame(h, early[1], early[4:size], now)
		early = early[size:]
	}
	h.BatchEnd()
	return s.overYet()
}

// consume hands on all that has been read in whole.
func (s *Session) consume(h Handler, now time.Time) error {
	s.delivery.Lock()
	defer s.delivery.Unlock()
	frames, ended := false, false
	var failed error
	for {
		found, err := s.talk.in.next()
		if err != nil {
			s.talk.broken = true
			failed = err
			break
		}
		if found.kind == itemNone {
			break
		}
		if found.kind == itemFrame {
			s.frame(h, found.channel, found.payload, now)
			frames = true
			continue
		}
		if s.message(found.message) {
			ended = true
		}
	}
	if frames {
		h.BatchEnd()
	}
	if failed != nil {
		return failed
	}
	if ended {
		return ErrBye
	}
	return s.overYet()
}

// frame hands on one interleaved frame.
func (s *Session) frame(h Handler, channel byte, payload []byte, now time.Time) {
	slot := s.channels[channel]
	if slot == 0 {
		s.counters.unknownChannel.Add(1)
		return
	}
	s.packet(h, s.tracks[(slot-1)/2], slot%2 == 0, payload, now)
}

// packet hands on one packet, whatever way it came. The caller holds the
// delivery.
func (s *Session) packet(h Handler, t *track, control bool, b []byte, now time.Time) {
	control = control || isMixedRTCP(b)
	switch {
	case control && isRTCPPacket(b):
		t.receiver.control(b, now)
		h.RTCP(t.media, b, now)
	case !control && isRTPPacket(b):
		t.receiver.packet(b, now)
		t.window.watch(b)
		s.lastRTP = now
		h.RTP(t.media, b, now)
	case len(b) > 0: // an empty packet is a keepalive
		s.counters.invalid.Add(1)
	}
}

// overYet returns ErrBye when the camera has said goodbye to the video, or to
// all there is. An audio that ends costs no video.
func (s *Session) overYet() error {
	known, ended := 0, 0
	for _, t := range s.tracks {
		if t.receiver.known {
			known++
		}
		if t.receiver.ended {
			if s.medias[t.media].Kind == "video" {
				return ErrBye
			}
			ended++
		}
	}
	if ended > 0 && ended == known {
		return ErrBye
	}
	return nil
}

// message takes a reply or request that came while reading, and reports
// whether it ends the stream.
func (s *Session) message(m *message) (end bool) {
	if m.method != "" {
		reply, end := s.talk.answer(m)
		s.post(reply)
		return end
	}
	n, numbered := m.cseq()
	if !numbered {
		n = s.talk.sequence
	}
	method, ours := s.talk.abandoned[n]
	delete(s.talk.abandoned, n)
	switch {
	case !ours || m.status < 200:
	case m.success():
		s.talk.login.accepted = s.talk.login.chosen != nil
	case m.status == 401:
		if s.renewals < maxRenewals && s.talk.login.renew(m, s.talk.login.chosen != nil) {
			s.renewals++
			s.keepalive()
		}
	case method == "GET_PARAMETER":
		s.keep = "OPTIONS" // from now on: the camera does not like the other
	}
	return false
}

// maxRenewals bounds how often one keepalive is sent again because its nonce
// was too old; there are servers that never find one fresh.
const maxRenewals = 2

// post writes from within Run. A camera that does not read what it is sent
// may well go on sending: what it has no room for is left out, and a failure
// only ends the writing.
func (s *Session) post(b []byte) {
	if s.talk.broken || len(b) == 0 {
		return
	}
	if err := s.talk.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return // closed, which reading will tell
	}
	if n, err := s.talk.conn.Write(b); err != nil && (n > 0 || !isDeadline(err)) {
		s.talk.broken = true // half of it may have gone out
	}
}

func (s *Session) keepalive() {
	if len(s.talk.abandoned) > 16 {
		clear(s.talk.abandoned) // a camera that never replies
	}
	s.post(s.talk.request(s.keep, s.control.String(), nil))
	s.talk.abandoned[s.talk.sequence] = s.keep
}

// chores are what Run does in time beside reading.
type chores struct {
	s         *Session
	began     time.Time
	keepalive time.Time
	report    time.Time
	next      time.Time // when do has something to do
	resyncs   uint64
	buffer    []byte
}

func newChores(s *Session, now time.Time) *chores {
	return &chores{
		s: s, began: now, next: now,
		keepalive: now.Add(s.keepaliveInterval()),
		report:    now.Add(reportInterval),
		resyncs:   s.talk.in.resyncs.Load(),
	}
}

// keepaliveInterval leaves room for one lost request within the lifetime of
// the camera's session.
func (s *Session) keepaliveInterval() time.Duration { return s.talk.lifetime * 6 / 10 }

// do does what is due.
func (c *chores) do(now time.Time) error {
	if now.Before(c.next) {
		return nil
	}
	silence, err := c.checkSilence(now)
	if err != nil {
		return err
	}
	if !now.Before(c.keepalive) {
		c.s.renewals = 0
		c.s.keepalive()
		c.keepalive = now.Add(c.s.keepaliveInterval())
	}
	if !now.Before(c.report) {
		c.s.report(c, now)
		c.report = now.Add(reportInterval)
		count := c.s.talk.in.resyncs.Load()
		if count-c.resyncs > maxResyncs {
			return fmt.Errorf("%w: %d times in %v", ErrFraming, count-c.resyncs, reportInterval)
		}
		c.resyncs = count
	}
	c.next = silence
	for _, t := range [...]time.Time{c.keepalive, c.report} {
		if t.Before(c.next) {
			c.next = t
		}
	}
	return nil
}

// checkSilence returns when the silence would be too long.
func (c *chores) checkSilence(now time.Time) (time.Time, error) {
	c.s.delivery.Lock()
	last := c.s.lastRTP
	c.s.delivery.Unlock()
	limit, kind := c.s.options.ReadTimeout, ErrTimeout
	if last.IsZero() {
		last, kind = c.began, ErrNoPackets
		limit = min(limit, c.s.options.FirstPacketTimeout)
	}
	if until := last.Add(limit); now.Before(until) {
		return until, nil
	}
	return time.Time{}, kind
}

// report sends a receiver report for each media.
func (s *Session) report(c *chores, now time.Time) {
	for _, t := range s.tracks {
		c.buffer = append(c.buffer[:0], '$', t.channel, 0, 0)
		s.delivery.Lock()
		c.buffer = t.receiver.appendReport(c.buffer, s.ssrc, now)
		s.delivery.Unlock()
		size := len(c.buffer) - 4
		switch {
		case size == 0:
		case t.udp != nil:
			t.udp.sendControl(c.buffer[4:])
		default:
			binary.BigEndian.PutUint16(c.buffer[2:], uint16(size))
			s.post(c.buffer)
		}
	}
}
