package rtsp

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A feeder makes RTP packets of a clip's pictures, for cameras that are scripted:
// where one says what no simulated camera would say.
type feeder struct {
	clip     *rtsptest.Clip
	next     int // picture of the clip
	sequence uint16
	ticks    uint32 // RTP timestamp of the next picture
	size     int    // most bytes of a NAL unit in one packet
}

func newFeeder(t testing.TB, clip string) *feeder {
	t.Helper()
	return &feeder{clip: loadReference(t, clip).clip, sequence: 100, ticks: 1000, size: 1200}
}

// sets returns the packets of the clip's parameter sets.
func (f *feeder) sets() [][]byte {
	var packets [][]byte
	for _, set := range f.clip.Parameters {
		packets = append(packets, f.packet(false, set))
	}
	return packets
}

// picture returns the packets of the next picture, without parameter sets, and
// moves the time on.
func (f *feeder) picture() [][]byte {
	picture := f.clip.Pictures[f.next%len(f.clip.Pictures)]
	f.next++
	var packets [][]byte
	for i, nal := range picture.NALUs {
		packets = append(packets, f.nal(nal, i == len(picture.NALUs)-1)...)
	}
	f.ticks += 3600
	return packets
}

// nal returns the packets of a NAL unit of H.264: one, or fragments.
func (f *feeder) nal(nal []byte, last bool) [][]byte {
	if len(nal) <= f.size {
		return [][]byte{f.packet(last, nal)}
	}
	var packets [][]byte
	head := nal[0]
	for body, first := nal[1:], true; len(body) > 0; first = false {
		n := min(len(body), f.size)
		flags := head & 0x1f
		if first {
			flags |= 0x80
		}
		if n == len(body) {
			flags |= 0x40
		}
		packets = append(packets, f.packet(last && n == len(body), append([]byte{head&0xe0 | 28, flags}, body[:n]...)))
		body = body[n:]
	}
	return packets
}

func (f *feeder) packet(marker bool, payload []byte) []byte {
	f.sequence++
	return rtsptest.RTP(96, marker, f.sequence-1, f.ticks, 0x1234, payload)
}

// send sends packets as interleaved frames.
func send(conn *rtsptest.ScriptConn, channel byte, packets ...[]byte) error {
	for _, packet := range packets {
		if err := conn.Frame(channel, packet); err != nil {
			return err
		}
	}
	return nil
}

// run sends the parameter sets before each keyframe and picture after picture,
// until the client is gone. It answers what the client asks meanwhile.
func (f *feeder) run(conn *rtsptest.ScriptConn, channel byte) {
	var answering sync.WaitGroup
	gone := make(chan struct{})
	answering.Go(func() {
		defer close(gone)
		conn.Answer()
	})
	defer answering.Wait()
	f.runUntil(gone, conn, channel)
}

// runUntil is run without the answers.
func (f *feeder) runUntil(gone <-chan struct{}, conn *rtsptest.ScriptConn, channel byte) {
	tick := time.NewTicker(rtsptest.FrameDuration)
	defer tick.Stop()
	for {
		var packets [][]byte
		if f.clip.Pictures[f.next%len(f.clip.Pictures)].Keyframe {
			packets = f.sets()
		}
		if send(conn, channel, append(packets, f.picture()...)...) != nil {
			return
		}
		select {
		case <-tick.C:
		case <-gone:
			return
		}
	}
}

// h264SDP describes one H.264 track without parameter sets; the lines are added.
func h264SDP(lines ...string) string {
	return "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\n" +
		"m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:trackID=0\r\n" + join(lines)
}

func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\r\n") + "\r\n"
}

// sendUDP sends a peer's RTP by UDP, to the ports that a SETUP names.
type sendUDP struct {
	rtp, rtcp *net.UDPConn
	to        *net.UDPAddr
}

// listenUDP opens the camera's pair of ports; they are closed with the test.
func listenUDP(t testing.TB) *sendUDP {
	t.Helper()
	u := &sendUDP{}
	for _, conn := range []**net.UDPConn{&u.rtp, &u.rtcp} {
		opened, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		*conn = opened
		t.Cleanup(func() { _ = opened.Close() })
	}
	return u
}

// setup answers a SETUP that offers UDP.
func (u *sendUDP) setup(conn *rtsptest.ScriptConn, request *rtsptest.Request) error {
	_, ports, _ := strings.Cut(request.Header("Transport"), "client_port=")
	var port, control int
	if _, err := fmt.Sscanf(ports, "%d-%d", &port, &control); err != nil {
		return err
	}
	u.to = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
	return conn.Reply(request, "", "Session: 77", fmt.Sprintf("Transport: RTP/AVP;unicast;client_port=%d-%d;server_port=%d-%d",
		port, control, u.rtp.LocalAddr().(*net.UDPAddr).Port, u.rtcp.LocalAddr().(*net.UDPAddr).Port))
}

func (u *sendUDP) send(packets ...[]byte) error {
	for _, packet := range packets {
		if _, err := u.rtp.WriteToUDP(packet, u.to); err != nil {
			return err
		}
	}
	return nil
}

// sequenceOf reads an RTP packet's number.
func sequenceOf(packet []byte) uint16 { return binary.BigEndian.Uint16(packet[2:]) }
