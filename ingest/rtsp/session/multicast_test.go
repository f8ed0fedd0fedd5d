package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// needMulticast skips where loopback carries no groups at all, as the standard
// library finds.
func needMulticast(t *testing.T) {
	t.Helper()
	device, err := interfaceOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil || device == nil {
		t.Fatalf("no interface has 127.0.0.1: %v", err)
	}
	conn, err := net.ListenMulticastUDP("udp4", device, &net.UDPAddr{IP: net.IPv4(239, 255, 42, 1), Port: freePortPair(t)[0]})
	if err != nil {
		t.Skipf("this machine has no multicast on loopback: %v", err)
	}
	_ = conn.Close()
}

func freePortPair(t *testing.T) [2]int {
	t.Helper()
	pair, err := openPair(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer pair.close()
	port := pair.rtp.LocalAddr().(*net.UDPAddr).Port
	return [2]int{port, port + 1}
}

func TestMulticastHandsOnPicturesAndSound(t *testing.T) {
	needMulticast(t)
	for name, inSDP := range map[string]bool{"group in the reply to SETUP": false, "group in the SDP": true} {
		t.Run(name, func(t *testing.T) {
			camera := rtsptest.Start(t, rtsptest.CameraConfig{
				Path: "door", AAC: true, Transport: rtsptest.TransportMulticast, GroupInSDP: inSDP,
			}).Camera("door")
			s := play(t, Options{URL: camera.URL(), Transport: Multicast})
			ctx, cancel := context.WithCancel(t.Context())
			heard, done := newMediaCount(), make(chan error, 1)
			go func() { done <- s.Run(ctx, heard) }()
			heard.wait(t, 0, 1)
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run ended with %v", err)
			}
			stats := s.Stats()
			if len(stats.Tracks) != 2 || stats.Strangers != 0 || stats.Tracks[0].Duplicates != 0 || stats.Tracks[0].Received == 0 {
				t.Errorf("stats %+v", stats)
			}
		})
	}
}

func TestTwoReceiversShareAGroup(t *testing.T) {
	needMulticast(t)
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", Transport: rtsptest.TransportMulticast}).Camera("door")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 2)
	for range 2 {
		s := play(t, Options{URL: camera.URL(), Transport: Multicast})
		heard := newMediaCount()
		go func() { done <- s.Run(ctx, heard) }()
		heard.wait(t, 0)
	}
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}
}

func TestMulticastThatIsOfNoUseIsARefusal(t *testing.T) {
	for name, c := range map[string]struct{ transport, connection, want string }{
		"TCP":                      {"RTP/AVP/TCP;interleaved=0-1", "IN IP4 239.1.2.3", "unicast"},
		"unicast":                  {"RTP/AVP;unicast;server_port=6000-6001", "IN IP4 239.1.2.3", "unicast"},
		"no group":                 {"RTP/AVP;multicast;port=6000-6001", "IN IP4 0.0.0.0", "no multicast group"},
		"a host for a group":       {"RTP/AVP;multicast;destination=192.0.2.9;port=6000-6001", "IN IP4 239.1.2.3", "group that it names is none"},
		"no port":                  {"RTP/AVP;multicast;destination=239.1.2.3", "IN IP4 239.1.2.3", "ports"},
		"a port of a service":      {"RTP/AVP;multicast;destination=239.1.2.3;port=53-54", "IN IP4 239.1.2.3", "ports"},
		"one port for both":        {"RTP/AVP;multicast;destination=239.1.2.3;port=6000-6000", "IN IP4 239.1.2.3", "ports"},
		"a port beyond all others": {"RTP/AVP;multicast;destination=239.1.2.3;port=65535", "IN IP4 239.1.2.3", "ports"},
	} {
		t.Run(name, func(t *testing.T) {
			sdp := strings.Replace(videoSDP, "m=video", "c="+c.connection+"\r\nm=video", 1)
			options := script(t, func(p *peer) {
				for r := p.next(); r != nil; r = p.next() {
					if r.method == "SETUP" {
						p.reply(r, "200 OK", "", "Session: 1", "Transport: "+c.transport)
						continue
					}
					p.usual(r, sdp)
				}
			})
			options.Transport = Multicast
			err := open(t, options).Setup(t.Context(), 0)
			if !errors.Is(err, ErrTransportRefused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ErrTransportRefused with %q", err, c.want)
			}
		})
	}
}

func TestAPortOfAGroupThatIsTakenIsSaid(t *testing.T) {
	taken, err := net.ListenUDP("udp4", &net.UDPAddr{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.LocalAddr().(*net.UDPAddr).Port
	options := script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			if r.method == "SETUP" {
				p.reply(r, "200 OK", "", "Session: 1", fmt.Sprintf("Transport: RTP/AVP;multicast;destination=239.255.42.3;port=%d-%d", port, port-1))
				continue
			}
			p.usual(r, videoSDP)
		}
	})
	options.Transport = Multicast
	var e *Error
	if err := open(t, options).Setup(t.Context(), 0); !errors.As(err, &e) || !strings.Contains(e.Hint(), fmt.Sprintf("hold port %d", port)) {
		t.Errorf("got %v", err)
	}
}

func TestTheGroupOfAnSDPIsThatOfTheMediaOrOfAll(t *testing.T) {
	for name, c := range map[string]struct {
		session, media string
		group, source  string
	}{
		"none":                      {"", "", "invalid IP", "invalid IP"},
		"of the session":            {"c=IN IP4 239.1.2.3/127", "", "239.1.2.3", "invalid IP"},
		"of the media":              {"c=IN IP4 239.1.2.3/127", "c=IN IP4 239.9.9.9/1/2", "239.9.9.9", "invalid IP"},
		"IPv6":                      {"c=IN IP6 ff3e::8000:1", "", "ff3e::8000:1", "invalid IP"},
		"unicast":                   {"c=IN IP4 192.0.2.1", "", "invalid IP", "invalid IP"},
		"unicast under a group":     {"c=IN IP4 239.1.2.3", "c=IN IP4 0.0.0.0", "239.1.2.3", "invalid IP"},
		"empty":                     {"c=IN ", "c=", "invalid IP", "invalid IP"},
		"a name":                    {"c=IN IP4 camera.local", "", "invalid IP", "invalid IP"},
		"with a source":             {"c=IN IP4 232.1.2.3", "a=source-filter: incl IN IP4 232.1.2.3 192.0.2.7", "232.1.2.3", "192.0.2.7"},
		"with a source for all":     {"c=IN IP4 232.1.2.3\r\na=source-filter:incl IN IP4 * 192.0.2.8 192.0.2.9", "", "232.1.2.3", "192.0.2.8"},
		"with a source to keep out": {"c=IN IP4 232.1.2.3", "a=source-filter: excl IN IP4 * 192.0.2.7", "232.1.2.3", "invalid IP"},
	} {
		got := parseSDP([]byte("v=0\r\n" + c.session + "\r\nm=video 5004/2 RTP/AVP 96\r\n" + c.media + "\r\n")).medias[0].multicast
		if got.group.String() != c.group || got.source.String() != c.source || got.port != 5004 {
			t.Errorf("%s: got %+v, want group %s and source %s", name, got, c.group, c.source)
		}
	}
}

func TestOnlyTheNamedSourceOfAGroupIsJoined(t *testing.T) {
	needMulticast(t)
	ports := freePortPair(t)
	offer := multicastOffer{group: netip.MustParseAddr("232.1.2.3"), source: netip.MustParseAddr("127.0.0.1")}
	pair, err := joinPair(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, offer, ports)
	if err != nil {
		t.Fatal(err)
	}
	defer pair.close()
	to := &net.UDPAddr{IP: offer.group.AsSlice(), Port: ports[0]}
	for _, from := range []string{"127.0.0.2", "127.0.0.1"} {
		sender, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sender.WriteToUDP([]byte(from), to); err != nil {
			t.Error(err)
		}
		_ = sender.Close()
	}
	b := make([]byte, 100)
	n, err := pair.rtp.Read(b)
	if got := string(b[:n]); err != nil || got != "127.0.0.1" {
		t.Errorf("got %q, %v: want what the source sent", got, err)
	}
}
