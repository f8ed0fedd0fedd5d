package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSimcamServesObeysAndEnds(t *testing.T) {
	clips := rtsptest.ClipDir(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	commandsOut, commandsIn := io.Pipe()
	linesOut, linesIn := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"-listen", "127.0.0.1:0", "-clips", clips, "-cameras", "1",
			"-camera", "door:audio=aac"}, commandsOut, linesIn)
		_ = linesIn.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(linesOut)
	next := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no more lines: %v", lines.Err())
		}
		return lines.Text()
	}
	door, found := strings.CutPrefix(next(), "ready ")
	if !found || !strings.HasSuffix(door, "/door") {
		t.Fatalf("ready line names %q", door)
	}
	if line := next(); !strings.HasSuffix(line, "/cam1") {
		t.Fatalf("second line %q", line)
	}

	client, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(door, "rtsp://"), "/door"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	_, err = fmt.Fprintf(client, "SETUP %s/trackID=0 RTSP/1.0\r\nCSeq: 1\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n"+
		"PLAY %s RTSP/1.0\r\nCSeq: 2\r\n\r\n", door, door)
	if err != nil {
		t.Fatal(err)
	}
	if line := next(); !strings.HasPrefix(line, "event door play 127.0.0.1:") {
		t.Fatalf("after PLAY: %q", line)
	}
	for command, want := range map[string]string{
		"nonsense\n":                "error commands: ",
		"stall nowhere\n":           "error no camera nowhere",
		"change door no-such\n":     "error clip no-such: ",
		"jump door 2.5\n":           "event door fault 127.0.0.1:",
		"outlier cam1 x\n":          "error time: invalid duration",
		"\ndroppacket door twice\n": "error strconv.Atoi",
	} {
		if _, err := io.WriteString(commandsIn, command); err != nil {
			t.Fatal(err)
		}
		if line := next(); !strings.HasPrefix(line, want) {
			t.Errorf("%q: %q, want %q", command, line, want)
		}
	}
	_, _ = io.WriteString(commandsIn, "close door\n")
	if line := next(); !strings.HasSuffix(line, " close") {
		t.Errorf("after close: %q", line)
	}
	if line := next(); !strings.HasPrefix(line, "event door gone") {
		t.Errorf("after close: %q", line)
	}
	cancel()
	_ = commandsIn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFlagsThatMakeNoSenseSayWhy(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-camera", "door:colour=red"}, `unknown key "colour"; there are: answer, `},
		{[]string{"-camera", "door:audio=mp3"}, "not aac, pcma, "},
		{[]string{"-camera", "door:stall=soon"}, "invalid duration"},
		{[]string{"-camera", "door:start=late"}, "not keyframe, next or any"},
		{[]string{"-camera", "door:answer=late"}, "not never or nonsense"},
		{[]string{"-camera", "door:status=PLAY"}, "invalid syntax"},
		{[]string{"-camera", "door:drop=much"}, "invalid syntax"},
	}
	for _, test := range tests {
		if _, err := parseFlags(test.args); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
}

func TestCameraFlagSetsWhatItSays(t *testing.T) {
	s, err := parseFlags([]string{"-user", "me:a:b", "-start", "next", "-camera",
		"door:clip=h265,audio=pcma,transport=udp,sdp=bare,status=PLAY@453,redirect=rtsp://h:1/p,timeout=5,stall=20,change=h264@1.5,once=1,close=30"})
	if err != nil {
		t.Fatal(err)
	}
	c := s.cameras[0]
	if c.Path != "door" || c.Clip != "h265" || !c.PCMA || c.Transport != rtsptest.TransportUDP || !c.BareSDP ||
		c.Status["PLAY"] != 453 || c.Redirect != "rtsp://h:1/p" || c.SessionTimeout != 5*time.Second ||
		c.Start != rtsptest.StartNext || c.Auth != rtsptest.AuthDigest || c.User != "me" || c.Password != "a:b" {
		t.Errorf("%+v", c)
	}
	var faults []string
	for _, fault := range c.Faults {
		faults = append(faults, fmt.Sprintf("%v at %v once %v", fault.Do, fault.After, fault.Once))
	}
	want := "stall at 20s once true, change h264 at 1.5s once true, close at 30s once false"
	if got := strings.Join(faults, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
