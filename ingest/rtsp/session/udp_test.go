package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

func overUDP(camera *rtsptest.Camera) Options {
	return Options{URL: camera.URL(), Transport: UDP}
}

func TestUDPHandsOnPicturesAndSound(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true}).Camera("door")
	s := play(t, overUDP(camera))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard, done := newMediaCount(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	heard.wait(t, 0, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run ended with %v", err)
	}
	_ = s.Close()
	if seen := camera.Seen(); seen.Teardowns != 1 {
		t.Errorf("%d teardowns, want 1", seen.Teardowns)
	}
}

// mediaCount tells when packets of each media have come.
type mediaCount struct{ came [2]chan struct{} }

func newMediaCount() *mediaCount {
	return &mediaCount{[2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}}
}

func (c *mediaCount) RTP(media int, _ []byte, _ time.Time) {
	select {
	case c.came[media] <- struct{}{}:
	default:
	}
}
func (c *mediaCount) RTCP(int, []byte, time.Time) {}
func (c *mediaCount) BatchEnd()                   {}

func (c *mediaCount) wait(t *testing.T, medias ...int) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for _, m := range medias {
		for range 3 {
			select {
			case <-c.came[m]:
			case <-timeout:
				t.Fatalf("nothing came of media %d", m)
			}
		}
	}
}

func TestCaseUDPBlockedLossIsNoPackets(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", UDPLost: true}).Camera("door")
	options := overUDP(camera)
	options.ReadTimeout = 300 * time.Millisecond
	s := play(t, options)
	if err := s.Run(t.Context(), newMediaCount()); !errors.Is(err, ErrNoPackets) {
		t.Errorf("Run ended with %v, want ErrNoPackets", err)
	}
}

func TestUDPEndsWithByeAndWithTheConversation(t *testing.T) {
	for name, c := range map[string]struct {
		fault rtsptest.Action
		want  error
	}{
		"bye":   {rtsptest.Bye(), ErrBye},
		"close": {rtsptest.Close(), errClosedByCamera},
	} {
		t.Run(name, func(t *testing.T) {
			camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door"}).Camera("door")
			s := play(t, overUDP(camera))
			heard, done := newMediaCount(), make(chan error, 1)
			go func() { done <- s.Run(t.Context(), heard) }()
			heard.wait(t, 0)
			if err := camera.Do(c.fault); err != nil {
				t.Fatal(err)
			}
			if err := <-done; !errors.Is(err, c.want) {
				t.Errorf("Run ended with %v, want %v", err, c.want)
			}
		})
	}
}

func TestUDPThatIsRefusedIsSaid(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", Transport: rtsptest.TransportTCP}).Camera("door")
	s := open(t, overUDP(camera))
	if err := s.Setup(t.Context(), 0); !errors.Is(err, ErrTransportRefused) {
		t.Errorf("got %v, want ErrTransportRefused", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// udpCamera is a scripted camera that answers SETUP with a Transport, and
// then gets the client's ports.
func udpCamera(t *testing.T, transport string, ports chan<- string) Options {
	options := script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			if r.method == "SETUP" {
				p.reply(r, "200 OK", "", "Session: 1", "Transport: "+transport)
				_, port, _ := strings.Cut(r.header.Get("Transport"), "client_port=")
				ports <- port
				continue
			}
			p.usual(r, videoSDP)
		}
	})
	options.URL = "rtsp://127.0.0.1:8554/live"
	options.Transport = UDP
	return options
}

func TestDatagramsOfOthersAreNotHandedOn(t *testing.T) {
	ports := make(chan string, 1)
	s := play(t, udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports))
	port, _, _ := strings.Cut(<-ports, "-")
	send := func(from, payload string) {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}
		conn, err := d.Dial("udp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write([]byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := newRecord(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	send("127.0.0.2", rtp('V', 1, "stranger"))
	send("127.0.0.1", rtp('V', 2, strings.Repeat("x", 3000))) // too large for the first buffer
	send("127.0.0.1", rtp('V', 3, "friend"))
	heard.waitFor(t, 1)
	send("127.0.0.1", rtp('V', 4, strings.Repeat("y", 3000)))
	heard.waitFor(t, 2)
	cancel()
	<-done
	if got, want := heard.packets(), "0:friend 0:"+strings.Repeat("y", 3000); got != want {
		t.Errorf("packets %.40s, want %.40s", got, want)
	}
	if got := s.Stats(); got.Strangers != 1 || got.Truncated != 1 {
		t.Errorf("stats %+v", got)
	}
}

func TestPortsAreAnEvenOneAndTheNext(t *testing.T) {
	pair, err := openPair(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer pair.close()
	even, odd := pair.rtp.LocalAddr().(*net.UDPAddr), pair.rtcp.LocalAddr().(*net.UDPAddr)
	if even.Port%2 != 0 || odd.Port != even.Port+1 || !even.IP.IsLoopback() {
		t.Errorf("bound %v and %v", even, odd)
	}
}

func TestTheWayBackIsOpenedAndReportsAreSent(t *testing.T) {
	camera, err := openPair(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer camera.close()
	port := camera.rtp.LocalAddr().(*net.UDPAddr).Port
	ports := make(chan string, 1)
	// Whatever source the camera names, datagrams go to where it was dialled.
	s := play(t, udpCamera(t, fmt.Sprintf("RTP/AVP;unicast;source=127.0.0.9;server_port=%d", port), ports))
	_ = camera.rtp.SetReadDeadline(time.Now().Add(20 * time.Second))
	_ = camera.rtcp.SetReadDeadline(time.Now().Add(20 * time.Second))
	b := make([]byte, 100)
	if n, err := camera.rtp.Read(b); err != nil || n != 12 {
		t.Errorf("RTP port got %x, %v", b[:n], err)
	}
	if n, err := camera.rtcp.Read(b); err != nil || !isRTCPPacket(b[:n]) {
		t.Errorf("RTCP port got %x, %v", b[:n], err)
	}
	s.tracks[0].receiver.packet([]byte(rtp('V', 1, "")), time.Now())
	s.report(&chores{}, time.Now())
	for { // the second opening comes first
		n, err := camera.rtcp.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if n == 52 && string(b[8:12]) == "VVVV" {
			return
		}
	}
}
