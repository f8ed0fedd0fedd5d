package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/drover-video/drover/core/detection"
)

// liveReports is how many reports are sent at once.
const liveReports = 64

func (rs *routes) detections(ctx context.Context, in *detectionsRequest) (*huma.StreamResponse, error) {
	if rs.options.Detections == nil {
		return nil, noDetections()
	}
	if !strings.Contains(in.Accept, "text/event-stream") {
		return rs.keptDetections(ctx, in)
	}
	if in.Camera == "" {
		return nil, problem(problemInvalid, "camera: a stream is of one camera", &huma.ErrorDetail{Location: "query.camera", Message: "a stream is of one camera"})
	}
	if _, ok := rs.options.Cameras.Get(in.Camera); !ok {
		return nil, noCamera(in.Camera)
	}
	select {
	case rs.watchers <- struct{}{}:
	default:
		return nil, huma.ErrorWithHeaders(
			problem(problemBusy, "too many listen already: try again in a moment"), http.Header{"Retry-After": {"10"}})
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer func() { <-rs.watchers }()
		rs.streamDetections(ctx, in)
	}}, nil
}

func (rs *routes) keptDetections(ctx context.Context, in *detectionsRequest) (*huma.StreamResponse, error) {
	after, err := detection.ParseCursor(in.Cursor)
	if err != nil {
		return nil, queryProblem("cursor", err)
	}
	from, to, err := seenBetween(in.From, in.To)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	all, cursor, err := rs.options.Detections.Detections(ctx, detection.Query{
		Camera: in.Camera, From: from, To: to, Label: in.Label, MinScore: in.MinScore,
		Newest: in.Order == "newest", After: after, Limit: in.Limit,
	})
	if err != nil {
		return nil, rs.unreadable(err)
	}
	list := DetectionList{Detections: make([]KeptDetection, len(all)), Cursor: cursor.String()}
	for i := range all {
		list.Detections[i] = keptOf(&all[i])
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		ctx.SetStatus(http.StatusOK)
		// The error is that of a client that is gone.
		_ = json.NewEncoder(ctx.BodyWriter()).Encode(list)
	}}, nil
}

// streamDetections sends reports of a camera until the client leaves, is too slow to
// take them, the camera is removed, or the server stops.
func (rs *routes) streamDetections(ctx huma.Context, in *detectionsRequest) {
	request, writer := humachi.Unwrap(ctx)
	ctx.SetHeader("Content-Type", "text/event-stream")
	ctx.SetHeader("X-Accel-Buffering", "no") // For nginx.
	ctx.SetStatus(http.StatusOK)
	if request.Method == http.MethodHead {
		return
	}
	// Before the first byte: who has that hears of all that is seen from then on.
	last := rs.options.Detections.Newest(in.Camera)
	if id, err := strconv.ParseUint(in.LastID, 10, 64); err == nil {
		last = id
	}
	flush := http.NewResponseController(writer).Flush
	if _, err := io.WriteString(writer, "retry: 2000\n\n"); err != nil || flush() != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		if _, ok := rs.options.Cameras.Get(in.Camera); !ok {
			return // and who asks again is told that there is none
		}
		batch := rs.options.Detections.After(in.Camera, last, liveReports)
		last = batch.Last
		text := appendReports(nil, batch, in)
		if len(text) == 0 {
			select {
			case <-request.Context().Done():
				return
			case <-batch.Changed:
				continue
			case <-beat.C:
				text = append(text, ":\n\n"...)
			}
		}
		if _, err := writer.Write(text); err != nil || flush() != nil {
			return
		}
	}
}

func appendReports(dst []byte, batch detection.Batch, in *detectionsRequest) []byte {
	if batch.Missed > 0 {
		dst = fmt.Appendf(dst, "event: missed\ndata: {\"missed\":%d}\n\n", batch.Missed)
	}
	for i := range batch.Reports {
		r := &batch.Reports[i]
		live := liveOf(&r.Report)
		if in.Label != "" || in.MinScore > 0 {
			kept := live.Detections[:0]
			for _, d := range live.Detections {
				if d.Score >= in.MinScore && (in.Label == "" || d.Label == in.Label) {
					kept = append(kept, d)
				}
			}
			live.Detections = kept
		}
		data, err := json.Marshal(live)
		if err != nil { // Its JSON was checked when it was taken.
			continue
		}
		dst = fmt.Appendf(dst, "id: %d\ndata: %s\n\n", r.Number, data)
	}
	return dst
}
