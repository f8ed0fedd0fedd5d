package session

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// orderly is a Handler that checks the order of a media's packets, and a Watcher.
type orderly struct {
	mu      sync.Mutex
	handed  int
	missing int
	wrong   []uint16
	next    uint16
	told    [4]int
	changed chan struct{}
}

func newOrderly() *orderly { return &orderly{changed: make(chan struct{}, 1)} }

func (o *orderly) RTP(_ int, packet []byte, _ time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	number := binary.BigEndian.Uint16(packet[2:])
	if step := int16(number - o.next); o.handed > 0 && step < 0 {
		o.wrong = append(o.wrong, number)
	} else if o.handed > 0 {
		o.missing += int(step)
	}
	o.next = number + 1
	o.handed++
}

func (o *orderly) RTCP(int, []byte, time.Time) {}

func (o *orderly) BatchEnd() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

func (o *orderly) Irregular(_ int, what Irregularity, packets int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told[what] += packets
}

// until waits until what was seen is enough.
func (o *orderly) until(t *testing.T, enough func(o *orderly) bool) {
	t.Helper()
	for timeout := time.After(20 * time.Second); ; {
		o.mu.Lock()
		ok := enough(o)
		o.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-o.changed:
		case <-timeout:
			t.Fatalf("waited in vain; handed on %d, told %v", o.handed, o.told)
		}
	}
}

func TestWhatTheNetworkDoesToPacketsIsMendedAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		do     rtsptest.Action
		enough func(o *orderly) bool
		check  func(t *testing.T, s TrackStats, missing int)
	}{
		"reordered": {
			rtsptest.Shuffle(4), func(o *orderly) bool { return o.told[Reordered] >= 20 },
			func(t *testing.T, s TrackStats, missing int) {
				if s.Reordered < 20 || s.Lost != 0 || s.Late != 0 || s.Duplicates != 0 || missing != 0 {
					t.Errorf("%d missing, stats %+v", missing, s)
				}
			},
		},
		"twice": {
			rtsptest.Repeat(), func(o *orderly) bool { return o.told[Duplicate] >= 20 },
			func(t *testing.T, s TrackStats, missing int) {
				if s.Duplicates < 20 || s.Lost != 0 || s.Late != 0 || missing != 0 {
					t.Errorf("%d missing, stats %+v", missing, s)
				}
			},
		},
		"lost": {
			rtsptest.DropPercent(20), func(o *orderly) bool { return o.missing >= 20 },
			func(t *testing.T, s TrackStats, missing int) {
				if s.Lost != uint64(missing) || s.Reordered != 0 || s.Late != 0 || s.Duplicates != 0 {
					t.Errorf("%d missing, stats %+v", missing, s)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			camera := rtsptest.Start(t, rtsptest.CameraConfig{
				Path: "door", PacketSize: 400, Faults: []rtsptest.Fault{{After: 2 * rtsptest.FrameDuration, Do: c.do}},
			}).Camera("door")
			s := play(t, overUDP(camera))
			ctx, cancel := context.WithCancel(t.Context())
			heard, done := newOrderly(), make(chan error, 1)
			go func() { done <- s.Run(ctx, heard) }()
			heard.until(t, c.enough)
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run ended with %v", err)
			}
			if len(heard.wrong) > 0 {
				t.Errorf("out of order: %v", heard.wrong)
			}
			stats := s.Stats().Tracks[0]
			if stats.Received == 0 || stats.KernelDropped != 0 {
				t.Errorf("stats %+v", stats)
			}
			c.check(t, stats, heard.missing)
			want := [4]int{int(stats.Reordered), int(stats.Late), int(stats.Duplicates), 0}
			if heard.told != want {
				t.Errorf("told %v, counted %v", heard.told, want)
			}
		})
	}
}

// toClient returns a function that sends to the RTP port of a session's first media.
func toClient(t *testing.T, s *Session) func(packets ...string) {
	t.Helper()
	port := s.tracks[0].udp.rtp.LocalAddr().(*net.UDPAddr).Port
	conn, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return func(packets ...string) {
		t.Helper()
		for _, packet := range packets {
			if _, err := conn.Write([]byte(packet)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAMissingPacketIsGivenUpThoughNothingMoreComes(t *testing.T) {
	ports := make(chan string, 1)
	s := play(t, udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports))
	send := toClient(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := newOrderly(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	send(rtp('V', 1, ""), rtp('V', 3, ""))
	heard.until(t, func(o *orderly) bool { return o.handed == 2 })
	send(rtp('V', 2, ""), rtp('V', 4, ""), rtp('V', 4, "")) // without a wait from now on
	heard.until(t, func(o *orderly) bool { return o.handed == 3 && o.told[Duplicate] == 1 })
	cancel()
	<-done
	want := TrackStats{Received: 5, Lost: 1, Late: 1, Duplicates: 1}
	got := s.Stats().Tracks[0]
	got.ReceiveBufferBytes = 0
	if got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestPacketsThatWaitAreGivenBackAtTheEnd(t *testing.T) {
	ports := make(chan string, 1)
	s := play(t, udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports))
	send := toClient(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := newOrderly(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	send(rtp('V', 1, ""))
	heard.until(t, func(o *orderly) bool { return o.handed == 1 })
	send(rtp('V', 3, ""), "\x80\xc8\x00\x06bad report of another source") // in one batch or two
	heard.until(t, func(*orderly) bool {
		s.delivery.Lock()
		defer s.delivery.Unlock()
		return s.tracks[0].window.holding == 1
	})
	cancel()
	<-done
	if n := s.tracks[0].window.holding; n != 0 {
		t.Errorf("%d packets are held after the end", n)
	}
}

func TestReportsAreRightWithReordering(t *testing.T) {
	ports := make(chan string, 1)
	s := play(t, udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports))
	send := toClient(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := newOrderly(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	send(rtp('V', 10, ""), rtp('V', 12, ""), rtp('V', 11, ""), rtp('V', 13, ""), rtp('V', 15, ""))
	heard.until(t, func(o *orderly) bool { return o.handed == 5 })
	cancel()
	<-done
	report := s.tracks[0].receiver.appendReport(nil, 1, time.Now())
	if lost, highest := binary.BigEndian.Uint32(report[12:])&0xffffff, binary.BigEndian.Uint32(report[16:]); lost != 1 || highest != 15 {
		t.Errorf("the report says %d lost of %d", lost, highest)
	}
}

func TestTheReceiveBufferThatWasGrantedIsKnown(t *testing.T) {
	ports := make(chan string, 1)
	s := play(t, udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports))
	if got := s.Stats().Tracks[0].ReceiveBufferBytes; got < 100<<10 {
		t.Errorf("%d bytes, which is less than any system gives", got)
	}
}

func TestEveryDatagramOfABurstIsHandedOn(t *testing.T) {
	for name, buffers := range map[string]*Buffers{"one at a time": NewBuffers(1), "three": NewBuffers(3), "as usual": nil} {
		t.Run(name, func(t *testing.T) {
			ports := make(chan string, 1)
			options := udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports)
			options.Buffers = buffers
			s := play(t, options)
			send := toClient(t, s)
			var burst []string
			for i := range uint16(100) {
				burst = append(burst, rtp('V', i, strings.Repeat("x", 1000)))
			}
			send(burst...) // before anybody reads
			ctx, cancel := context.WithCancel(t.Context())
			heard, done := newOrderly(), make(chan error, 1)
			go func() { done <- s.Run(ctx, heard) }()
			heard.until(t, func(o *orderly) bool { return o.handed == 100 })
			cancel()
			<-done
			if heard.missing != 0 || len(heard.wrong) != 0 {
				t.Errorf("missing %d, out of order %v", heard.missing, heard.wrong)
			}
		})
	}
}

// explosive is a Handler that panics.
type explosive struct{ orderly }

func (*explosive) RTP(int, []byte, time.Time) { panic("what is sent is too odd") }

func TestAPanicOfAHandlerIsTheCallersOfRun(t *testing.T) {
	ports := make(chan string, 1)
	s := play(t, udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports))
	toClient(t, s)(rtp('V', 1, ""))
	defer func() {
		if value, ok := recover().(string); !ok || !strings.HasPrefix(value, "what is sent is too odd") || !strings.Contains(value, "transit_test.go") {
			t.Errorf("recovered %v", value)
		}
	}()
	t.Errorf("Run returned %v", s.Run(t.Context(), &explosive{}))
}

func TestPacketsThatComeFromElsewhereAreTheReasonThatNoneCame(t *testing.T) {
	ports := make(chan string, 1)
	options := udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports)
	options.FirstPacketTimeout = 200 * time.Millisecond
	s := play(t, options)
	conn, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 9)},
		&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: s.tracks[0].udp.rtp.LocalAddr().(*net.UDPAddr).Port})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(rtp('V', 1, ""))); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := s.Run(t.Context(), newOrderly()); !errors.As(err, &e) || e.Kind != ErrNoPackets || !strings.Contains(e.Hint(), "from another address") {
		t.Errorf("Run ended with %v", err)
	}
}
