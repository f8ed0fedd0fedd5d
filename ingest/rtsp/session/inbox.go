package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// An inbox reads the RTP socket of one track.
type inbox struct {
	s *Session
	t *track
	h Handler

	ctx      context.Context
	large    bool      // the camera's datagrams are larger than most
	dropped  uint32    // by the kernel, as it told last
	deadline time.Time // that the socket has now; zero for none
}

// startUDP reads the two sockets of a track until the context ends. The first
// end of a stream or failure of a socket cancels it.
func (s *Session) startUDP(ctx context.Context, cancel context.CancelCauseFunc, readers *sync.WaitGroup, t *track, h Handler) {
	in := &inbox{s: s, t: t, h: h, ctx: ctx}
	s.delivery.Lock()
	t.window.buffers = s.options.Buffers
	t.window.hand = func(packet []byte, arrival time.Time) { h.RTP(t.media, packet, arrival) }
	t.window.note = func(Irregularity, int) {}
	if watcher, ok := h.(Watcher); ok {
		t.window.note = func(what Irregularity, packets int) { watcher.Irregular(t.media, what, packets) }
	}
	s.delivery.Unlock()
	readers.Go(func() {
		defer catch(cancel)
		undo := interrupt(ctx, t.udp.rtp)
		defer undo()
		if err := in.read(); err != nil {
			cancel(fail(ctx, StepRead, err))
		}
	})
	readers.Go(func() {
		defer catch(cancel)
		undo := interrupt(ctx, t.udp.rtcp)
		defer undo()
		if err := s.readControl(ctx, t, h); err != nil {
			cancel(fail(ctx, StepRead, err))
		}
	})
}

// A readerPanic is the panic of a handler that a reader called.
type readerPanic struct {
	value any
	stack []byte
}

func (p *readerPanic) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// catch is deferred by a reader, whose goroutine a panic must not end: it would
// end the process.
func catch(cancel context.CancelCauseFunc) {
	if value := recover(); value != nil {
		cancel(&readerPanic{value: value, stack: debug.Stack()})
	}
}

// read hands on what comes until the context ends or the socket fails.
func (in *inbox) read() error {
	defer in.close()
	for {
		err := receive(in.t.udp.rtp, in.s.options.Buffers, &in.large, in.take)
		if in.ctx.Err() != nil {
			return in.ctx.Err()
		}
		if !isDeadline(err) {
			return err
		}
		in.deadline = time.Unix(1, 0) // whichever it was, it is long past
		if err := in.expire(time.Now()); err != nil {
			return err
		}
	}
}

// close lets go of the packets that wait for others.
func (in *inbox) close() {
	in.s.delivery.Lock()
	defer in.s.delivery.Unlock()
	in.t.window.close()
}

// take takes the first n datagrams of a batch.
func (in *inbox) take(b *batch, n int) error {
	now := time.Now()
	in.s.delivery.Lock()
	defer in.s.delivery.Unlock()
	for i := range n {
		switch {
		case !in.t.udp.accepts(b.from(i)):
			in.s.counters.strangers.Add(1)
		case b.truncated(i):
			in.s.counters.truncated.Add(1)
			in.large = true
		default:
			in.one(b, i, now)
		}
		if count, told := b.dropped(i); told && count != in.dropped {
			in.countDropped(count)
		}
	}
	return in.settle(now)
}

func (in *inbox) one(b *batch, i int, now time.Time) {
	p := b.slots[i]
	packet := p.bytes()
	if !isRTPPacket(packet) || isMixedRTCP(packet) {
		in.s.packet(in.h, in.t, false, packet, now)
		return
	}
	in.t.receiver.packet(packet, now)
	in.s.lastRTP = now
	if in.t.window.take(p, now) {
		b.refill(i)
	}
}

// countDropped counts what the kernel dropped since it told last. Its count
// wraps, as ours does.
func (in *inbox) countDropped(count uint32) {
	packets := count - in.dropped
	in.dropped = count
	in.t.window.counts.kernelDropped.Add(uint64(packets))
	in.t.window.note(KernelDropped, int(packets))
}

// expire hands on packets that have waited long enough for others.
func (in *inbox) expire(now time.Time) error {
	in.s.delivery.Lock()
	defer in.s.delivery.Unlock()
	return in.settle(now)
}

// settle ends the handing over, and has the socket wake us when a missing packet
// is given up. A deadline costs more than a packet: there is none while packets
// are in order. The caller holds the delivery.
func (in *inbox) settle(now time.Time) error {
	next := in.t.window.expire(now)
	in.h.BatchEnd()
	if !next.Equal(in.deadline) {
		in.deadline = next
		if err := in.t.udp.rtp.SetReadDeadline(next); err != nil {
			return err
		}
	}
	if err := in.ctx.Err(); err != nil { // the interruption may have come before the deadline
		return err
	}
	return in.s.overYet()
}
