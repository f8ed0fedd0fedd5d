package rtsptest

import (
	"encoding/binary"
	"testing"
	"time"
)

func TestClientsBeginWhereTheCameraSays(t *testing.T) {
	t.Parallel()
	server := Start(t,
		CameraConfig{Path: "keyframe"},
		CameraConfig{Path: "next", Start: StartNext},
		CameraConfig{Path: "any", Start: StartAny})
	firstIsParameters := func(c *client) bool { return c.video().payload[0]&0x1F == 7 }
	keyframe := server.Camera("keyframe")
	first := play(t, keyframe, 1)
	if !firstIsParameters(first) {
		t.Error("the first client does not begin with a keyframe")
	}
	first.pictureTimes(2)
	if !firstIsParameters(play(t, keyframe, 1)) {
		t.Error("the second client does not begin with a keyframe")
	}
	if !firstIsParameters(play(t, server.Camera("next"), 1)) {
		t.Error("a client of StartNext does not begin with a keyframe")
	}
	// One of two clients, a few pictures apart, begins within a GOP.
	any := server.Camera("any")
	c := play(t, any, 1)
	begins := firstIsParameters(c)
	c.pictureTimes(2)
	if begins && firstIsParameters(play(t, any, 1)) {
		t.Error("clients of StartAny begin with a keyframe")
	}
}

func TestPausedClientGetsNothingUntilItPlaysAgain(t *testing.T) {
	t.Parallel()
	server := Start(t, CameraConfig{Path: "door", Reports: -1})
	camera := server.Camera("door")
	c := play(t, camera, 1)
	before := c.pictureTimes(2)
	if r := c.ask("PAUSE", c.url); r.status != 200 || camera.Seen().Playing != 0 {
		t.Errorf("PAUSE: %+v, %d playing", r, camera.Seen().Playing)
	}
	c.frames = nil
	if r := c.ask("GET_PARAMETER", c.url); r.status != 200 || len(c.frames) != 0 {
		t.Errorf("after PAUSE: %+v, %d frames", r, len(c.frames))
	}
	if r := c.ask("PLAY", c.url); r.status != 200 {
		t.Errorf("PLAY again: %+v", r)
	}
	if after := c.pictureTimes(1); int32(after[0]-before[1]) <= 0 {
		t.Errorf("time after PAUSE is %d, before it %d", after[0], before[1])
	}
}

func TestSenderReportTellsTheCamerasClock(t *testing.T) {
	t.Parallel()
	wall := time.Date(1970, 1, 1, 0, 0, 10, 500_000_000, time.UTC)
	server := Start(t, CameraConfig{Path: "door", AAC: true, WallClock: func() time.Time { return wall }})
	c := play(t, server.Camera("door"), 2)
	var report []byte
	for report == nil {
		f, err := c.nextFrame()
		if err != nil {
			t.Fatal(err)
		}
		if f.channel == 1 {
			report = f.packet
		}
	}
	packet := c.video()
	if timestamp := binary.BigEndian.Uint32(report[16:]); timestamp != packet.timestamp {
		t.Errorf("report is of %d, the picture with it of %d", timestamp, packet.timestamp)
	}
	// Set back by how late the report was written, so below the clock by less
	// than any machine stands still.
	ntp := time.Duration(binary.BigEndian.Uint32(report[8:])-ntpEpochOffset)*time.Second +
		time.Duration(uint64(binary.BigEndian.Uint32(report[12:]))*1e9>>32)
	if late := wall.Sub(time.Unix(0, 0)) - ntp; late < 0 || late > 10*time.Second {
		t.Errorf("report says %v after 1970, %v off", ntp, late)
	}
}
