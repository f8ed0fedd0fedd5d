package tap

import (
	"context"
	"time"

	"github.com/drover-video/drover/ai/shm"
)

// share takes frames in shared memory.
func (c *Client) share(ctx context.Context, request *Request, take func(*Frame) error) error {
	conn, err := shm.Open(ctx, c.path, request.message())
	if err != nil {
		return err
	}
	defer conn.Close()
	var frame Frame
	for {
		item, err := conn.Next(ctx)
		if err != nil {
			return err
		}
		if item.Status != nil {
			if request.Status != nil {
				request.Status(item.Status)
			}
			continue
		}
		s := &item.Frame.Slot
		frame = Frame{
			Camera: item.Frame.Config.Camera, Source: item.Frame.Config.Source, Config: item.Frame.Config,
			Sequence: s.Sequence, Epoch: s.Epoch, Keyframe: item.Frame.Keyframe(), PTS: s.PTS, DTS: s.DTS,
			Wall: time.UnixMicro(s.Wall), SenderReport: s.Flags&shm.FlagSenderReport != 0, Arrival: time.UnixMicro(s.Arrival),
			Missed: item.Frame.Missed, Lost: s.Lost, Data: item.Frame.Data,
		}
		if err := take(&frame); err != nil {
			return err
		}
	}
}
