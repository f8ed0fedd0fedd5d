package rtsptest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// transport is one way that a client offers in SETUP (RFC 2326 12.39).
type transport struct {
	udp      bool
	rtp      int // channel or port
	rtcp     int
	explicit bool // the client named the numbers
}

// chooseTransport takes the first offer that the camera allows.
func chooseTransport(header string, allowed Transport) (transport, bool) {
	for offer := range strings.SplitSeq(header, ",") {
		t, ok := parseTransport(strings.TrimSpace(offer))
		if !ok || t.udp && allowed == TransportTCP || !t.udp && allowed == TransportUDP {
			continue
		}
		return t, true
	}
	return transport{}, false
}

func parseTransport(offer string) (t transport, ok bool) {
	fields := strings.Split(offer, ";")
	limit, name := 255, "interleaved"
	switch strings.ToUpper(fields[0]) {
	case "RTP/AVP/TCP":
	case "RTP/AVP", "RTP/AVP/UDP":
		t.udp = true
		limit, name = 65535, "client_port"
	default:
		return t, false
	}
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		if key == "multicast" {
			return t, false
		}
		if key == name {
			first, second, both := strings.Cut(value, "-")
			var err error
			if t.rtp, err = strconv.Atoi(first); err != nil {
				return t, false
			}
			t.rtcp = t.rtp + 1
			if both {
				if t.rtcp, err = strconv.Atoi(second); err != nil {
					return t, false
				}
			}
			t.explicit = true
		}
	}
	inRange := t.rtp >= 0 && t.rtcp >= 0 && t.rtp <= limit && t.rtcp <= limit
	return t, inRange && (t.explicit || !t.udp)
}

// udpPair is the pair of sockets that all cameras of a server send from.
type udpPair struct {
	rtp, rtcp *net.UDPConn
}

// listenUDPPair finds an even port with its odd neighbour free (RFC 3550 11).
func listenUDPPair(ip net.IP) (*udpPair, error) {
	var lastErr error
	for range 50 {
		rtp, err := net.ListenUDP("udp", &net.UDPAddr{IP: ip})
		if err != nil {
			return nil, fmt.Errorf("listen for RTP: %w", err)
		}
		port := rtp.LocalAddr().(*net.UDPAddr).Port
		if port%2 == 0 {
			rtcp, err := net.ListenUDP("udp", &net.UDPAddr{IP: ip, Port: port + 1})
			if err == nil {
				return &udpPair{rtp: rtp, rtcp: rtcp}, nil
			}
			lastErr = err
		}
		_ = rtp.Close()
	}
	return nil, fmt.Errorf("listen for RTP: no pair of ports is free: %w", lastErr)
}

func (u *udpPair) close() {
	_ = u.rtp.Close()
	_ = u.rtcp.Close()
}

// drain reads what clients send: reports, and packets that open a firewall.
func drain(socket *net.UDPConn) {
	buf := make([]byte, 2048)
	for {
		if _, _, err := socket.ReadFromUDP(buf); err != nil {
			return
		}
	}
}
