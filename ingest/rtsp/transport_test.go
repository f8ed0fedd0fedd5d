package rtsp

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// onlyByUDP is a camera that agrees to TCP and then sends nothing by it, and
// counts how often each transport was set up.
type onlyByUDP struct {
	udp *sendUDP
	t   testing.TB

	mu     sync.Mutex
	setups []string // the transports asked for, in order
}

func (c *onlyByUDP) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.setups)
}

func (c *onlyByUDP) talk(conn *rtsptest.ScriptConn) {
	udp := false
	for {
		request, err := conn.ReadRequest()
		if err != nil {
			return
		}
		switch request.Method {
		case "DESCRIBE":
			err = conn.Reply(request, h264SDP())
		case "SETUP":
			offer := request.Header("Transport")
			udp = !strings.Contains(offer, "TCP")
			c.mu.Lock()
			if udp {
				c.setups = append(c.setups, "udp")
			} else {
				c.setups = append(c.setups, "tcp")
			}
			c.mu.Unlock()
			if udp {
				err = c.udp.setup(conn, request)
			} else {
				err = conn.Reply(request, "", "Session: 77", "Transport: "+offer)
			}
		case "PLAY":
			err = conn.Reply(request, "", "Session: 77")
			if udp && err == nil {
				c.play(conn)
				return
			}
		default:
			err = conn.Reply(request, "", "Session: 77")
		}
		if err != nil {
			return
		}
	}
}

func (c *onlyByUDP) play(conn *rtsptest.ScriptConn) {
	var answering sync.WaitGroup
	defer answering.Wait()
	gone := make(chan struct{})
	answering.Go(func() {
		defer close(gone)
		conn.Answer()
	})
	f := newFeeder(c.t, "h264")
	tick := time.NewTicker(rtsptest.FrameDuration)
	defer tick.Stop()
	for {
		if c.udp.send(append(f.sets(), f.picture()...)...) != nil {
			return
		}
		select {
		case <-tick.C:
		case <-gone:
			return
		}
	}
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
	silent := &onlyByUDP{udp: listenUDP(t), t: t}
	impatient := &onlyByUDP{udp: listenUDP(t), t: t}
	only := map[string]camera.Transport{"refuses-udp": camera.TransportUDP, "tcp-refused-and-only": camera.TransportTCP}
	specs := specsOf(t, server, func(s *camera.SourceSpec) {
		s.Transport = only[s.URL[strings.LastIndexByte(s.URL, '/')+1:]]
	})
	r := pull(t, nil, append(specs, spec(t, "tcp-silent", "rtsp://"+rtsptest.Script(t, silent.talk)+"/x"))...)
	// Here the stream is given up by the watch before the conversation gives it up.
	hasty := pull(t, func(o *camera.Options) { o.StallTimeout = time.Second },
		spec(t, "tcp-silent", "rtsp://"+rtsptest.Script(t, impatient.talk)+"/x"))
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
		for _, asked := range [][]string{silent.asked(), impatient.asked()} {
			if asked[0] != "tcp" || asked[len(asked)-1] != "udp" || len(slices.Compact(asked)) != 2 {
				t.Errorf("asked for %v", asked)
			}
		}
	})
}
