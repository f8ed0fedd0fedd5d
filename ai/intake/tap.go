package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	tapfeed "github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/rpc"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/core/detection"
)

// Reports is the desk as workers of the tap see it.
type Reports struct{ Desk *Desk }

// Report implements rpc.Reports.
func (r Reports) Report(_ context.Context, in *schema.Detections) error {
	err := r.Desk.Report(fromSchema(in))
	var refused *detection.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refused):
		return err
	case refused.Reason == detection.ReasonCamera:
		return tapfeed.ErrUnknownCamera
	case refused.Reason == detection.ReasonRate, refused.Reason == detection.ReasonStorage:
		return fmt.Errorf("%w: %w", rpc.ErrTooFast, err)
	default:
		return fmt.Errorf("%w: %w", rpc.ErrInvalid, err)
	}
}

func fromSchema(in *schema.Detections) detection.Report {
	r := detection.Report{
		Camera: in.GetCamera(), Source: in.GetSource(), Worker: in.GetWorker(),
		Epoch: in.GetEpoch(), Sequence: in.GetSequence(), HasFrame: in.GetEpoch() != 0 || in.GetSequence() != 0,
		JSON: json.RawMessage(in.GetJson()),
	}
	if us := in.GetWallTimeUs(); us != 0 {
		r.Time = time.UnixMicro(us)
	}
	// One more than is taken, so that they are found to be too many.
	all := in.GetDetections()
	all = all[:min(len(all), detection.MaxDetections+1)]
	r.Detections = make([]detection.Detection, len(all))
	for i, d := range all {
		out := &r.Detections[i]
		*out = detection.Detection{
			Label: d.GetLabel(), Score: float64(d.GetScore()), Track: d.GetTrackId(),
			Attributes: maps.Clone(d.GetAttributes()), JSON: json.RawMessage(d.GetJson()),
		}
		if b := d.GetBox(); b != nil {
			out.Box = &detection.Box{X: float64(b.GetX()), Y: float64(b.GetY()), Width: float64(b.GetWidth()), Height: float64(b.GetHeight())}
		}
	}
	return r
}
