package rtsptest

import (
	"bytes"
	"testing"
)

func TestScriptHoldsAConversationByTheByte(t *testing.T) {
	sent := RTP(96, true, 7, 9000, 0x01020304, []byte("payload"))
	addr := Script(t, func(conn *ScriptConn) {
		channels, err := conn.Handshake("v=0\r\nm=video 0 RTP/AVP 96\r\n")
		if err != nil || len(channels) != 1 {
			return
		}
		if conn.Frame(channels[0], sent) == nil {
			conn.Answer()
		}
	})
	// A client needs a camera only for its address.
	c := dial(t, &Camera{server: &Server{address: addr}, url: "rtsp://" + addr + "/any"})
	if r := c.ask("DESCRIBE", c.url); r.body != "v=0\r\nm=video 0 RTP/AVP 96\r\n" {
		t.Fatalf("DESCRIBE: %+v", r)
	}
	c.setup(1)
	c.ask("PLAY", c.url)
	f, err := c.nextFrame()
	if err != nil || f.channel != 0 || !bytes.Equal(f.packet, sent) {
		t.Errorf("frame %+v, %v", f, err)
	}
	packet := parseRTP(t, f.packet)
	if packet.seq != 7 || packet.timestamp != 9000 || string(packet.payload) != "payload" {
		t.Errorf("packet %+v", packet)
	}
	if r := c.ask("TEARDOWN", c.url); r.status != 200 {
		t.Errorf("TEARDOWN: %+v", r)
	}
}
