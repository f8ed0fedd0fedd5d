package rtsp

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// onlyByUDP is a camera that agrees to TCP and then sends nothing by it. It notes
// which transports were asked for, in order.
type onlyByUDP struct {
	peer
	rtp, rtcp *net.UDPConn
	to        *net.UDPAddr

	mu     sync.Mutex
	setups []string
}

func newOnlyByUDP(t *testing.T) *onlyByUDP {
	t.Helper()
	clip := loadClip(t, "h264")
	c := &onlyByUDP{peer: peer{sdp: h264SDP()}}
	for _, conn := range []**net.UDPConn{&c.rtp, &c.rtcp} {
		opened, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		*conn = opened
		t.Cleanup(func() { _ = opened.Close() })
	}
	c.answer = c.setup
	c.play = func(s *playing) {
		if len(s.channels) > 0 {
			return // by TCP
		}
		for f := newFeeder(clip); ; {
			for _, packet := range f.unit() {
				if _, err := c.rtp.WriteToUDP(packet, c.to); err != nil {
					return
				}
			}
			if !s.pause() {
				return
			}
		}
	}
	return c
}

func (c *onlyByUDP) setup(conn *rtsptest.ScriptConn, request *rtsptest.Request) (handled bool, err error) {
	if request.Method != "SETUP" {
		return false, nil
	}
	transport := "tcp"
	_, ports, udp := strings.Cut(request.Header("Transport"), "client_port=")
	if udp {
		transport = "udp"
	}
	c.mu.Lock()
	c.setups = append(c.setups, transport)
	c.mu.Unlock()
	if !udp {
		return false, nil
	}
	var port, control int
	if _, err := fmt.Sscanf(ports, "%d-%d", &port, &control); err != nil {
		return false, err
	}
	c.to = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
	return true, conn.Reply(request, "", "Session: 77", fmt.Sprintf("Transport: RTP/AVP;unicast;client_port=%d-%d;server_port=%d-%d",
		port, control, c.rtp.LocalAddr().(*net.UDPAddr).Port, c.rtcp.LocalAddr().(*net.UDPAddr).Port))
}

func (c *onlyByUDP) order() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.setups)
}

func TestAnotherTransportIsTriedWhereOneDoesNotWork(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "refuses-tcp", Transport: rtsptest.TransportUDP, AAC: true},
		rtsptest.CameraConfig{Path: "refuses-udp", Transport: rtsptest.TransportTCP},
		rtsptest.CameraConfig{Path: "udp-lost", Transport: rtsptest.TransportUDP, UDPLost: true},
		rtsptest.CameraConfig{Path: "udp-lost-but-tcp", UDPLost: true},
		rtsptest.CameraConfig{Path: "tcp-refused-and-only", Transport: rtsptest.TransportUDP},
	)
	silent, impatient := newOnlyByUDP(t), newOnlyByUDP(t)
	only := map[string]camera.Transport{"refuses-udp": camera.TransportUDP, "tcp-refused-and-only": camera.TransportTCP}
	specs := specsOf(t, server, func(s *camera.SourceSpec) {
		s.Transport = only[s.URL[strings.LastIndexByte(s.URL, '/')+1:]]
	})
	r := pull(t, nil, append(specs, spec(t, "tcp-silent", silent.start(t)))...)
	// Here the stream is given up by the watch before the conversation gives it up.
	hasty := pull(t, func(o *camera.Options) { o.StallTimeout = time.Second },
		spec(t, "tcp-silent", impatient.start(t)))
	ref := loadReference(t, "h264")

	t.Run("TCP is refused", func(t *testing.T) {
		s := r.untilLive(t, "refuses-tcp")
		if s.Transport != camera.TransportUDP || s.Reconnects != 0 {
			t.Errorf("status %+v", s)
		}
		// What worked is what is tried first from then on.
		do(t, server.Camera("refuses-tcp"), rtsptest.Close())
		r.untilShots(t, "refuses-tcp", "pictures of the second connection", inEpoch(2, 1))
		if seen := server.Camera("refuses-tcp").Seen(); seen.ConnsEver != 3 {
			t.Errorf("%d connections, want 3: TCP, UDP, UDP", seen.ConnsEver)
		}
	})
	t.Run("the only one wanted is refused", func(t *testing.T) {
		for _, id := range []string{"refuses-udp", "tcp-refused-and-only"} {
			s := r.untilError(t, id, "the camera refused this transport: try another one")
			if len(s.Tracks) != 0 || s.State == camera.StateLive {
				t.Errorf("%s: %+v", id, s)
			}
		}
	})
	t.Run("UDP brings nothing", func(t *testing.T) {
		r.untilError(t, "udp-lost", "the camera accepted but sent nothing: a firewall may be in the way")
		if s := r.untilLive(t, "udp-lost-but-tcp"); s.Transport != camera.TransportTCP || s.Reconnects != 0 {
			t.Errorf("status %+v", s)
		}
	})
	t.Run("TCP brings nothing", func(t *testing.T) {
		for _, rig := range []*rig{hasty, r} {
			s := rig.untilLive(t, "tcp-silent")
			if s.Transport != camera.TransportUDP {
				t.Errorf("status %+v", s)
			}
			ref.follow(t, pictures(rig.tape("tcp-silent").shots()))
		}
		// However often: TCP first, and never again once UDP has brought something.
		if asked := silent.order(); asked[0] != "tcp" || asked[len(asked)-1] != "udp" || len(slices.Compact(asked)) != 2 {
			t.Errorf("asked for %v", asked)
		}
		// The watch of a second may give UDP up as well, on a machine that is busy.
		if asked := impatient.order(); asked[0] != "tcp" || asked[len(asked)-1] != "udp" {
			t.Errorf("asked for %v", asked)
		}
	})
}
