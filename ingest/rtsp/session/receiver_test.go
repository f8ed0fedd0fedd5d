package session

import (
	"encoding/binary"
	"testing"
	"time"
)

// sender makes packets of one source.
type sender struct {
	ssrc     uint32
	arrival  time.Time
	receiver *receiver
}

func (s sender) send(sequences ...uint16) {
	for _, sequence := range sequences {
		b := []byte(rtp(0, sequence, ""))
		binary.BigEndian.PutUint32(b[8:], s.ssrc)
		s.receiver.packet(b, s.arrival.Add(time.Duration(sequence)*40*time.Millisecond))
	}
}

func newSender() sender {
	return sender{ssrc: 7, arrival: time.Unix(1000, 0), receiver: &receiver{clockRate: 90000}}
}

// block is the report block of a report.
type block struct{ fraction, lost, highest, jitter, lsr, dlsr uint32 }

func (s sender) report(t *testing.T, at time.Time) block {
	t.Helper()
	b := s.receiver.appendReport([]byte("pre"), 99, at)
	if string(b[:3]) != "pre" || len(b) != 3+32+20 {
		t.Fatalf("a report of %d bytes: %x", len(b), b)
	}
	b = b[3:]
	if from, about := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:]); from != 99 || about != s.ssrc {
		t.Errorf("a report from %d about %d", from, about)
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[i:]) }
	return block{word(12) >> 24, word(12) & 0xffffff, word(16), word(20), word(24), word(28)}
}

func TestAReportSaysWhatWasReceived(t *testing.T) {
	for _, c := range []struct {
		name      string
		sequences []uint16
		want      block
	}{
		{"all", []uint16{10, 11, 12}, block{highest: 12}},
		{"one of four lost", []uint16{10, 11, 13}, block{fraction: 64, lost: 1, highest: 13}},
		{"reordered", []uint16{10, 12, 11, 13}, block{highest: 13}},
		{"twice", []uint16{10, 11, 11}, block{lost: 0xffffff, highest: 11}},
		{"one from before the first", []uint16{10, 9, 11, 12, 14}, block{highest: 14}},
		{"over the end of the numbers", []uint16{65534, 65535, 0, 1}, block{highest: 1<<16 | 1}},
		{"begun anew", []uint16{40000, 40001, 10000, 10001}, block{highest: 1<<16 | 10001}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSender()
			s.send(c.sequences...)
			got := s.report(t, s.arrival)
			got.jitter = 0 // time in these cases is of the sequence number
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAReportIsAboutTheTimeSinceTheLast(t *testing.T) {
	s := newSender()
	s.send(1, 3)
	if got := s.report(t, s.arrival); got.fraction != 85 || got.lost != 1 {
		t.Errorf("first %+v", got)
	}
	s.send(4, 5)
	if got := s.report(t, s.arrival); got.fraction != 0 || got.lost != 1 {
		t.Errorf("second %+v", got)
	}
}

func TestNothingIsReportedOfASourceThatIsNotKnown(t *testing.T) {
	s := newSender()
	if got := s.receiver.appendReport(nil, 99, s.arrival); len(got) != 0 {
		t.Errorf("reported %x", got)
	}
}

func TestAnotherSourceIsCountedAnew(t *testing.T) {
	s := newSender()
	s.send(1, 100)
	s.ssrc = 8
	s.send(5000, 5001)
	if got := s.report(t, s.arrival); got.lost != 0 || got.highest != 5001 {
		t.Errorf("got %+v", got)
	}
}

func TestJitterIsThatOfRFC3550(t *testing.T) {
	s := newSender()
	s.send(1, 2, 3, 4)
	if got := s.report(t, s.arrival); got.jitter != 0 {
		t.Errorf("jitter of a regular stream is %d", got.jitter)
	}
	s.arrival = s.arrival.Add(16 * time.Millisecond) // 1440 ticks late, of which a 16th counts
	s.send(5)
	if got := s.report(t, s.arrival); got.jitter != 1440/16 {
		t.Errorf("jitter %d, want %d", got.jitter, 1440/16)
	}
	s.arrival = s.arrival.Add(time.Hour) // a jump is no jitter
	s.send(6)
	if got := s.report(t, s.arrival); got.jitter != 1440/16 {
		t.Errorf("jitter %d after a jump", got.jitter)
	}
}

func TestAReportAnswersTheLastSenderReport(t *testing.T) {
	s := newSender()
	s.send(1)
	report := make([]byte, 28)
	copy(report, []byte{0x80, rtcpSenderReport, 0, 6, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8})
	s.receiver.control(report, s.arrival)
	if got := s.report(t, s.arrival.Add(1500*time.Millisecond)); got.lsr != 0x03040506 || got.dlsr != 0x18000 {
		t.Errorf("got %x, %x", got.lsr, got.dlsr)
	}
}

func TestByeIsFoundInACompoundPacket(t *testing.T) {
	source := "\x81\xca\x00\x02\x00\x00\x00\x07\x00\x00\x00\x00"
	for name, c := range map[string]struct {
		in   string
		want bool
	}{
		"alone":               {"\x81\xcb\x00\x01\x00\x00\x00\x07", true},
		"behind another":      {source + "\x81\xcb\x00\x01\x00\x00\x00\x07", true},
		"as the second of it": {"\x82\xcb\x00\x02\x00\x00\x00\x01\x00\x00\x00\x07", true},
		"of another":          {"\x81\xcb\x00\x01\x00\x00\x00\x08", false},
		"of none":             {"\x80\xcb\x00\x00", false},
		"cut short":           {"\x81\xcb\x00\x02\x00\x00\x00\x07", false},
		"not as many":         {"\x9f\xcb\x00\x01\x00\x00\x00\x09", false},
	} {
		s := newSender()
		s.send(1)
		s.receiver.control([]byte(c.in), s.arrival)
		if s.receiver.ended != c.want {
			t.Errorf("%s: ended is %v", name, s.receiver.ended)
		}
	}
}

func FuzzReceiver(f *testing.F) {
	f.Add([]byte(rtp('V', 1, "x")), []byte(bye('V')), int64(time.Second))
	f.Add([]byte(rtp('V', 65535, "x")), []byte("\x80\xc8\x00\x06aaaabbbbccccddddeeeeffff"), int64(-time.Hour))
	f.Fuzz(func(t *testing.T, packet, control []byte, later int64) {
		r := receiver{clockRate: 90000}
		now := time.Unix(1000, 0)
		for range 2 {
			if isRTPPacket(packet) {
				r.packet(packet, now)
			}
			if isRTCPPacket(control) {
				r.control(control, now)
			}
			if got := len(r.appendReport(nil, 1, now)); got != 0 && got != 52 {
				t.Errorf("a report of %d bytes", got)
			}
			now = now.Add(time.Duration(later))
			if len(packet) > 4 {
				packet[2], packet[3] = packet[3], packet[2]
			}
		}
	})
}
