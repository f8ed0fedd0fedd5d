package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// A udpPair is the pair of sockets of one media. Datagrams go to the address of
// the conversation only, whatever the camera names: it has passed the policy.
type udpPair struct {
	rtp, rtcp   *net.UDPConn
	peer        netip.Addr
	source      netip.Addr // where the camera said it sends from; may be unset
	serverPorts [2]int     // 0: not said, and nothing is sent
	granted     int        // bytes of the receive buffer; 0 if unknown
}

// socketBytes is what the kernel is asked to hold for us: a large keyframe in a
// burst, while this process is not scheduled. It grants less where its own
// limit is lower.
const socketBytes = 2 << 20

// setupUDP has a media sent to a pair of ports.
func (s *Session) setupUDP(ctx context.Context, t *track) error {
	pair, err := openPair(s.talk.conn.LocalAddr())
	if err != nil {
		return err
	}
	port := pair.rtp.LocalAddr().(*net.UDPAddr).Port
	reply, err := s.askSetup(ctx, t.media, fmt.Sprintf("RTP/AVP;unicast;client_port=%d-%d", port, port+1))
	if err != nil {
		pair.close()
		return err
	}
	said := parseTransport(reply.get("Transport"))
	if said.tcp {
		pair.close()
		return &Error{Step: StepSetup, Kind: ErrTransportRefused, Err: errors.New("it answered with TCP")}
	}
	if said.multicast {
		pair.close()
		return &Error{Step: StepSetup, Kind: ErrTransportRefused, Err: errors.New("it answered with multicast")}
	}
	pair.peer, pair.source, pair.serverPorts = s.peer, said.source, said.serverPorts
	t.udp = pair
	return nil
}

// openPair binds an even port and the odd one above it (RFC 3550 11), on the
// address that the conversation uses.
func openPair(local net.Addr) (*udpPair, error) {
	var ip net.IP
	if tcp, ok := local.(*net.TCPAddr); ok {
		ip = tcp.IP
	}
	var failed error
	for range 64 {
		rtp, err := net.ListenUDP("udp", &net.UDPAddr{IP: ip})
		if err != nil {
			return nil, err
		}
		port := rtp.LocalAddr().(*net.UDPAddr).Port
		if port%2 == 0 {
			rtcp, err := net.ListenUDP("udp", &net.UDPAddr{IP: ip, Port: port + 1})
			if err == nil {
				return &udpPair{rtp: rtp, rtcp: rtcp, granted: tune(rtp, socketBytes)}, nil
			}
			failed = err
		}
		_ = rtp.Close()
	}
	return nil, fmt.Errorf("no pair of free ports: %w", failed)
}

func (p *udpPair) close() {
	_ = p.rtp.Close()
	_ = p.rtcp.Close()
}

// accepts reports whether a datagram is from the camera. Its port is not
// asked for: some send from others than they say.
func (p *udpPair) accepts(from netip.Addr) bool {
	return from == p.peer || (p.source.IsValid() && from == p.source)
}

// punch opens the way back through firewalls between us and the cameras.
func (s *Session) punch() {
	for _, t := range s.tracks {
		if t.udp == nil {
			continue
		}
		t.udp.send(t.udp.rtp, t.udp.serverPorts[0], []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		t.udp.sendControl([]byte{0x80, rtcpReceiverReport, 0, 1, 0, 0, 0, 0})
	}
}

func (p *udpPair) sendControl(b []byte) { p.send(p.rtcp, p.serverPorts[1], b) }

// send is best effort, as datagrams are.
func (p *udpPair) send(from *net.UDPConn, port int, b []byte) {
	if port != 0 {
		_, _ = from.WriteToUDPAddrPort(b, netip.AddrPortFrom(p.peer, uint16(port)))
	}
}

// readControl hands on the datagrams of a track's control socket, which are few.
func (s *Session) readControl(ctx context.Context, t *track, h Handler) error {
	buffer := make([]byte, datagramBytes)
	for {
		n, from, err := t.udp.rtcp.ReadFromUDPAddrPort(buffer)
		now := time.Now()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case !t.udp.accepts(from.Addr().Unmap().WithZone("")):
			s.counters.strangers.Add(1)
			continue
		}
		if err := s.controlDatagram(h, t, buffer[:n], now); err != nil {
			return err
		}
	}
}

func (s *Session) controlDatagram(h Handler, t *track, b []byte, now time.Time) error {
	s.delivery.Lock()
	defer s.delivery.Unlock()
	s.packet(h, t, true, b, now)
	h.BatchEnd()
	return s.overYet()
}
