package rpc

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/core/detection"
)

const (
	// maxDecoded is how many reports there are in memory at once, decoded: each takes a
	// multiple of its bytes.
	maxDecoded = 16

	// detectionsField is the number of Detections.detections.
	detectionsField = 7
)

// Unmarshal implements encoding.CodecV2. A report stays as it came, in what is unknown
// of it: it is decoded by whoever has room for it.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if report, ok := v.(*schema.Detections); ok {
		report.ProtoReflect().SetUnknown(data.Materialize())
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}

// decoded calls do with a report that codec left as it came, when there is room for it.
func (s *Server) decoded(ctx context.Context, report *schema.Detections, do func(*schema.Detections) error) error {
	select {
	case s.decoding <- struct{}{}:
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	defer func() { <-s.decoding }()
	// One more than is taken, so that they are found to be too many.
	wire := upTo(report.ProtoReflect().GetUnknown(), detection.MaxDetections+1)
	var in schema.Detections
	if err := proto.Unmarshal(wire, &in); err != nil {
		return status.Error(codes.InvalidArgument, "this is no report: "+err.Error())
	}
	return do(&in)
}

// upTo cuts a report off behind its nth detection: one of two bytes takes more than
// fifty times as much where it is decoded.
func upTo(wire []byte, n int) []byte {
	for rest := wire; len(rest) > 0; {
		number, _, size := protowire.ConsumeField(rest)
		if size < 0 {
			break // as who decodes it will find
		}
		rest = rest[size:]
		if number == detectionsField {
			if n--; n == 0 {
				return wire[:len(wire)-len(rest)]
			}
		}
	}
	return wire
}
