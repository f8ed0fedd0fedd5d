package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// A multicastOffer is what an SDP says of the group that a media is sent to.
type multicastOffer struct {
	group  netip.Addr // not valid where none is named
	port   int        // of RTP; 0 where none is named
	source netip.Addr // whose datagrams alone are wanted (RFC 4570); may be unset
}

// minGroupPort keeps a camera from having ports of other services opened.
const minGroupPort = 1024

// setupMulticast joins the group that a media is sent to. The reply to SETUP
// names it, or else the SDP. No reports are sent: to the group they would
// disturb its other receivers, and elsewhere nobody waits for them.
func (s *Session) setupMulticast(ctx context.Context, t *track) error {
	reply, err := s.askSetup(ctx, t.media, "RTP/AVP;multicast")
	if err != nil {
		return err
	}
	said := parseTransport(reply.get("Transport"))
	if said.tcp || (said.serverPorts[0] != 0 && !said.multicast) {
		return &Error{Step: StepSetup, Kind: ErrTransportRefused, Err: errors.New("it answered with unicast")}
	}
	offer := s.medias[t.media].multicast
	if said.destination.IsValid() {
		offer.group = said.destination
	}
	ports := said.ports
	if ports[0] == 0 {
		ports = [2]int{offer.port, offer.port + 1}
	}
	switch {
	case !offer.group.IsValid():
		return &Error{Step: StepSetup, Kind: ErrTransportRefused, Err: errors.New("it names no multicast group")}
	case !offer.group.IsMulticast():
		return &Error{Step: StepSetup, Kind: ErrTransportRefused, Err: errors.New("the group that it names is none")}
	case ports[0] < minGroupPort || ports[1] < minGroupPort || ports[1] > 65535 || ports[0] == ports[1]:
		return &Error{Step: StepSetup, Kind: ErrTransportRefused, Err: errors.New("the ports that it names are of no use")}
	}
	pair, err := joinPair(s.talk.conn.LocalAddr(), offer, ports)
	if err != nil {
		return &Error{Step: StepSetup, Err: err, detail: fmt.Sprintf(
			"the camera's multicast group %v cannot be joined here: another program may hold port %d", offer.group, ports[0])}
	}
	pair.peer, pair.source = s.peer, said.source
	if !pair.source.IsValid() {
		pair.source = offer.source
	}
	t.udp = pair
	return nil
}

// joinPair opens the two sockets of a group, on the interface by which the
// camera is reached.
func joinPair(local net.Addr, offer multicastOffer, ports [2]int) (*udpPair, error) {
	device, err := interfaceOf(local)
	if err != nil {
		return nil, err
	}
	rtp, err := join(device, offer, ports[0])
	if err != nil {
		return nil, err
	}
	rtcp, err := join(device, offer, ports[1])
	if err != nil {
		_ = rtp.Close()
		return nil, err
	}
	return &udpPair{rtp: rtp, rtcp: rtcp, granted: tune(rtp, socketBytes)}, nil
}

// join opens a socket that shares its port with other receivers of the group.
func join(device *net.Interface, offer multicastOffer, port int) (conn *net.UDPConn, err error) {
	network := "udp4"
	if offer.group.Is6() {
		network = "udp6"
	}
	// Given a group, it lets the port be shared, and binds to any address.
	opened, err := net.ListenPacket(network, net.JoinHostPort(offer.group.String(), strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	conn = opened.(*net.UDPConn)
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	ownGroupsOnly(conn)
	var member interface {
		JoinGroup(*net.Interface, net.Addr) error
		JoinSourceSpecificGroup(device *net.Interface, group, source net.Addr) error
	} = ipv4.NewPacketConn(conn)
	if offer.group.Is6() {
		member = ipv6.NewPacketConn(conn)
	}
	group := &net.UDPAddr{IP: offer.group.AsSlice()}
	if offer.source.IsValid() && offer.source.Is4() == offer.group.Is4() {
		err = member.JoinSourceSpecificGroup(device, group, &net.UDPAddr{IP: offer.source.AsSlice()})
	} else {
		err = member.JoinGroup(device, group)
	}
	if err != nil {
		return nil, fmt.Errorf("joining the multicast group: %w", err)
	}
	return conn, nil
}

// interfaceOf returns the interface that has a local address, nil for the
// system's choice where the conversation has none.
func interfaceOf(local net.Addr) (*net.Interface, error) {
	tcp, ok := local.(*net.TCPAddr)
	if !ok {
		return nil, nil
	}
	devices, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for i := range devices {
		addrs, err := devices[i].Addrs()
		if err != nil {
			continue // it has gone meanwhile
		}
		for _, addr := range addrs {
			if prefix, ok := addr.(*net.IPNet); ok && (prefix.IP.Equal(tcp.IP) || tcp.IP.IsLoopback() && prefix.Contains(tcp.IP)) {
				return &devices[i], nil
			}
		}
	}
	return nil, nil
}
