package rtsp

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestACameraHasOneConnectionAndOneTeardown(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "tcp", AAC: true},
		rtsptest.CameraConfig{Path: "login", AAC: true, Auth: rtsptest.AuthDigest, User: "u", Password: "p"},
		rtsptest.CameraConfig{Path: "udp", AAC: true},
		rtsptest.CameraConfig{Path: "stalled"},
	)
	specs := specsOf(t, server)
	specs[1] = spec(t, "login", server.Camera("login").URL(), withLogin("u", "p"))
	specs[2] = spec(t, "udp", server.Camera("udp").URL(), over(camera.TransportUDP))
	r := pull(t, nil, specs...)
	for _, c := range server.Cameras() {
		r.untilShots(t, strings.TrimPrefix(c.URL(), "rtsp://"+server.Addr()+"/"), "pictures", inEpoch(1, 5))
		if strings.HasSuffix(c.URL(), "/stalled") {
			do(t, c, rtsptest.Stall())
		}
	}
	r.stop()
	for _, c := range server.Cameras() {
		seen := c.Seen()
		methods := seen.Methods()
		if seen.ConnsEver != 1 || seen.Plays != 1 || seen.Teardowns != 1 || !strings.HasSuffix(methods, " TEARDOWN") {
			t.Errorf("%s: %d connections, %d plays, %d teardowns: %s", c.URL(), seen.ConnsEver, seen.Plays, seen.Teardowns, methods)
		}
	}
}

// stopLimit is what a person waits for. It is far above the second that a last
// word to a camera may take, so that a busy machine does not fail the test.
const stopLimit = 2 * time.Second

func TestStoppingDoesNotWaitForACamera(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "deaf", AAC: true},
		rtsptest.CameraConfig{Path: "deaf-udp", AAC: true, Transport: rtsptest.TransportUDP},
		rtsptest.CameraConfig{Path: "deaf-stalled"},
		rtsptest.CameraConfig{Path: "no-answer", Answer: rtsptest.AnswerNever},
		rtsptest.CameraConfig{Path: "no-play", Status: map[string]int{"PLAY": rtsptest.NoAnswer}},
		rtsptest.CameraConfig{Path: "refused", Status: map[string]int{"DESCRIBE": 401}},
		rtsptest.CameraConfig{Path: "full", Status: map[string]int{"DESCRIBE": 453}},
	)
	var reached sync.Map // of the scripted cameras
	script := func(name string, talk func(conn *rtsptest.ScriptConn)) camera.Spec {
		return spec(t, name, "rtsp://"+rtsptest.Script(t, talk)+"/x", over(camera.TransportTCP))
	}
	note := func(name string) { reached.Store(name, true) }
	// slowly writes something again and again, and reads nothing, until the client
	// is gone.
	slowly := func(conn *rtsptest.ScriptConn, something string) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for conn.Write([]byte(something)) == nil {
			<-tick.C
		}
	}
	clip := newFeeder(loadClip(t, "h264"))
	specs := append(specsOf(t, server),
		spec(t, "nobody", "rtsp://192.0.2.1/x"), // reserved for documentation: nothing answers there
		script("drip", func(conn *rtsptest.ScriptConn) {
			if _, err := conn.ReadRequest(); err != nil {
				return
			}
			note("drip")
			if conn.Write([]byte("RTSP/1.0 200 OK\r\nX: ")) == nil {
				slowly(conn, "y")
			}
		}),
		script("reads-nothing", func(conn *rtsptest.ScriptConn) {
			if _, err := conn.Handshake(h264SDP()); err == nil {
				note("reads-nothing")
				slowly(conn, "$\x09\x00\x01x")
			}
		}),
		script("flood", func(conn *rtsptest.ScriptConn) {
			channels, err := conn.Handshake(h264SDP())
			if err != nil {
				return
			}
			note("flood")
			s := &playing{conn: conn, channels: channels}
			for s.send(clip.unit()...) {
			}
		}),
	)
	r := pull(t, nil, specs...)
	for _, id := range []string{"deaf", "deaf-udp", "deaf-stalled"} {
		r.untilLive(t, id)
		set(t, server.Camera(id), func(c *rtsptest.CameraConfig) { c.Answer = rtsptest.AnswerNever })
	}
	do(t, server.Camera("deaf-stalled"), rtsptest.Stall())
	for _, path := range []string{"no-answer", "no-play", "refused", "full"} {
		server.Camera(path).WaitUntil(t, "requests", func(seen rtsptest.Seen) bool {
			return len(seen.Requests) > 0 && (path != "no-play" || strings.HasSuffix(seen.Methods(), "PLAY"))
		})
	}
	for _, name := range []string{"drip", "reads-nothing", "flood"} {
		r.until(t, name, "its part of the conversation", func() bool { _, ok := reached.Load(name); return ok })
	}
	begun := time.Now()
	r.stop()
	if took := time.Since(begun); took > stopLimit {
		t.Errorf("stopping took %v", took)
	}
}

func TestRestartingACameraPartsWithItAndLeavesTheOthers(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t, rtsptest.CameraConfig{Path: "a"}, rtsptest.CameraConfig{Path: "b"})
	a, b := server.Camera("a"), server.Camera("b")
	r := pull(t, nil, specsOf(t, server)...)
	r.untilLive(t, "a")
	r.untilLive(t, "b")
	if err := r.registry.Restart(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	r.untilShots(t, "a", "pictures after the restart", inEpoch(2, 1))
	if seen := a.Seen(); seen.Teardowns != 1 || seen.ConnsEver != 2 {
		t.Errorf("restarted: %d teardowns, %d connections", seen.Teardowns, seen.ConnsEver)
	}
	if seen := b.Seen(); seen.Teardowns != 0 || seen.ConnsEver != 1 {
		t.Errorf("the other: %d teardowns, %d connections", seen.Teardowns, seen.ConnsEver)
	}
}
