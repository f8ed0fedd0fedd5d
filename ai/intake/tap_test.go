package intake

import (
	"context"
	"errors"
	"math"
	"testing"

	tapfeed "github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/rpc"
	"github.com/drover-video/drover/ai/schema"
)

func TestAWorkerOfTheTapIsTakenAtItsWord(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	tap := Reports{r.desk}
	in := &schema.Detections{Camera: "door", WallTimeUs: start().UnixMicro() + 5, Worker: "hog", Json: `{"ms":3}`, Detections: []*schema.Detection{{
		Label: "person", Score: 0.5, Box: &schema.Box{X: 0.25, Y: 0.5, Width: 0.125, Height: 0.25}, TrackId: 9, Attributes: map[string]string{"hat": "red"}, Json: `{"a":1}`,
	}}}
	if err := tap.Report(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	in.Detections[0].Attributes["hat"] = "blue" // it is the caller's again
	r.round()
	kept := r.kept("door")
	if len(kept) != 1 {
		t.Fatalf("got %+v", kept)
	}
	d := kept[0]
	if d.Time.UnixMicro() != in.WallTimeUs || d.Worker != "hog" || d.HasFrame || d.Label != "person" || d.Score != 0.5 || d.Box.Width != 0.125 ||
		d.Track != 9 || d.Attributes["hat"] != "red" || string(d.JSON) != `{"a":1}` {
		t.Errorf("got %+v", d)
	}
}

func TestAWorkerOfTheTapIsToldWhatIsWrong(t *testing.T) {
	r := newRig(t, t.TempDir(), func(o *Options) { o.Limits = Limits{WorkerReports: 2, WorkerBytes: 1e6, AllReports: 10} })
	tap := Reports{r.desk}
	now := start().UnixMicro()
	tests := []struct {
		name string
		in   *schema.Detections
		want error
	}{
		{"no camera", &schema.Detections{Camera: "attic", WallTimeUs: now}, tapfeed.ErrUnknownCamera},
		{"no frame", &schema.Detections{Camera: "door"}, rpc.ErrInvalid},
		{"a frame nobody knows", &schema.Detections{Camera: "door", Epoch: 5, Worker: "b"}, rpc.ErrInvalid},
		{"NaN", &schema.Detections{Camera: "door", WallTimeUs: now, Detections: []*schema.Detection{{Label: "a", Score: float32(math.NaN())}}}, rpc.ErrInvalid},
		{"a million boxes", &schema.Detections{Camera: "door", WallTimeUs: now, Detections: make([]*schema.Detection, 1e6)}, rpc.ErrInvalid},
	}
	for _, test := range tests {
		if err := tap.Report(context.Background(), test.in); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	var err error
	for range 5 {
		err = tap.Report(context.Background(), &schema.Detections{Camera: "yard", WallTimeUs: now})
	}
	if !errors.Is(err, rpc.ErrTooFast) {
		t.Errorf("a flood: %v", err)
	}
}
