package rpc

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
)

// Reports is who takes what workers saw. It is called from many goroutines, and keeps
// nothing of what it is given.
type Reports interface {
	// Report takes one. The error is feed.ErrUnknownCamera, ErrInvalid or ErrTooFast, or
	// wraps one of them with what to do; any other is a failure of the server.
	Report(ctx context.Context, in *schema.Detections) error
}

// Errors of Reports.
var (
	ErrInvalid = errors.New("the report makes no sense")
	ErrTooFast = errors.New("this worker reports more than it may")
)

// Report implements schema.TapServer.
func (s *Server) Report(stream grpc.ClientStreamingServer[schema.Detections, schema.ReportSummary]) error {
	var taken schema.ReportSummary
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&taken)
		}
		if err != nil {
			return err
		}
		if err := s.report(stream.Context(), in, &taken); err != nil {
			return err
		}
	}
}

// ReportOne implements schema.TapServer.
func (s *Server) ReportOne(ctx context.Context, in *schema.Detections) (*schema.ReportSummary, error) {
	var taken schema.ReportSummary
	if err := s.report(ctx, in, &taken); err != nil {
		return nil, err
	}
	return &taken, nil
}

func (s *Server) report(ctx context.Context, in *schema.Detections, taken *schema.ReportSummary) error {
	if s.options.Reports == nil {
		return status.Error(codes.Unimplemented, "this server takes no reports of workers")
	}
	return s.decoded(ctx, in, func(in *schema.Detections) error { return s.take(ctx, in, taken) })
}

func (s *Server) take(ctx context.Context, in *schema.Detections, taken *schema.ReportSummary) error {
	err := s.options.Reports.Report(ctx, in)
	switch {
	case err == nil:
		taken.Reports++
		taken.Detections += uint64(len(in.GetDetections()))
		return nil
	case errors.Is(err, feed.ErrUnknownCamera):
		return status.Error(codes.NotFound, err.Error())
	case errors.Is(err, ErrInvalid):
		return status.Error(codes.InvalidArgument, err.Error())
	case errors.Is(err, ErrTooFast):
		return status.Error(codes.ResourceExhausted, err.Error())
	default:
		s.options.Log.Error("a report of a worker was not taken", "camera", in.GetCamera(), "err", err)
		return status.Error(codes.Internal, "the report was not taken: the server's log says why")
	}
}
