package rtsptest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// transport is one way that a client offers in SETUP (RFC 2326 12.39).
type transport struct {
	udp       bool
	multicast bool // udp, too
	rtp       int  // channel or port
	rtcp      int
	explicit  bool // the client named the numbers
}

// chooseTransport takes the first offer that the camera allows.
func chooseTransport(header string, allowed func(t transport) bool) (transport, bool) {
	for offer := range strings.SplitSeq(header, ",") {
		if t, ok := parseTransport(strings.TrimSpace(offer)); ok && allowed(t) {
			return t, true
		}
	}
	return transport{}, false
}

// allows answers whether media may go a way, within a tunnel or not.
func (c *CameraConfig) allows(t transport, tunnelled bool) bool {
	switch {
	case t.multicast:
		return c.Group != ""
	case t.udp:
		return c.Transport == TransportBoth || c.Transport == TransportUDP
	case tunnelled:
		return true
	}
	return c.Transport == TransportBoth || c.Transport == TransportTCP
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
			t.multicast = t.udp
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
	return t, inRange && (t.explicit || !t.udp || t.multicast)
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

// freePorts returns even ports with their odd neighbours that are free now.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		pair, err := listenUDPPair(nil)
		if err != nil {
			return nil, err
		}
		defer pair.close() // when all are found, so that they differ
		ports = append(ports, pair.rtp.LocalAddr().(*net.UDPAddr).Port)
	}
	return ports, nil
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
