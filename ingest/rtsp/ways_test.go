package rtsp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsp/session"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// These tests are about the ways that packets travel: which is chosen, what is
// said of it, and what comes of what a network does.

func TestAutoGoesOnToTheTunnelAndRemembersIt(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "tunnel-only", Transport: rtsptest.TransportTunnel, AAC: true},
		rtsptest.CameraConfig{Path: "tunnel-login", Transport: rtsptest.TransportTunnel, Auth: rtsptest.AuthDigest, User: "admin", Password: "p@s#/:?%^!\""},
		rtsptest.CameraConfig{Path: "tcp-too", Tunnel: true},
	)
	r := pull(t, nil, specsOf(t, server, func(s *camera.SourceSpec) {
		if strings.HasSuffix(s.URL, "tunnel-login") {
			withLogin("admin", "p@s#/:?%^!\"")(s)
		}
	})...)
	for _, id := range []string{"tunnel-only", "tunnel-login"} {
		s := r.untilLive(t, id)
		want := "tcp failed: setup: the camera refused the transport: status 461"
		if s.Transport != camera.TransportTunnel || !strings.HasPrefix(s.TransportReason, want) ||
			!strings.Contains(s.TransportReason, "; udp failed: setup: the camera refused the transport") {
			t.Errorf("%s: %s, because %s", id, s.Transport, s.TransportReason)
		}
	}
	camera1 := server.Camera("tunnel-only")
	setups := camera1.Seen().Setups()
	do(t, camera1, rtsptest.Close())
	s := r.untilStatus(t, "tunnel-only", "a second connection", func(s camera.SourceStatus) bool {
		return s.Reconnects == 1 && s.State == camera.StateLive
	})
	if s.Transport != camera.TransportTunnel || !strings.HasPrefix(s.TransportReason, "it worked before, when tcp failed: ") {
		t.Errorf("%s, because %s", s.Transport, s.TransportReason)
	}
	if got := camera1.Seen().Setups()[len(setups):]; len(got) != 2 || !strings.HasPrefix(got[0], "RTP/AVP/TCP") {
		t.Errorf("the second time it asked for %v, want the two tracks of the tunnel", got)
	}
	if s := r.untilLive(t, "tcp-too"); s.Transport != camera.TransportTCP || s.TransportReason != "tried first" {
		t.Errorf("%s, because %s", s.Transport, s.TransportReason)
	}
}

func TestEachTransportThatIsSetIsPulled(t *testing.T) {
	t.Parallel()
	certificate, fingerprint, err := rtsptest.SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	plain := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "tcp"},
		rtsptest.CameraConfig{Path: "udp"},
		rtsptest.CameraConfig{Path: "multicast", Transport: rtsptest.TransportMulticast},
		rtsptest.CameraConfig{Path: "tunnel", Tunnel: true},
	)
	secure := rtsptest.StartWith(t, rtsptest.Options{
		TLS:     &tls.Config{Certificates: []tls.Certificate{certificate}},
		Cameras: []rtsptest.CameraConfig{{Path: "tcp"}, {Path: "tunnel", Tunnel: true}},
	})
	specs := specsOf(t, plain, func(s *camera.SourceSpec) {
		s.Transport = camera.Transport(s.URL[strings.LastIndexByte(s.URL, '/')+1:])
	})
	pinned := camera.TLSSpec{Verify: camera.TLSVerifyPin, Fingerprint: fingerprint}
	for _, way := range []string{"tcp", "tunnel"} {
		specs = append(specs,
			spec(t, "pinned-"+way, secure.Camera(way).URL(), over(camera.Transport(way)), func(s *camera.SourceSpec) { s.TLS = pinned }),
			spec(t, "unchecked-"+way, secure.Camera(way).URL(), over(camera.Transport(way)), func(s *camera.SourceSpec) {
				s.TLS.Verify = camera.TLSVerifyNone
			}))
	}
	specs = append(specs,
		spec(t, "checked", secure.Camera("tcp").URL()),
		spec(t, "another-pin", secure.Camera("tcp").URL(), func(s *camera.SourceSpec) {
			s.TLS.Fingerprint = strings.Repeat("ab", 32)
		}))
	r := pull(t, nil, specs...)
	ref := loadReference(t, "h264")
	for _, spec := range specs[:8] {
		s := r.untilLive(t, spec.ID)
		if s.Transport != spec.Sources[0].Transport || s.TransportReason != "set for this source" {
			t.Errorf("%s: %s, because %s", spec.ID, s.Transport, s.TransportReason)
		}
		ref.follow(t, pictures(r.untilShots(t, spec.ID, "pictures", func(shots []shot) bool { return len(shots) > 10 })))
	}
	shown := strings.ToUpper(fingerprint[:2] + ":" + fingerprint[2:4] + ":")
	r.untilError(t, "checked", "pin its SHA-256 fingerprint "+shown)
	r.untilError(t, "another-pin", "the camera's certificate is not the pinned one")
}

func TestPicturesAreWholeThoughPacketsOvertakeEachOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do    rtsptest.Action
		check func(t *testing.T, r *rig, s camera.SourceStatus)
	}{
		"reordered": {rtsptest.Shuffle(5), func(t *testing.T, r *rig, s camera.SourceStatus) {
			r.untilStatus(t, "door", "reordered packets", func(s camera.SourceStatus) bool { return s.ReorderedPackets > 50 })
			if s.LostPackets != 0 {
				t.Errorf("%d packets are said to be lost", s.LostPackets)
			}
		}},
		"twice": {rtsptest.Repeat(), func(t *testing.T, r *rig, s camera.SourceStatus) {
			r.until(t, "door", "packets that came twice", func() bool { return r.discarded("door", "duplicate_packet") > 50 })
			if n := r.discarded("door", "late_packet"); n != 0 || s.LostPackets != 0 {
				t.Errorf("%d late, %d lost", n, s.LostPackets)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := rtsptest.Start(t, rtsptest.CameraConfig{
				Path: "door", PacketSize: 300, Faults: []rtsptest.Fault{{After: rtsptest.FrameDuration, Do: c.do}},
			})
			r := pull(t, nil, specsOf(t, server, over(camera.TransportUDP))...)
			ref := loadReference(t, "h264")
			seen := r.untilShots(t, "door", "pictures of two GOPs", func(shots []shot) bool { return len(shots) > rtsptest.GOPPictures })
			for _, s := range pictures(seen) {
				if s.lost != 0 {
					t.Errorf("frame %d is said to come after a loss", s.seq)
				}
			}
			ref.follow(t, pictures(seen))
			c.check(t, r, r.status(t, "door"))
		})
	}
}

// A doorkeeper answers RTSP as a web server does, and writes down what it is asked.
type doorkeeper struct {
	mu    sync.Mutex
	asked []string
}

func (d *doorkeeper) talk(conn *rtsptest.ScriptConn) {
	line, err := bufio.NewReader(conn.Net).ReadString('\n')
	if err != nil {
		return
	}
	method, _, _ := strings.Cut(line, " ")
	d.mu.Lock()
	d.asked = append(d.asked, method)
	d.mu.Unlock()
	_ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
}

func TestWhereOnlyHTTPAnswersTheTunnelIsNext(t *testing.T) {
	t.Parallel()
	d := &doorkeeper{}
	r := pull(t, nil, spec(t, "door", "rtsp://"+rtsptest.Script(t, d.talk)+"/x"))
	// That there is no tunnel either is not what it says.
	r.untilError(t, "door", "what answers there does not speak RTSP")
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.asked) < 2 || !slices.Equal(d.asked[:2], []string{"OPTIONS", "GET"}) {
		t.Errorf("asked %v, want OPTIONS and then GET", d.asked)
	}
}

func TestWhichErrorsLeadToAnotherTransport(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: fmt.Errorf("connect: %w", syscall.ECONNREFUSED)}
	for _, c := range []struct {
		name           string
		err            error
		other, unheard bool
	}{
		{"the transport is refused", &session.Error{Step: session.StepSetup, Kind: session.ErrTransportRefused, Status: 461}, true, false},
		{"nothing is sent", &session.Error{Step: session.StepRead, Kind: session.ErrNoPackets}, true, false},
		{"nothing listens", &session.Error{Step: session.StepConnect, Err: refused}, true, true},
		{"not RTSP", &session.Error{Step: session.StepOptions, Kind: session.ErrNotRTSP}, true, true},
		{"nobody answers", &session.Error{Step: session.StepConnect, Kind: session.ErrTimeout}, false, false},
		{"the login is refused", &session.Error{Step: session.StepDescribe, Kind: session.ErrAuth, Status: 401}, false, false},
		{"no such stream", &session.Error{Step: session.StepDescribe, Kind: session.ErrNotFound, Status: 404}, false, false},
		{"no more sessions", &session.Error{Step: session.StepSetup, Kind: session.ErrSessionLimit, Status: 453}, false, false},
		{"the certificate", &session.Error{Step: session.StepConnect, Kind: session.ErrCertificate}, false, false},
		{"the stream broke off", &session.Error{Step: session.StepRead, Err: errors.New("reset")}, false, false},
	} {
		if other, silent := leadsOn(c.err), unheard(c.err); other != c.other || silent != c.unheard {
			t.Errorf("%s: leads on %v, unheard %v", c.name, other, silent)
		}
	}
}

func TestWhatWorkedIsTriedFirst(t *testing.T) {
	nothing := &session.Error{Step: session.StepRead, Kind: session.ErrNoPackets}
	silent := &session.Error{Step: session.StepConnect, Kind: session.ErrTimeout}
	s := &source{spec: camera.SourceSpec{Transport: camera.TransportAuto}}
	order := func() string { return fmt.Sprint(s.transports()) }
	for _, step := range []struct {
		name           string
		do             func()
		order, because string
	}{
		{"at first", func() {}, "[tcp udp tunnel]", "tried first"},
		{"UDP worked", func() {
			s.learn(session.UDP, []attempt{{session.TCP, nothing}}, true, nil, nil)
		}, "[udp tunnel tcp]", "it worked before, when tcp failed: read: the camera accepted but sent nothing"},
		{"and broke off, before anything came", func() {
			s.learn(session.UDP, nil, false, nil, nothing)
		}, "[udp tunnel tcp]", "it worked before, when tcp failed: read: the camera accepted but sent nothing"},
		{"and was given up by those who watch", func() {
			s.learn(session.UDP, nil, false, camera.ErrStalled, nothing)
		}, "[tunnel tcp udp]", "it worked before, when udp failed: no access unit came for too long"},
		{"the tunnel's port is silent", func() {
			s.learn(session.Tunnel, nil, false, nil, silent)
		}, "[tcp udp tunnel]", "tried first"},
		{"TCP worked", func() { s.learn(session.TCP, nil, true, context.Canceled, nothing) }, "[tcp udp tunnel]", "it worked before"},
		{"and is off", func() { s.learn(session.TCP, nil, false, nil, silent) }, "[tcp udp tunnel]", "it worked before"},
	} {
		step.do()
		if got := order(); got != step.order {
			t.Errorf("%s: %s, want %s", step.name, got, step.order)
		}
		if got := s.reason(s.transports()[0], nil); got != step.because {
			t.Errorf("%s: because %s, want %s", step.name, got, step.because)
		}
	}
}
