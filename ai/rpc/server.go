// Package rpc serves the tap by gRPC, on a listener of its own.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
)

// Bounds of what one client may have the server hold.
const (
	maxConnections = 512
	maxCalls       = 64        // of one connection at once
	maxRequest     = 320 << 10 // 4096 cameras of the longest names; a report needs half of that
	maxHeader      = 16 << 10
)

// Options of a server. Hub and Log are needed.
type Options struct {
	Hub     *feed.Hub
	Reports Reports // nil: reports are refused as not implemented
	Log     *slog.Logger
}

// Server answers calls of schema.Tap.
type Server struct {
	schema.UnimplementedTapServer

	options Options
	buffers buffers
	serving context.Context // of Serve

	decoding chan struct{} // has a token for each report that is decoded
}

// New returns a server that Serve has yet to start.
func New(options Options) (*Server, error) {
	if options.Hub == nil || options.Log == nil {
		return nil, errors.New("rpc: Hub and Log are needed")
	}
	return &Server{options: options, decoding: make(chan struct{}, maxDecoded)}, nil
}

// Serve answers on the listener until ctx ends, and closes it. Calls under way end then
// with UNAVAILABLE. It is called once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	s.serving = ctx
	server := grpc.NewServer(
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxConcurrentStreams(maxCalls),
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.ConnectionTimeout(10*time.Second),
		// A worker that is gone without a word, or stopped, is noticed by this; and one that
		// asks for nothing does not take a connection from others for good.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 20 * time.Second, MaxConnectionIdle: 10 * time.Minute}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
	)
	schema.RegisterTapServer(server, s)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(netutil.LimitListener(listener, maxConnections)) }()
	select {
	case err := <-ended:
		server.Stop()
		return fmt.Errorf("serve gRPC on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	// Handlers end by themselves, for ctx has; what they say still gets a moment.
	timer := time.AfterFunc(time.Second, server.Stop)
	server.GracefulStop()
	timer.Stop()
	<-ended
	return nil
}

// asStatus turns what a subscription ends with into what a worker is told.
func asStatus(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, feed.ErrRequest):
		return status.Error(codes.InvalidArgument, err.Error())
	case errors.Is(err, feed.ErrUnknownCamera), errors.Is(err, feed.ErrRemoved):
		return status.Error(codes.NotFound, err.Error())
	case errors.Is(err, feed.ErrTooMany):
		return status.Error(codes.ResourceExhausted, err.Error())
	case errors.Is(err, feed.ErrClosed):
		return status.Error(codes.Unavailable, err.Error())
	default:
		return err // gRPC's own, or a context's
	}
}
