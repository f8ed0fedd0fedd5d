package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// DefaultAllowAddr lets cameras be where cameras are: public, private and
// loopback addresses. It forbids what no camera has: addresses that are
// unspecified, multicast, broadcast or link-local, and those at which clouds
// hand out credentials to whoever asks.
func DefaultAllowAddr(addr netip.Addr) error {
	addr = embedded(addr.Unmap().WithZone(""))
	switch {
	case !addr.IsValid(), addr.IsUnspecified():
		return errors.New("it is unspecified")
	case addr.IsMulticast():
		return errors.New("it is a multicast address")
	case addr.IsLinkLocalUnicast():
		return errors.New("it is a link-local address")
	}
	if addr.Is4() {
		if first := addr.As4()[0]; first == 0 || first >= 240 {
			return errors.New("it is a reserved address")
		}
	}
	for _, metadata := range [...]string{
		"100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254",
	} {
		if addr == netip.MustParseAddr(metadata) {
			return errors.New("it is a metadata service")
		}
	}
	return nil
}

// embedded returns the IPv4 address that a NAT64 or 6to4 address leads to.
func embedded(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return addr
	}
	b := addr.As16()
	if netip.MustParsePrefix("64:ff9b::/96").Contains(addr) {
		return netip.AddrFrom4([4]byte(b[12:16]))
	}
	if netip.MustParsePrefix("2002::/16").Contains(addr) {
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return addr
}

// dial connects to the host of a URL, at a port of it. It is where names are
// resolved: the policy is asked about each address, and the very address that
// was asked about is dialled. TLS is added here too.
func (o *Options) dial(ctx context.Context, to target, port uint16) (net.Conn, netip.Addr, error) {
	addrs, err := resolve(ctx, to.hostname())
	if err != nil {
		return nil, netip.Addr{}, err
	}
	var refused, failed error
	for i, addr := range addrs {
		if why := o.AllowAddr(addr); why != nil {
			refused = fmt.Errorf("%w: %w", ErrAddress, why)
			continue
		}
		conn, err := o.dialAddr(ctx, to, netip.AddrPortFrom(addr, port), len(addrs)-i)
		if err == nil {
			return conn, addr, nil
		}
		failed = err
		if ctx.Err() != nil {
			break
		}
	}
	if failed != nil {
		return nil, netip.Addr{}, failed
	}
	return nil, netip.Addr{}, refused
}

// maxAddrs bounds how many addresses of a name are tried.
const maxAddrs = 8

func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("the name %q has no address", host)
	}
	return addrs[:min(len(addrs), maxAddrs)], nil
}

// dialAddr connects to an address that the policy let pass. It gives one of
// several addresses its share of the time.
func (o *Options) dialAddr(ctx context.Context, to target, addr netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	conn, err := o.DialContext(ctx, "tcp", net.JoinHostPort(addr.Addr().String(), strconv.Itoa(int(addr.Port()))))
	if err != nil || !to.secure() {
		return conn, err
	}
	config := o.TLSConfig.Clone() // a nil config clones to nil
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.ServerName == "" {
		config.ServerName = to.hostname()
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, handshakeError(err)
	}
	return secured, nil
}
