package rpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
)

// Watch implements schema.TapServer.
func (s *Server) Watch(in *schema.WatchRequest, stream grpc.ServerStreamingServer[schema.Message]) error {
	request, err := feed.NewRequest(in)
	if err != nil {
		return asStatus(err)
	}
	mailbox, err := s.options.Hub.OpenMailbox(request)
	if err != nil {
		return asStatus(err)
	}
	defer mailbox.Close()
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.serving, cancel)()
	log := s.options.Log.With("worker", request.Worker)
	if from, ok := peer.FromContext(ctx); ok {
		log = log.With("from", from.Addr.String())
	}
	log.Info("a worker watches", "cameras", len(request.Cameras), "all", len(request.Cameras) == 0)
	err = s.send(ctx, mailbox, stream)
	if s.serving.Err() != nil {
		err = feed.ErrClosed
	}
	log.Info("a worker has left", "reason", err)
	return asStatus(err)
}

// send gives the stream what is in the mailbox. Where the worker does not read, it waits
// in SendMsg, and the mailbox lets go of what is too old meanwhile.
func (s *Server) send(ctx context.Context, mailbox *feed.Mailbox, stream grpc.ServerStream) error {
	for {
		d, err := mailbox.Next(ctx)
		if err != nil {
			return err
		}
		out := s.buffers.encode(&d)
		if d.Frame.Frame != nil {
			d.Frame.Release()
		}
		if err := stream.SendMsg(out); err != nil {
			return err
		}
	}
}
