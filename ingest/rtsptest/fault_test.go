package rtsptest

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checkTimes compares the steps between picture times with those wanted, in pictures.
func checkTimes(t *testing.T, times []uint32, want []int64) {
	t.Helper()
	for i := range want {
		if step := int64(int32(times[i+1] - times[i])); step != want[i]*ticksPerPicture {
			t.Errorf("step %d is %d ticks, want %d pictures; all times: %d", i, step, want[i], times)
			return
		}
	}
}

func TestTimestampFaultsHitWhatTheySay(t *testing.T) {
	t.Parallel()
	after := 2 * FrameDuration
	tests := []struct {
		path  string
		do    Action
		steps []int64
	}{
		{"none", Resume(), []int64{1, 1, 1, 1, 1}},
		{"jump", Jump(4 * time.Second), []int64{1, 101, 1, 1, 1}},
		{"back", Jump(-4 * time.Second), []int64{1, -99, 1, 1, 1}},
		{"outlier", Outlier(40 * time.Second), []int64{1, 1001, -999, 1, 1}},
		{"freeze", Freeze(3), []int64{1, 1, 0, 0, 3}},
	}
	var cameras []CameraConfig
	for _, test := range tests {
		cameras = append(cameras, CameraConfig{Path: test.path, Faults: []Fault{{After: after, Do: test.do}}})
	}
	server := Start(t, cameras...)
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			t.Parallel()
			c := play(t, server.Camera(test.path), 1)
			checkTimes(t, c.pictureTimes(6), test.steps)
		})
	}
}

func TestTimestampsCanBeginBeforeTheWrap(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", FirstTimestamp: 1<<32 - 2*ticksPerPicture, FirstSequence: 65535})
	c := play(t, server.Camera("door"), 1)
	first := c.video()
	if first.timestamp != 1<<32-2*ticksPerPicture || first.seq != 65535 {
		t.Errorf("first packet: timestamp %d, sequence number %d", first.timestamp, first.seq)
	}
	if second := c.video(); second.seq != 0 {
		t.Errorf("second packet has sequence number %d, want 0", second.seq)
	}
	times := c.pictureTimes(3)
	checkTimes(t, times, []int64{1, 1})
	if times[2] != 0 {
		t.Errorf("the third picture is at %d, want 0", times[2])
	}
}

func TestStalledCameraGoesOnWithReports(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", AAC: true, Reports: FrameDuration,
		Faults: []Fault{{After: 5 * FrameDuration, Once: true, Do: Stall()}}})
	camera := server.Camera("door")
	c := play(t, camera, 2)
	pictures, reports, stillReports := 0, 0, 0
	for stillReports < 20 {
		f, err := c.nextFrame()
		switch {
		case err != nil:
			t.Fatal(err)
		case f.channel == 0 && parseRTP(t, f.packet).marker:
			pictures++
			stillReports = 0
		case f.channel == 1 || f.channel == 3:
			if f.packet[1] != 200 {
				t.Fatalf("RTCP type %d, want a sender report", f.packet[1])
			}
			reports++
			stillReports++
		}
	}
	if pictures != 5 || reports < 20 {
		t.Errorf("%d pictures and %d reports, want 5 and at least 20", pictures, reports)
	}
	if err := camera.Do(Resume()); err != nil {
		t.Fatal(err)
	}
	c.pictureTimes(2)

	// The fault was for the first client only.
	second := play(t, camera, 1)
	second.pictureTimes(10)
}

func TestStalledVideoLeavesSoundAlone(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", PCMA: true, Faults: []Fault{{Do: StallVideo()}}})
	c := play(t, server.Camera("door"), 2)
	for sound := 0; sound < 10; {
		switch f, err := c.nextFrame(); {
		case err != nil:
			t.Fatal(err)
		case f.channel == 0:
			t.Fatal("a picture, of a camera that stalls")
		case f.channel == 2:
			sound++
		}
	}
}

func TestConnectionEndsAsToldTo(t *testing.T) {
	t.Parallel()
	server := Start(t,
		CameraConfig{Path: "close", Faults: []Fault{{Do: Close()}}},
		CameraConfig{Path: "reset", Faults: []Fault{{After: 3 * FrameDuration, Do: Reset()}}})
	c := play(t, server.Camera("close"), 1)
	if f, err := c.nextFrame(); !errors.Is(err, io.EOF) {
		t.Errorf("close right after PLAY: frame %v, error %v, want the end", f, err)
	}
	c = play(t, server.Camera("reset"), 1)
	c.pictureTimes(3)
	if _, err := c.nextFrame(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("reset: %v, want a connection reset", err)
	}
}

func TestByeEndsTheMediaAndNotTheConnection(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", Reports: -1, Faults: []Fault{{After: FrameDuration, Do: Bye()}}})
	c := play(t, server.Camera("door"), 1)
	c.pictureTimes(1)
	f, err := c.nextFrame()
	if err != nil || f.channel != 1 || f.packet[1] != 203 {
		t.Fatalf("after the picture: %+v, %v, want BYE", f, err)
	}
	if r := c.ask("GET_PARAMETER", c.url); r.status != 200 || len(c.frames) > 0 {
		t.Errorf("after BYE: %+v, %d frames", r, len(c.frames))
	}
}

func TestDroppedPacketLeavesAHoleInTheSequence(t *testing.T) {
	t.Parallel()
	// At 200 bytes a packet, a keyframe has tens of them.
	server := Start(t, CameraConfig{Path: "door", PacketSize: 200, Faults: []Fault{{Do: DropPacket(3)}}})
	c := play(t, server.Camera("door"), 1)
	first := c.video()
	for i := range uint16(20) {
		want := i + 1
		if want >= 3 {
			want++
		}
		if packet := c.video(); packet.seq-first.seq != want {
			t.Fatalf("packet %d after the first is number %d, want %d", i+1, packet.seq-first.seq, want)
		}
	}
}

func TestDropPercentLosesAboutThatMuch(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", PacketSize: 50, Faults: []Fault{{Do: DropPercent(30)}}})
	c := play(t, server.Camera("door"), 1)
	first, last := c.video().seq, uint16(0)
	const received = 2000
	for range received {
		last = c.video().seq
	}
	lost := int(last-first) - received
	// 857 on average, with a standard deviation of 35.
	if lost < 600 || lost > 1200 {
		t.Errorf("%d packets lost for %d received", lost, received)
	}
}

func TestInjectedBytesComeBetweenFrames(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", Reports: -1, Faults: []Fault{{After: FrameDuration, Do: Inject([]byte("garbage"))}}})
	c := play(t, server.Camera("door"), 1)
	c.pictureTimes(1)
	got := make([]byte, 8)
	if _, err := io.ReadFull(c.in, got); err != nil || string(got) != "garbage$" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestResolutionChangesAtAKeyframe(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", Faults: []Fault{{After: FrameDuration, Do: Change("h264-small")}}})
	camera := server.Camera("door")
	before := camera.clip()
	c := play(t, camera, 1)
	var parameters [][]byte
	pictures := 0
	var times []uint32
	for len(parameters) < 2 {
		p := c.video()
		if p.payload[0]&0x1F == 7 {
			parameters = append(parameters, p.payload)
		}
		if p.marker {
			pictures++
			times = append(times, p.timestamp)
		}
	}
	if pictures != GOPPictures {
		t.Errorf("changed after %d pictures, want %d", pictures, GOPPictures)
	}
	times = append(times, c.pictureTimes(3)...)
	for i := range len(times) - 1 {
		checkTimes(t, times[i:i+2], []int64{1})
	}
	small, err := LoadClip(server.options.Clips, "h264-small")
	if err != nil {
		t.Fatal(err)
	}
	if string(parameters[0]) != string(before.Parameters[0]) || string(parameters[1]) != string(small.Parameters[0]) {
		t.Error("the parameter sets are not those of the two clips")
	}
	if err := camera.Do(Change("none")); err == nil {
		t.Error("a clip that there is not: no error")
	}
}

func TestServerThatIsDownRefusesAndComesBackOnItsPort(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door"})
	camera := server.Camera("door")
	c := play(t, camera, 1)
	c.pictureTimes(1)
	server.Down()
	for {
		if _, err := c.nextFrame(); err != nil {
			break
		}
	}
	if _, err := net.Dial("tcp", server.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("while down: %v, want connection refused", err)
	}
	camera.WaitUntil(t, "no client", func(s Seen) bool { return s.Conns == 0 && s.Playing == 0 })
	if err := server.Up(); err != nil {
		t.Fatal(err)
	}
	play(t, camera, 1).pictureTimes(1)
	if now, ever := server.Conns(); now != 1 || ever != 2 {
		t.Errorf("%d connections now and %d ever, want 1 and 2", now, ever)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "never", Answer: AnswerNever}, CameraConfig{Path: "nonsense", Answer: AnswerNonsense})
	c := dial(t, server.Camera("never"))
	c.send("OPTIONS", c.url)
	server.Camera("never").WaitUntil(t, "the request", func(s Seen) bool { return len(s.Requests) == 1 })
	if err := server.Camera("never").Set(func(c *CameraConfig) { c.Answer = AnswerNormal }); err != nil {
		t.Fatal(err)
	}
	// The first answer is to the second request: there was none to the first.
	if r := c.ask("OPTIONS", c.url); r.status != 200 {
		t.Errorf("after Set: %+v", r)
	}
	c = dial(t, server.Camera("nonsense"))
	c.send("OPTIONS", c.url)
	if f, r, err := c.read(); err == nil {
		t.Errorf("frame %v, reply %v of a camera that talks nonsense", f, r)
	}
}

func TestStatusOnAMethodLastsAsLongAsTold(t *testing.T) {
	t.Parallel()
	server := Start(t,
		CameraConfig{Path: "busy", Status: map[string]int{"DESCRIBE": 503}, StatusTimes: 2},
		CameraConfig{Path: "gone", Status: map[string]int{"SETUP": 404}},
		CameraConfig{Path: "moved", Redirect: "rtsp://127.0.0.1:1/there"},
		CameraConfig{Path: "terse", NoReason: true},
		CameraConfig{Path: "mute", Status: map[string]int{"OPTIONS": NoAnswer}})
	c := dial(t, server.Camera("busy"))
	for i, want := range []int{503, 503, 200} {
		if r := c.ask("DESCRIBE", c.url); r.status != want {
			t.Errorf("answer %d: %d, want %d", i, r.status, want)
		}
	}
	c = dial(t, server.Camera("gone"))
	for range 2 {
		if r := c.ask("SETUP", c.url+"/trackID=0"); r.status != 404 {
			t.Errorf("gone: %d", r.status)
		}
	}
	c = dial(t, server.Camera("moved"))
	if r := c.ask("DESCRIBE", c.url); r.status != 302 || r.headers.Get("Location") != "rtsp://127.0.0.1:1/there" {
		t.Errorf("moved: %+v", r)
	}
	c = dial(t, server.Camera("terse"))
	if r := c.ask("OPTIONS", c.url); r.line != "RTSP/1.0 200" {
		t.Errorf("terse: %q", r.line)
	}
	c = dial(t, server.Camera("mute"))
	c.send("OPTIONS", c.url)
	if r := c.ask("DESCRIBE", c.url); r.status != 200 {
		t.Errorf("mute: %+v", r)
	}
}

func TestSessionEndsWithoutARequestInTime(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", SessionTimeout: time.Second})
	c := dial(t, server.Camera("door"))
	r := c.ask("SETUP", c.url+"/trackID=0", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
	if session := r.headers.Get("Session"); !strings.HasSuffix(session, ";timeout=1") {
		t.Errorf("session %q does not tell its timeout", session)
	}
	if _, _, err := c.read(); !errors.Is(err, io.EOF) {
		t.Errorf("%v, want the end of the connection", err)
	}
}

func TestClientThatDoesNotReadLosesPicturesAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", Clip: "h264-720p"})
	camera := server.Camera("door")
	slow := play(t, camera, 1)
	if err := slow.net.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	other := play(t, camera, 1)
	// What a kernel buffers for a slow client is megabytes; more than that makes
	// the queue overflow at once.
	if err := camera.Do(Inject(make([]byte, 16<<20))); err != nil {
		t.Fatal(err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(io.Discard, other.net)
	}()
	defer func() {
		_ = other.net.Close()
		<-copied
	}()
	seen := camera.WaitUntil(t, "pictures dropped", func(s Seen) bool { return s.Dropped > 0 })
	camera.WaitUntil(t, "the other client to go on", func(s Seen) bool { return s.Sent > seen.Sent+10 })
}
