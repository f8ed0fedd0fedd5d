package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A udpPair is the pair of ports of one media. Datagrams go to the address of
// the conversation only, whatever the camera names: it has passed the policy.
type udpPair struct {
	rtp, rtcp   *net.UDPConn
	peer        netip.Addr
	source      netip.Addr // where the camera said it sends from; may be unset
	serverPorts [2]int     // 0: not said
}

const (
	// datagramBytes takes what fits an Ethernet. A camera that sends more,
	// in IP fragments, costs one datagram and then has the larger buffer.
	datagramBytes    = 2 << 10
	maxDatagramBytes = 64 << 10

	// socketBytes is what the kernel may hold for us: a keyframe in a burst.
	// It grants less where its own limit is lower.
	socketBytes = 1 << 20
)

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
				_ = rtp.SetReadBuffer(socketBytes) // a smaller one works too
				return &udpPair{rtp: rtp, rtcp: rtcp}, nil
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
func (p *udpPair) accepts(from netip.AddrPort) bool {
	addr := from.Addr().Unmap().WithZone("")
	return addr == p.peer || (p.source.IsValid() && addr == p.source)
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

// startUDP reads the two sockets of a track until the context ends. The first
// end of a stream or failure of a socket cancels it.
func (s *Session) startUDP(ctx context.Context, cancel context.CancelCauseFunc, readers *sync.WaitGroup, t *track, h Handler) {
	for _, socket := range [...]struct {
		conn    *net.UDPConn
		control bool
	}{{t.udp.rtp, false}, {t.udp.rtcp, true}} {
		readers.Go(func() {
			undo := interrupt(ctx, socket.conn)
			defer undo()
			if err := s.readUDP(ctx, t, socket.conn, socket.control, h); err != nil {
				cancel(fail(ctx, StepRead, err))
			}
		})
	}
}

// readUDP hands on the datagrams of one socket.
func (s *Session) readUDP(ctx context.Context, t *track, conn *net.UDPConn, control bool, h Handler) error {
	buffer := make([]byte, datagramBytes)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buffer)
		now := time.Now()
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case n == len(buffer) && n < maxDatagramBytes:
			s.counters.truncated.Add(1)
			buffer = make([]byte, maxDatagramBytes)
			continue
		case !t.udp.accepts(from):
			s.counters.strangers.Add(1)
			continue
		}
		if err := s.datagram(h, t, control, buffer[:n], now); err != nil {
			return err
		}
	}
}

func (s *Session) datagram(h Handler, t *track, control bool, b []byte, now time.Time) error {
	s.delivery.Lock()
	defer s.delivery.Unlock()
	s.packet(h, t, control, b, now)
	h.BatchEnd()
	return s.overYet()
}
