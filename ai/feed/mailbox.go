package feed

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of what waits for one worker, over all its cameras.
const (
	maxMailboxBytes  = 64 << 20
	maxMailboxFrames = 16384
	maxStatuses      = 8192
)

// A Mailbox keeps what waits for one worker until it is taken: of each camera the newest
// frames that can be decoded. It is read by one goroutine.
type Mailbox struct {
	subscription *Subscription
	wake         chan struct{} // holds a token when there is something to take

	mu       sync.Mutex
	statuses []Status
	ready    queue[*Stream] // whose boxes hold something, each once, in turn
	frames   int            // in all boxes
	bytes    int
	ended    error
}

// OpenMailbox begins a subscription whose frames are taken from the mailbox. Errors are
// those of Open.
func (h *Hub) OpenMailbox(request Request) (*Mailbox, error) {
	m := &Mailbox{wake: make(chan struct{}, 1)}
	subscription, err := h.Open(request, (*mailSink)(m))
	if err != nil {
		return nil, err
	}
	m.subscription = subscription
	return m, nil
}

// Close ends the subscription and lets go of what waits.
func (m *Mailbox) Close() { m.subscription.Close() }

// Next returns what is next, and waits for it. The taker releases a frame. The error is
// that with which the subscription ended, or that of ctx.
func (m *Mailbox) Next(ctx context.Context) (Delivery, error) {
	for {
		m.mu.Lock()
		d, ok := m.pop()
		ended := m.ended
		m.mu.Unlock()
		switch {
		case ok:
			return d, nil
		case ended != nil:
			return Delivery{}, ended
		}
		select {
		case <-m.wake:
		case <-ctx.Done():
			return Delivery{}, ctx.Err()
		}
	}
}

// pop is called by the holder of mu, as is all below that has no lock of its own.
func (m *Mailbox) pop() (Delivery, bool) {
	if len(m.statuses) > 0 {
		status := m.statuses[0]
		m.statuses = m.statuses[1:]
		return Delivery{Status: status}, true
	}
	if m.ready.len() == 0 {
		return Delivery{}, false
	}
	s := *m.ready.at(0)
	if next := s.box.frames.at(0); s.box.tell(next.Config) {
		return Delivery{Config: next.Config}, true
	}
	m.ready.pop()
	f := m.unqueue(s)
	if s.box.frames.len() > 0 {
		m.ready.push(s)
	} else {
		s.box.listed = false
	}
	s.subscription.Sent(len(f.Payload()))
	return Delivery{Frame: f}, true
}

// unqueue takes the oldest frame out of a box.
func (m *Mailbox) unqueue(s *Stream) Frame {
	f := s.box.frames.pop()
	m.frames--
	m.bytes -= len(f.Payload())
	return f
}

func (m *Mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// box is a stream's part of a mailbox.
type box struct {
	frames       queue[Frame]
	told         []uint32 // number of the configuration that the worker has, by track
	missed       uint64   // since the newest frame in frames, or the last one taken
	needKeyframe bool
	listed       bool // in ready
}

// tell reports whether the worker is yet to be told of a configuration, and takes it for
// told.
func (b *box) tell(c *Config) bool {
	for c.Track.ID >= len(b.told) {
		b.told = append(b.told, 0)
	}
	if b.told[c.Track.ID] == c.Number {
		return false
	}
	b.told[c.Track.ID] = c.Number
	return true
}

// put adds a frame, in place of those that are too old.
func (m *Mailbox) put(s *Stream, f Frame) {
	b, request := &s.box, &s.subscription.request
	b.missed += f.Missed
	switch {
	case request.Keyframes && b.frames.len() > 0 && !request.Audio:
		m.drop(s, b.frames.len())
	case m.behind(s, f.Arrival):
		m.skip(s, &f)
	}
	if b.needKeyframe && !f.Entry || m.bytes+len(f.Payload()) > maxMailboxBytes || m.frames >= maxMailboxFrames {
		b.needKeyframe = true
		b.missed++
		s.subscription.Missed(1)
		f.Release()
		return
	}
	b.needKeyframe = false
	f.Missed, b.missed = b.missed, 0
	b.frames.push(f)
	m.frames++
	m.bytes += len(f.Payload())
	if !b.listed {
		b.listed = true
		m.ready.push(s)
	}
}

// behind reports whether a box holds what is too old, or the mailbox too much.
func (m *Mailbox) behind(s *Stream, now time.Time) bool {
	return s.box.frames.len() > 0 && (now.Sub(s.box.frames.at(0).Arrival) > s.subscription.request.MaxBehind ||
		m.bytes > maxMailboxBytes*3/4 || m.frames > maxMailboxFrames*3/4)
}

// skip lets go of what comes before the newest frame that decoding can begin with: that
// may be the next one, which is not in the box yet, or one that is still to come.
func (m *Mailbox) skip(s *Stream, next *Frame) {
	b := &s.box
	if next.Entry {
		m.drop(s, b.frames.len())
		return
	}
	for i := b.frames.len() - 1; i > 0; i-- {
		if b.frames.at(i).Entry {
			m.drop(s, i)
			return
		}
	}
	m.drop(s, b.frames.len())
	b.needKeyframe = true
}

// drop lets go of the oldest frames of a box. Whoever comes after them says how many
// they were.
func (m *Mailbox) drop(s *Stream, n int) {
	b := &s.box
	missed := uint64(0)
	for range n {
		f := m.unqueue(s)
		missed += 1 + f.Missed
		f.Release()
	}
	s.subscription.Missed(uint64(n))
	if b.frames.len() > 0 {
		b.frames.at(0).Missed += missed
		return
	}
	b.missed += missed
	if b.listed {
		b.listed = false
		m.ready.remove(func(other *Stream) bool { return other == s })
	}
}

// mailSink is how a subscription sees a mailbox.
type mailSink Mailbox

// Status implements Sink. Of one camera only the newest waits.
func (k *mailSink) Status(status Status) {
	m := (*Mailbox)(k)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statuses = slices.DeleteFunc(m.statuses, func(s Status) bool { return s.Camera == status.Camera })
	if len(m.statuses) < maxStatuses {
		m.statuses = append(m.statuses, status)
	}
	m.signal()
}

// Take implements Sink.
func (k *mailSink) Take(s *Stream, f Frame) {
	m := (*Mailbox)(k)
	m.mu.Lock()
	m.put(s, f)
	m.mu.Unlock()
	m.signal()
}

// Forget implements Sink.
func (k *mailSink) Forget(s *Stream) {
	m := (*Mailbox)(k)
	m.mu.Lock()
	defer m.mu.Unlock()
	for s.box.frames.len() > 0 {
		f := m.unqueue(s)
		f.Release()
	}
	if s.box.listed {
		s.box.listed = false
		m.ready.remove(func(other *Stream) bool { return other == s })
	}
}

// Finish implements Sink.
func (k *mailSink) Finish(err error) {
	m := (*Mailbox)(k)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = err
	m.signal()
}
