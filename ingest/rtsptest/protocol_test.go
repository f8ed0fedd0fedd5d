package rtsptest

import (
	"bufio"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestCameraCountsWhatAClientDid(t *testing.T) {
	server := Start(t, CameraConfig{Path: "door", AAC: true})
	camera := server.Camera("door")
	c := dial(t, camera)
	if r := c.ask("OPTIONS", c.url); r.status != 200 || !strings.Contains(r.headers.Get("Public"), "GET_PARAMETER") {
		t.Fatalf("OPTIONS: %+v", r)
	}
	r := c.ask("DESCRIBE", c.url+"?channel=1")
	if r.status != 200 || r.headers.Get("Content-Base") != c.url+"?channel=1/" {
		t.Fatalf("DESCRIBE: %+v", r)
	}
	for _, line := range []string{"a=rtpmap:96 H264/90000", "sprop-parameter-sets=Z", "config=1408", "a=control:trackID=1"} {
		if !strings.Contains(r.body, line) {
			t.Errorf("session description lacks %q:\n%s", line, r.body)
		}
	}
	c.setup(2)
	r = c.ask("PLAY", c.url)
	if !strings.Contains(r.headers.Get("RTP-Info"), "trackID=1;seq=") {
		t.Errorf("PLAY: %+v", r)
	}
	c.ask("GET_PARAMETER", c.url)
	seen := camera.Seen()
	if seen.Playing != 1 || seen.Conns != 1 || seen.Keepalives != 1 {
		t.Errorf("while playing: %+v", seen)
	}
	if r := c.ask("TEARDOWN", c.url); r.status != 200 {
		t.Errorf("TEARDOWN: %+v", r)
	}
	_ = c.net.Close()
	seen = camera.WaitUntil(t, "no connection", func(s Seen) bool { return s.Conns == 0 })
	if seen.ConnsEver != 1 || seen.Plays != 1 || seen.Playing != 0 || seen.Teardowns != 1 {
		t.Errorf("at the end: %+v", seen)
	}
	if got, want := seen.Methods(), "OPTIONS DESCRIBE SETUP SETUP PLAY GET_PARAMETER TEARDOWN"; got != want {
		t.Errorf("requests %s, want %s", got, want)
	}
}

func TestRequestsOutOfPlaceAreRefused(t *testing.T) {
	server := Start(t, CameraConfig{Path: "door", Transport: TransportTCP, Slots: 1, SlotHold: time.Hour})
	camera := server.Camera("door")
	tcp := "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"
	c := dial(t, camera)
	tests := []struct {
		method, url, header string
		want                int
	}{
		{"DESCRIBE", strings.Replace(c.url, "door", "doors", 1), "A: b", 404},
		{"PLAY", c.url, "A: b", 454},
		{"PLAY", c.url, "Session: 1", 454},
		{"SETUP", c.url + "/trackID=1", tcp, 404},
		{"SETUP", c.url + "/trackID=x", tcp, 404},
		{"SETUP", c.url + "/trackID=0", "Transport: RTP/AVP;unicast;client_port=4-5", 461},
		{"SETUP", c.url + "/trackID=0", "Transport: RTP/AVP/TCP;unicast;interleaved=255-256", 461},
		{"SETUP", c.url + "/trackID=0", "Transport: RTP/AVP;multicast", 461},
		{"RECORD", c.url, "A: b", 501},
		{"SETUP", c.url + "/trackID=0", "Transport: RTP/AVP;unicast;client_port=4-5," + tcp[11:], 200},
	}
	for _, test := range tests {
		if r := c.ask(test.method, test.url, test.header); r.status != test.want {
			t.Errorf("%s %s %s: %d, want %d", test.method, test.url, test.header, r.status, test.want)
		}
	}
	// The slot is taken, and held when its client vanishes.
	second := dial(t, camera)
	if r := second.ask("SETUP", c.url+"/trackID=0", tcp); r.status != 453 {
		t.Errorf("second session: %d, want 453", r.status)
	}
	_ = c.net.Close()
	camera.WaitUntil(t, "one connection left", func(s Seen) bool { return s.Conns == 1 })
	if r := second.ask("SETUP", c.url+"/trackID=0", tcp); r.status != 453 {
		t.Errorf("session after a lost one: %d, want 453", r.status)
	}
}

func TestTransportOffers(t *testing.T) {
	tests := []struct {
		header  string
		allowed Transport
		want    transport
		ok      bool
	}{
		{"RTP/AVP/TCP;unicast;interleaved=2-3", TransportBoth, transport{rtp: 2, rtcp: 3, explicit: true}, true},
		{"RTP/AVP/TCP;unicast", TransportBoth, transport{}, true},
		{"RTP/AVP/UDP;unicast;client_port=8000-8001", TransportBoth, transport{udp: true, rtp: 8000, rtcp: 8001, explicit: true}, true},
		{"RTP/AVP;unicast;client_port=8000", TransportUDP, transport{udp: true, rtp: 8000, rtcp: 8001, explicit: true}, true},
		{"RTP/AVP;unicast", TransportBoth, transport{}, false},
		{"RTP/AVP;unicast;client_port=-5", TransportBoth, transport{}, false},
		{"RTP/AVP;unicast;client_port=65535", TransportBoth, transport{}, false},
		{"RTP/AVP/TCP;interleaved=0-1", TransportUDP, transport{}, false},
		{"RTP/AVP;multicast", TransportBoth, transport{}, false},
		{"RTP/AVP;multicast", TransportMulticast, transport{udp: true, multicast: true}, true},
		{"RTP/AVP/TCP;unicast", TransportMulticast, transport{}, false},
		{"RTP/AVP/TCP;unicast", TransportTunnel, transport{}, false},
		{"", TransportBoth, transport{}, false},
	}
	for _, test := range tests {
		got, ok := chooseTransport(test.header, func(offer transport) bool {
			config := CameraConfig{Path: "door", Transport: test.allowed}
			if err := config.setDefaults(); err != nil {
				t.Fatal(err)
			}
			return config.allows(offer, false)
		})
		if ok != test.ok || got != test.want {
			t.Errorf("%q: %+v %v, want %+v %v", test.header, got, ok, test.want, test.ok)
		}
	}
}

func TestAuthorizationFieldsAreUnquoted(t *testing.T) {
	got := parseAuthFields(`username="a\"b\\c, d", realm="x=y" ,uri=plain`)
	want := map[string]string{"username": `a"b\c, d`, "realm": "x=y", "uri": "plain"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzRequest holds that no bytes of a client panic what reads them.
func FuzzRequest(f *testing.F) {
	f.Add("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n")
	f.Add("$\x00\x00\x02abSETUP rtsp://h/door/trackID=0 RTSP/1.0\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n")
	f.Add("SET_PARAMETER rtsp://h/door RTSP/1.0\r\nContent-Length: 3\r\nAuthorization: Digest a=\"b\\\r\n\r\nabc")
	config := CameraConfig{Path: "door", AAC: true, Auth: AuthDigest, User: "a"}
	f.Fuzz(func(t *testing.T, raw string) {
		in := bufio.NewReaderSize(strings.NewReader(raw), maxLineSize)
		for {
			request, err := readRequest(in)
			if err != nil {
				return
			}
			mediaOf(&config, request.URL)
			chooseTransport(request.Header("Transport"), func(t transport) bool { return config.allows(t, true) })
			if config.authorized(request, "") && !strings.Contains(raw, "Digest") {
				t.Fatal("authorized without a digest")
			}
			(&Server{cameras: []*Camera{{path: "door"}}}).find(request.URL)
		}
	})
}
