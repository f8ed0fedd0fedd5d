package rtsp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// Sixty cameras that take a connection and never say a word stand in line before
// ten good ones, and there are fewer places than that. The good ones are live
// before the first of the others has been given up.
func TestHealthyCamerasDoNotWaitForSixtyThatHang(t *testing.T) {
	t.Parallel()
	hung := &peer{answer: func(*rtsptest.ScriptConn, *rtsptest.Request) (bool, error) { return true, nil }}
	address := hung.start(t)
	clip := loadClip(t, "h264-small")
	healthy := &peer{sdp: h264SDP(), play: func(s *playing) { newFeeder(clip).stream(s) }}
	good := healthy.start(t)
	var specs []camera.Spec
	var waiting, live []string
	for i := range 60 {
		waiting = append(waiting, fmt.Sprintf("a-hung-%02d", i)) // those are connected in the order of their names
		specs = append(specs, spec(t, waiting[i], fmt.Sprintf("%s%d", address, i)))
	}
	for i := range 10 {
		live = append(live, fmt.Sprintf("b-healthy-%02d", i))
		specs = append(specs, spec(t, live[i], fmt.Sprintf("%s%d", good, i)))
	}
	r := pull(t, func(o *camera.Options) { o.Dials = camera.NewDialLimit(32) }, specs...)
	for _, id := range live {
		if s := r.untilLive(t, id); s.Reconnects != 0 {
			t.Errorf("%s: %+v", id, s)
		}
	}
	for _, id := range waiting {
		if slices.Contains(r.stateHistory(id), camera.StateBackoff) {
			t.Errorf("%s was given up before all healthy cameras were live", id)
		}
	}
	if n := healthy.connections(); n != len(live) {
		t.Errorf("%d connections to healthy cameras", n)
	}
}

// Of cameras that vanish together and come back together no one is left behind,
// and one that was not among them does not notice.
func TestCamerasThatVanishTogetherAllComeBack(t *testing.T) {
	t.Parallel()
	const cameras = 500
	var configs []rtsptest.CameraConfig
	for i := range cameras {
		configs = append(configs, rtsptest.CameraConfig{Path: fmt.Sprintf("c%03d", i), Clip: "h264-small", PacketSize: 60000})
	}
	server := rtsptest.Start(t, configs...)
	beside := rtsptest.Start(t, rtsptest.CameraConfig{Path: "healthy"})
	r := pull(t, nil, append(specsOf(t, server), specsOf(t, beside)...)...)
	all := func(n int) {
		t.Helper()
		for _, c := range configs {
			r.untilShots(t, c.Path, fmt.Sprintf("pictures of connection %d", n), inEpoch(n, 1))
		}
	}
	all(1)
	server.Down()
	for _, c := range configs {
		r.untilStatus(t, c.Path, "a refused connection", func(s camera.SourceStatus) bool {
			return s.State == camera.StateBackoff || s.State == camera.StateConnecting
		})
	}
	if err := server.Up(); err != nil {
		t.Fatal(err)
	}
	all(2)
	if s := r.status(t, "healthy"); s.Reconnects != 0 || s.State != camera.StateLive {
		t.Errorf("the healthy one: %+v", s)
	}
	begun := time.Now()
	r.stop()
	if took := time.Since(begun); took > 10*stopLimit {
		t.Errorf("stopping took %v", took)
	}
	for _, c := range server.Cameras() {
		if seen := c.Seen(); seen.Teardowns != 1 || seen.Plays != 2 {
			t.Errorf("%s: %d teardowns, %d plays", c.URL(), seen.Teardowns, seen.Plays)
		}
	}
}
