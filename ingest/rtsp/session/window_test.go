package session

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A fakeSocket feeds a window as an inbox does, and writes down what it hands on.
type fakeSocket struct {
	window  window
	buffers *Buffers
	now     time.Time
	handed  []string
	told    [4]int
}

func newFakeSocket() *fakeSocket {
	f := &fakeSocket{buffers: NewBuffers(0), now: time.Unix(1000, 0)}
	f.window.buffers = f.buffers
	f.window.hand = func(packet []byte, _ time.Time) {
		f.handed = append(f.handed, fmt.Sprint(binary.BigEndian.Uint16(packet[2:])))
	}
	f.window.note = func(what Irregularity, packets int) { f.told[what] += packets }
	return f
}

func (f *fakeSocket) send(ssrc byte, number uint16) {
	p := f.buffers.slot(datagramBytes)
	p.n = copy(p.data, rtp(ssrc, number, "x"))
	if !f.window.take(p, f.now) {
		// Its memory is used again at once, as a batch's is.
		clear(p.data)
		f.buffers.release(p)
	}
}

// play sends packets by number. "+10" lets so many milliseconds pass, "other"
// makes the following ones those of another source.
func (f *fakeSocket) play(t *testing.T, script string) {
	t.Helper()
	ssrc := byte('V')
	for word := range strings.FieldsSeq(script) {
		var n int
		switch _, err := fmt.Sscan(strings.TrimPrefix(word, "+"), &n); {
		case word == "other":
			ssrc++
		case err != nil:
			t.Fatalf("script: %q", word)
		case word[0] == '+':
			f.now = f.now.Add(time.Duration(n) * time.Millisecond)
			f.window.expire(f.now)
		default:
			f.send(ssrc, uint16(n))
		}
	}
}

type transit struct{ received, lost, reordered, late, duplicates uint64 }

func (w *window) transit() transit {
	c := &w.counts
	return transit{c.received.Load(), c.lost.Load(), c.reordered.Load(), c.late.Load(), c.duplicates.Load()}
}

func numbers(from, to int) string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprint(i))
	}
	return strings.Join(list, " ")
}

func TestTheWindowPutsPacketsInOrder(t *testing.T) {
	for _, c := range []struct {
		name, script, handed string
		want                 transit
	}{
		{"in order", "10 11 12 13", "10 11 12 13", transit{received: 4}},
		{"two swapped", "10 12 11 13", "10 11 12 13", transit{received: 4, reordered: 1}},
		{"one overtaken by many", "10 12 13 14 15 11 16", "10 11 12 13 14 15 16", transit{received: 7, reordered: 1}},
		{"backwards", "10 14 13 12 11 15", "10 11 12 13 14 15", transit{received: 6, reordered: 3}},
		{"over the end of the numbers", "65534 0 65535 1", "65534 65535 0 1", transit{received: 4, reordered: 1}},
		{"twice", "10 11 11 10 12", "10 11 12", transit{received: 5, duplicates: 2}},
		{"twice while it waits", "10 12 12 11", "10 11 12", transit{received: 4, reordered: 1, duplicates: 1}},
		{"one lost holds up the others", "10 12 13", "10", transit{received: 3}},
		{"but not for long", "10 12 13 +59 14 +1 15", "10 12 13 14 15", transit{received: 5, lost: 1}},
		{"the wait of a second gap is its own", "10 12 +40 14 +20", "10 12", transit{received: 3, lost: 1}},
		{"and ends", "10 12 +40 14 +20 +40", "10 12 14", transit{received: 3, lost: 2}},
		{"the wait counts from the first that waits", "10 13 +40 12 +20 11", "10 12 13", transit{received: 4, lost: 1, reordered: 1, late: 1}},
		{"one that comes when it was given up", "10 12 +60 11 13", "10 12 13", transit{received: 4, lost: 1, late: 1}},
		{"and comes again", "10 12 +60 11 11 13", "10 12 13", transit{received: 5, lost: 1, late: 1, duplicates: 1}},
		{"from before the first", "10 9 11", "10 11", transit{received: 3, late: 1}},
		{"one lost of more than the window holds", "10 " + numbers(12, 75), "10 " + numbers(12, 75), transit{received: 65, lost: 1}},
		{"no more than the window holds wait", "10 " + numbers(12, 74), "10", transit{received: 64}},
		{"a gap wider than the window", "10 12 200 201", "10 12 200 201", transit{received: 4, lost: 188}},
		{"a packet on the far side of a gap", "10 200 12 201", "10 200 201", transit{received: 4, lost: 189, late: 1}},
		{"the last that fits", "10 74 11 +60", "10 11 74", transit{received: 3, lost: 62, reordered: 1}},
		{"begun anew", "10 11 30000 30001 30002", "10 11 30000 30001 30002", transit{received: 5}},
		{"begun anew while packets wait", "10 12 30000 30001", "10 12 30000 30001", transit{received: 4, lost: 1}},
		{"one freak number", "10 11 30000 12 13", "10 11 12 13", transit{received: 5, late: 1}},
		{"freaks all over", "10 30000 50000 20000 11", "10 11", transit{received: 5, late: 3}},
		{"begun anew a little lower", "1000 1001 500 501 502 503 504 505 506 507 508", "1000 1001 507 508", transit{received: 11, late: 7}},
		{"begun anew among what has come", numbers(10, 30) + " " + numbers(15, 24), numbers(10, 30) + " 22 23 24", transit{received: 31, duplicates: 7}},
		{"late ones between those in time", "1000 500 1001 501 1002 502 1003 503 1004 504 1005 505 1006 506 1007 507 1008 508", "1000 1001 1002 1003 1004 1005 1006 1007 1008", transit{received: 18, late: 9}},
		{"another source", "10 11 other 5 6", "10 11 5 6", transit{received: 4}},
		{"another source while packets wait", "10 12 other 5", "10 12 5", transit{received: 3, lost: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakeSocket()
			f.play(t, c.script)
			if got := strings.Join(f.handed, " "); got != c.handed {
				t.Errorf("handed on %s, want %s", got, c.handed)
			}
			if got := f.window.transit(); got != c.want {
				t.Errorf("counted %+v, want %+v", got, c.want)
			}
			if want := [4]int{int(c.want.reordered), int(c.want.late), int(c.want.duplicates), 0}; f.told != want {
				t.Errorf("told %v, want %v", f.told, want)
			}
			f.window.close()
			if f.window.holding != 0 || f.window.stray.slot != nil {
				t.Error("packets are left")
			}
		})
	}
}

func TestATransportThatKeepsOrderIsCountedOnly(t *testing.T) {
	for _, c := range []struct {
		name    string
		numbers []uint16
		want    transit
	}{
		{"in order", []uint16{10, 11, 12}, transit{received: 3}},
		{"over the end of the numbers", []uint16{65535, 0, 1}, transit{received: 3}},
		{"two lost", []uint16{10, 13, 14}, transit{received: 3, lost: 2}},
		{"one that comes all the same", []uint16{10, 12, 11, 13}, transit{received: 4, lost: 1, late: 1}},
		{"twice", []uint16{10, 11, 11}, transit{received: 3, duplicates: 1}},
		{"begun anew", []uint16{10, 40000, 40001}, transit{received: 3}},
		{"begun anew a little lower", []uint16{1000, 500, 501, 502, 503, 504, 505, 506, 507, 508}, transit{received: 10, late: 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w window
			for _, n := range c.numbers {
				w.watch([]byte(rtp('V', n, "")))
			}
			if got := w.transit(); got != c.want {
				t.Errorf("counted %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestPacketsInOrderAreHandedOnWithoutAllocation(t *testing.T) {
	f := newFakeSocket()
	f.window.hand = func([]byte, time.Time) {}
	p := f.buffers.slot(datagramBytes)
	p.n = copy(p.data, rtp('V', 0, "x"))
	number := uint16(0)
	if n := testing.AllocsPerRun(1000, func() {
		number++
		binary.BigEndian.PutUint16(p.data[2:], number)
		if f.window.take(p, f.now) {
			t.Fatal("a packet in order was kept")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzWindow holds the window to what every stream must keep: numbers that only
// grow between restarts, nothing handed on twice, and nothing lost sight of.
func FuzzWindow(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 0, 2, 0, 0, 1, 70, 0, 3})
	f.Add([]byte{0, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xfe, 61, 0, 2})
	f.Fuzz(func(t *testing.T, script []byte) {
		s := newFakeSocket()
		handed, sent := 0, 0
		inOrder := s.window.hand
		s.window.hand = func(packet []byte, arrival time.Time) {
			inOrder(packet, arrival)
			handed++
			if number := binary.BigEndian.Uint16(packet[2:]); number != s.window.next-1 {
				t.Errorf("handed on %d when %d was due", number, s.window.next-1)
			}
			if s.now.Sub(arrival) > windowWait+255*time.Millisecond {
				t.Errorf("a packet waited for %v", s.now.Sub(arrival))
			}
		}
		for ; len(script) >= 3; script = script[3:] {
			s.now = s.now.Add(time.Duration(script[0]) * time.Millisecond)
			until := s.window.expire(s.now)
			if until.IsZero() != (s.window.holding == 0) {
				t.Errorf("%d packets wait until %v", s.window.holding, until)
			}
			s.send('V', binary.BigEndian.Uint16(script[1:]))
			sent++
		}
		s.now = s.now.Add(windowWait)
		s.window.expire(s.now)
		s.window.dropStray()
		c := s.window.transit()
		if got := handed + int(c.late) + int(c.duplicates); got != sent || int(c.received) != sent {
			t.Errorf("%d sent, %d received, %d handed on, %+v", sent, c.received, handed, c)
		}
	})
}
