package session

import (
	"net/netip"
	"testing"
)

func TestTransportRepliesAreReadAsFarAsTheyMakeSense(t *testing.T) {
	addr := netip.MustParseAddr
	for _, c := range []struct {
		in   string
		want transportReply
	}{
		{"RTP/AVP/TCP;unicast;interleaved=2-3", transportReply{tcp: true, interleaved: [2]int{2, 3}, hasChannels: true}},
		{"rtp/avp/tcp; Interleaved = 4", transportReply{tcp: true, interleaved: [2]int{4, 5}, hasChannels: true}},
		{"RTP/AVP;unicast;client_port=6-7;server_port=8-9;source=192.0.2.1", transportReply{udp: true, serverPorts: [2]int{8, 9}, source: addr("192.0.2.1")}},
		{"RTP/AVP/UDP;unicast;server_port=8;source=camera.local", transportReply{udp: true, serverPorts: [2]int{8, 9}}},
		{"RTP/AVP;multicast;destination=239.1.2.3;port=5000-5001;ttl=16", transportReply{udp: true, multicast: true, destination: addr("239.1.2.3"), ports: [2]int{5000, 5001}}},
		{"RTP/AVP;multicast;destination=\"[ff3e::1]\";port=5000", transportReply{udp: true, multicast: true, destination: addr("ff3e::1"), ports: [2]int{5000, 5001}}},
		{"RTP/AVP;multicast;destination=::ffff:239.1.2.3;source=fe80::1%eth0;port=70000", transportReply{udp: true, multicast: true, destination: addr("239.1.2.3"), source: addr("fe80::1")}},
		{"RTP/AVP;unicast,RTP/AVP/TCP;interleaved=0-1", transportReply{udp: true}},
		{"RTP/AVP/TCP;interleaved=255", transportReply{tcp: true}},
		{"RTP/AVP/TCP;interleaved=-1-0;server_port=x", transportReply{tcp: true}},
		{"", transportReply{}},
	} {
		if got := parseTransport(c.in); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.in, got, c.want)
		}
	}
}

func FuzzTransport(f *testing.F) {
	f.Add("RTP/AVP;multicast;destination=239.1.2.3;port=5000-5001;ttl=16;source=[::1]")
	f.Add("RTP/AVP/TCP;unicast;interleaved=2-3;ssrc=0")
	f.Add("4711;timeout=60")
	f.Fuzz(func(t *testing.T, text string) {
		got := parseTransport(text)
		for _, pair := range [][2]int{got.interleaved, got.serverPorts, got.ports} {
			if pair[0] < 0 || pair[1] < 0 || pair[0] > 65535 || pair[1] > 65535 {
				t.Errorf("%q: %+v", text, got)
			}
		}
		if _, seconds := parseSessionHeader(text); seconds < 0 || seconds > maxSessionTimeoutSeconds {
			t.Errorf("%q: a time-out of %d s", text, seconds)
		}
	})
}
