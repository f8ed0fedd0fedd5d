package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/camera"
)

// FrameFormat is how a single frame is wrapped.
type FrameFormat string

// The formats of a single frame.
const (
	FrameMP4    FrameFormat = "mp4"    // a file of one picture
	FrameAnnexB FrameFormat = "annexb" // start codes and parameter sets, for decoders
)

// StillFrame is one keyframe of a camera, by itself.
type StillFrame struct {
	Data            []byte
	Codec           string // "H264" or "H265"
	Source          string
	Sequence, Epoch uint64
	Wall            time.Time
}

// Stills finds a camera's newest keyframe. Errors are camera.ErrNotFound, of a camera or
// of its source, camera.ErrNoPicture, and ErrNoStill.
type Stills interface {
	Still(camera, source string, format FrameFormat) (StillFrame, error)
}

// ErrNoStill is that a frame of the camera's codec cannot be had in this format.
var ErrNoStill = errors.New("no frame in this format")

type frameRequest struct {
	ID     string `path:"id" doc:"The camera's id"`
	Format string `query:"format" enum:"mp4,annexb" doc:"Without it Accept decides, where it says video/mp4, video/h264 or video/h265; else it is mp4"`
	Source string `query:"source" maxLength:"63" doc:"The camera's first source, unless another is named"`
	Accept string `header:"Accept"`
}

type frameAnswer struct {
	ContentType  string `header:"Content-Type"`
	LastModified string `header:"Last-Modified" doc:"When it was taken, to the second"`
	Source       string `header:"Drover-Source"`
	Sequence     string `header:"Drover-Sequence" doc:"As workers report detections against it"`
	Epoch        string `header:"Drover-Epoch"`
	Time         string `header:"Drover-Time" doc:"When it was taken, RFC 3339 with microseconds"`
	Body         []byte
}

func (rs *routes) registerFrames(api huma.API) {
	op := operation("get-latest-frame", http.MethodGet, "/api/v1/cameras/{id}/frames/latest",
		"The newest keyframe of a camera of H.264 or H.265, not decoded: an MP4 of one picture, which browsers paint, or the bytes that a decoder is fed",
		http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable)
	binary := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	op.Responses = map[string]*huma.Response{"200": {
		Description: "One frame",
		Content:     map[string]*huma.MediaType{"video/mp4": binary, "video/h264": binary, "video/h265": binary},
	}}
	huma.Register(api, op, rs.latestFrame)
}

func (in *frameRequest) format() FrameFormat {
	annexB := strings.Contains(in.Accept, "video/h264") || strings.Contains(in.Accept, "video/h265")
	if in.Format == string(FrameAnnexB) || in.Format == "" && annexB && !strings.Contains(in.Accept, "video/mp4") {
		return FrameAnnexB
	}
	return FrameMP4
}

func (rs *routes) latestFrame(_ context.Context, in *frameRequest) (*frameAnswer, error) {
	format := in.format()
	still, err := rs.options.Stills.Still(in.ID, in.Source, format)
	switch {
	case err == nil:
	case errors.Is(err, camera.ErrNotFound):
		if _, known := rs.options.Cameras.Get(in.ID); known && in.Source != "" {
			return nil, problem(problemNotFound, "camera "+in.ID+" has no source of this name")
		}
		return nil, noCamera(in.ID)
	case errors.Is(err, camera.ErrNoPicture):
		return nil, huma.ErrorWithHeaders(problem(problemNoPicture,
			"camera "+in.ID+" is not live, or has sent no keyframe yet: try again in a moment"), http.Header{"Retry-After": {"2"}})
	default:
		return nil, problem(problemNoSnapshot,
			"a frame of camera "+in.ID+" cannot be had in this form without decoding it: of one that sends MJPEG, ask /api/v1/cameras/"+in.ID+"/snapshot.jpg")
	}
	answer := &frameAnswer{
		ContentType: "video/mp4", LastModified: still.Wall.UTC().Format(http.TimeFormat), Source: still.Source,
		Sequence: strconv.FormatUint(still.Sequence, 10), Epoch: strconv.FormatUint(still.Epoch, 10),
		Time: still.Wall.UTC().Format("2006-01-02T15:04:05.000000Z07:00"), Body: still.Data,
	}
	if format == FrameAnnexB {
		answer.ContentType = "video/" + strings.ToLower(still.Codec)
	}
	return answer, nil
}

// describeTap describes what is no JSON: the tap by WebSocket.
func describeTap(api huma.API) {
	parameter := func(name, description string, schema *huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: description, Schema: schema}
	}
	text, number := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeNumber}
	cameras := parameter("camera", `Id of a camera, once for each; or "*" for all`, &huma.Schema{Type: huma.TypeArray, Items: text})
	cameras.Required = true
	said := func(description string) *huma.Response {
		return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/problem+json": {}}}
	}
	api.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "watch-tap", Method: http.MethodGet, Path: tapPath, Tags: []string{"workers"},
		Summary:     "Frames for AI workers by WebSocket",
		Description: "Each binary message is a Message of tap.proto, as by gRPC. The server closes with 4404 when the cameras have been removed, and with 4503 when it stops.",
		Parameters: []*huma.Param{
			cameras,
			parameter("source", "main, sub, or another name; the first where a camera has none such", text),
			parameter("selection", "all or keyframes", text),
			parameter("max_fps", "At most so many frames per second and camera", number),
			parameter("format", "annex_b or length_prefixed", text),
			parameter("audio", "true for frames of sound, too", &huma.Schema{Type: huma.TypeBoolean}),
			parameter("max_behind_ms", "How old what waits may grow; 2000 by default", &huma.Schema{Type: huma.TypeInteger}),
			parameter("worker", "A name for the server's counters", text),
		},
		Responses: map[string]*huma.Response{
			"101": {Description: "It is a WebSocket from here on"},
			"403": said("The page is of another site"), "404": said("There is no such camera"), "422": said("The request makes no sense"),
			"426": said("It was not asked for as a WebSocket"), "503": said("There are as many workers as the server takes"),
		},
	})
}

// tapPath is where the tap is by WebSocket.
const tapPath = "/api/v1/tap"
