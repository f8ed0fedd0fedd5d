package session

import (
	"encoding/binary"
	"sync/atomic"
	"time"
)

const (
	// windowPackets is how far a packet may be ahead of a missing one and
	// still wait for it: 64 packets are a third of a second at 2 Mbit/s, and
	// 35 ms at 20 Mbit/s.
	windowPackets = 64

	// windowWait is how long one waits at most. Reordering on a network is a
	// matter of a few milliseconds, with Wi-Fi's repetitions of tens.
	windowWait = 60 * time.Millisecond

	// maxStep is how far sequence numbers may be apart and still be of one
	// stream (RFC 3550 A.1: MAX_DROPOUT).
	maxStep = 3000

	// maxLate is how many packets in a row, each the next of the one before, may come
	// too late before they are taken for a stream that began anew a little lower: what
	// a network delays is a few.
	maxLate = 8
)

// transitCounts count what happened to the packets of a media on their way.
// They are written by the holder of the session's delivery.
type transitCounts struct {
	received, lost, reordered, late, duplicates, kernelDropped atomic.Uint64
}

// A window watches the sequence numbers of one media, and puts packets that
// overtook others back into order. As long as they come in order it hands
// each on at once and keeps nothing. It belongs to the holder of the session's
// delivery.
type window struct {
	buffers *Buffers // nil where packets keep their order, and nothing is held
	hand    func(packet []byte, arrival time.Time)
	note    func(what Irregularity, packets int)
	counts  transitCounts

	begun   bool
	ssrc    uint32
	next    uint16     // the number that is due
	highest uint16     // that came
	came    [64]uint64 // which of the last 4096 came, by number modulo that

	held     [windowPackets]heldPacket // by number, modulo their count
	holding  int
	since    time.Time  // since when the one that is due is missing
	stray    heldPacket // whose number is far from all others
	strayNum uint16
	late     int    // packets in a row that came too late, each the next of the one before
	lateNext uint16 // the next of those
}

type heldPacket struct {
	slot    *slot
	arrival time.Time
}

// take takes a packet in its slot, hands on what is now in order, and reports
// whether it keeps the slot.
func (w *window) take(p *slot, arrival time.Time) (kept bool) {
	w.counts.received.Add(1)
	number, ssrc := binary.BigEndian.Uint16(p.data[2:]), binary.BigEndian.Uint32(p.data[8:])
	if !w.begun || ssrc != w.ssrc {
		w.flush()
		w.begin(number, ssrc)
	}
	ahead := int(int16(number - w.next))
	if ahead > maxStep || ahead < -maxStep {
		if !w.follows(number) {
			w.dropStray()
			w.stray, w.strayNum = heldPacket{p, arrival}, number
			return true
		}
		ahead = int(int16(number - w.next))
	}
	w.dropStray()
	anew := ahead < 0 && w.beginsAnew(number)
	switch {
	case ahead < 0 && !anew && w.has(number), ahead >= 0 && ahead < windowPackets && w.held[number%windowPackets].slot != nil:
		w.counts.duplicates.Add(1)
		w.note(Duplicate, 1)
		return false
	case ahead < 0 && !anew:
		w.mark(number, true)
		w.countLate()
		return false
	case anew:
		w.flush()
		w.begin(number, ssrc)
	case ahead >= windowPackets:
		w.makeRoom(number)
	}
	w.late = 0
	if int16(number-w.highest) < 0 {
		w.counts.reordered.Add(1)
		w.note(Reordered, 1)
	} else {
		w.highest = number
	}
	if number == w.next {
		w.pass(p.bytes(), arrival)
		w.handHeld()
		return false
	}
	if w.holding == 0 {
		w.since = arrival
	}
	w.held[number%windowPackets] = heldPacket{p, arrival}
	w.holding++
	return true
}

// watch counts a packet of a transport that keeps order, where what is not
// there will not come.
func (w *window) watch(packet []byte) {
	w.counts.received.Add(1)
	number, ssrc := binary.BigEndian.Uint16(packet[2:]), binary.BigEndian.Uint32(packet[8:])
	ahead := int(int16(number - w.next))
	anew := w.begun && ahead < 0 && w.beginsAnew(number)
	switch {
	case !w.begun || ssrc != w.ssrc, ahead > maxStep, ahead < -maxStep:
		w.begin(number, ssrc)
	case ahead < 0 && !anew && w.has(number):
		w.counts.duplicates.Add(1)
		return
	case ahead < 0 && !anew:
		w.counts.late.Add(1)
		w.mark(number, true)
		return
	case anew:
		w.begin(number, ssrc)
	}
	w.late = 0
	w.skipTo(number)
	w.mark(number, true)
	w.next = number + 1
}

// beginsAnew takes a packet that came too late or twice, and reports whether the camera counts
// anew from a number that is a little lower.
func (w *window) beginsAnew(number uint16) bool {
	if w.late++; number != w.lateNext {
		w.late = 1
	}
	w.lateNext = number + 1
	return w.late >= maxLate
}

// begin sets out from a number.
func (w *window) begin(number uint16, ssrc uint32) {
	w.begun, w.ssrc, w.next, w.highest = true, ssrc, number, number
	clear(w.came[:])
}

// follows reports whether a number that is far from the others follows the
// stray one before it. Then the camera has begun to count anew, and the window
// sets out from there: a single one is a freak (RFC 3550 A.1).
func (w *window) follows(number uint16) bool {
	if w.stray.slot == nil || number != w.strayNum+1 {
		return false
	}
	first := w.stray
	w.stray = heldPacket{}
	w.flush()
	w.begin(w.strayNum, w.ssrc)
	w.pass(first.slot.bytes(), first.arrival)
	w.buffers.release(first.slot)
	return true
}

func (w *window) dropStray() {
	if w.stray.slot != nil {
		w.buffers.release(w.stray.slot)
		w.stray = heldPacket{}
		w.countLate()
	}
}

func (w *window) countLate() {
	w.counts.late.Add(1)
	w.note(Late, 1)
}

// pass hands on the packet that is due.
func (w *window) pass(packet []byte, arrival time.Time) {
	w.mark(w.next, true)
	w.next++
	w.hand(packet, arrival)
}

// handHeld hands on what waited for the packets before it.
func (w *window) handHeld() {
	if w.holding == 0 {
		return
	}
	for {
		p := &w.held[w.next%windowPackets]
		if p.slot == nil {
			break
		}
		slot, arrival := p.slot, p.arrival
		*p = heldPacket{}
		w.holding--
		w.pass(slot.bytes(), arrival)
		w.buffers.release(slot)
	}
	w.since = time.Time{}
	if w.holding == 0 {
		return
	}
	for i := range w.held {
		if p := &w.held[i]; p.slot != nil && (w.since.IsZero() || p.arrival.Before(w.since)) {
			w.since = p.arrival
		}
	}
}

// giveUp waits no longer for what is missing before the first held packet.
func (w *window) giveUp() {
	to := w.next
	for w.held[to%windowPackets].slot == nil {
		to++
	}
	w.skipTo(to)
	w.handHeld()
}

// makeRoom gives up what is missing until a number is within the window.
func (w *window) makeRoom(number uint16) {
	for w.holding > 0 && number-w.next >= windowPackets {
		w.giveUp()
	}
	if number-w.next >= windowPackets {
		w.skipTo(number)
	}
}

// skipTo counts what is not there before a number as lost.
func (w *window) skipTo(number uint16) {
	for ; w.next != number; w.next++ {
		w.mark(w.next, false)
		w.counts.lost.Add(1)
	}
}

// flush hands on all that is held.
func (w *window) flush() {
	for w.holding > 0 {
		w.giveUp()
	}
	w.dropStray()
}

// expire gives up what has been missing for too long, and returns when there
// is more to give up; never is the zero time.
func (w *window) expire(now time.Time) time.Time {
	for w.holding > 0 {
		if until := w.since.Add(windowWait); now.Before(until) {
			return until
		}
		w.giveUp()
	}
	return time.Time{}
}

// close lets go of what is held.
func (w *window) close() {
	for i := range w.held {
		if p := w.held[i].slot; p != nil {
			w.buffers.release(p)
		}
	}
	if w.stray.slot != nil {
		w.buffers.release(w.stray.slot)
	}
	w.held, w.holding, w.stray = [windowPackets]heldPacket{}, 0, heldPacket{}
}

// mark remembers whether a packet came. Numbers share a bit with those that are
// further behind than maxStep, and nobody asks about.
func (w *window) mark(number uint16, came bool) {
	word := &w.came[number/64%64]
	if came {
		*word |= 1 << (number % 64)
	} else {
		*word &^= 1 << (number % 64)
	}
}

// has reports whether a packet behind the one that is due has come.
func (w *window) has(number uint16) bool {
	return w.came[number/64%64]&(1<<(number%64)) != 0
}
