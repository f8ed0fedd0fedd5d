package tap

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/ai/shm"
)

// trackKey is one track of the cameras that are watched.
type trackKey struct {
	camera string
	track  uint32
}

// watch takes frames by gRPC.
func (c *Client) watch(ctx context.Context, request *Request, take func(*Frame) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := schema.NewTapClient(c.conn).Watch(ctx, request.message())
	if err != nil {
		return err
	}
	configs := map[trackKey]*schema.Config{}
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		switch body := m.GetBody().(type) {
		case *schema.Message_Status:
			if request.Status != nil {
				request.Status(body.Status)
			}
		case *schema.Message_Config:
			configs[trackKey{body.Config.GetCamera(), body.Config.GetTrack()}] = body.Config
		case *schema.Message_Frame:
			f := body.Frame
			config := configs[trackKey{f.GetCamera(), f.GetTrack()}]
			if config == nil {
				return errors.New("a frame came before its configuration")
			}
			if err := take(&Frame{
				Camera: f.Camera, Source: f.Source, Config: config, Sequence: f.Sequence, Epoch: f.Epoch, Keyframe: f.Keyframe,
				PTS: f.Pts, DTS: f.Dts, Wall: time.UnixMicro(f.WallTimeUs), Arrival: time.UnixMicro(f.ArrivalUs),
				SenderReport: f.WallSource == schema.WallSource_WALL_SOURCE_SENDER_REPORT,
				Missed:       f.Missed, Lost: f.Lost, Data: f.Data,
			}); err != nil {
				return err
			}
		}
	}
}

// passing reports whether trying again may mend an error.
func passing(err error) bool {
	if refusal := (*shm.Refusal)(nil); errors.As(err, &refusal) {
		return refusal.Code == "unavailable" || refusal.Code == "resource_exhausted"
	}
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.Unimplemented, codes.PermissionDenied, codes.Unauthenticated:
		return false
	}
	return !errors.Is(err, shm.ErrLayout)
}
