package session

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/drover-video/drover/core/secret"
)

// Transport says how RTP travels from the camera.
type Transport string

// The transports of a session. Which to try next is the caller's decision.
const (
	TCP       Transport = "tcp"       // interleaved with the conversation
	UDP       Transport = "udp"       // unicast, a pair of ports for each media
	Multicast Transport = "multicast" // UDP to a group that others may have joined too
	Tunnel    Transport = "tunnel"    // as TCP, within a GET and a POST of HTTP
)

// Defaults of Options.
const (
	DefaultRequestTimeout = 10 * time.Second
	DefaultReadTimeout    = 10 * time.Second

	// DefaultFirstPacketTimeout is how long UDP may take to get through; what
	// comes later than that was dropped by a firewall.
	DefaultFirstPacketTimeout = 5 * time.Second

	DefaultUserAgent = "Drover"
)

// Options say which camera to talk to and how.
type Options struct {
	// URL is rtsp:// or rtsps://, without a login.
	URL string

	// Username and Password are as the user knows them, not percent-encoded.
	// They are sent to the host and port of URL only, never along a redirect.
	Username string
	Password secret.String

	// Transport is TCP when empty.
	Transport Transport

	// DialContext opens connections to addresses that AllowAddr let pass; it
	// is never given a name. Default: a net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// AllowAddr decides which resolved addresses may be dialled, redirects
	// included. Default: DefaultAllowAddr.
	AllowAddr func(netip.Addr) error

	// TLSConfig is for rtsps; the function of that name makes it for a kind of
	// trust. Default: TrustSystem. ServerName is set to the host of the URL
	// when it is empty.
	TLSConfig *tls.Config

	// RequestTimeout bounds connecting, and the wait for each reply.
	RequestTimeout time.Duration

	// ReadTimeout is how long Run bears that no RTP packet comes.
	ReadTimeout time.Duration

	// FirstPacketTimeout is how long Run waits for the first, where that is
	// less than ReadTimeout. Default: DefaultFirstPacketTimeout over UDP,
	// ReadTimeout over the others.
	FirstPacketTimeout time.Duration

	// Buffers are what datagrams are read into. Sessions should share them.
	Buffers *Buffers

	UserAgent string
	Logger    *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Transport == "" {
		o.Transport = TCP
	}
	if o.DialContext == nil {
		o.DialContext = (&net.Dialer{}).DialContext
	}
	if o.AllowAddr == nil {
		o.AllowAddr = DefaultAllowAddr
	}
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = DefaultReadTimeout
	}
	if o.FirstPacketTimeout <= 0 {
		o.FirstPacketTimeout = o.ReadTimeout
		if o.Transport == UDP || o.Transport == Multicast {
			o.FirstPacketTimeout = DefaultFirstPacketTimeout
		}
	}
	if o.Buffers == nil {
		o.Buffers = NewBuffers(0)
	}
	if o.UserAgent == "" {
		o.UserAgent = DefaultUserAgent
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
