package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/camera"
)

type snapshotAnswer struct {
	ContentType  string `header:"Content-Type"`
	LastModified string `header:"Last-Modified" doc:"When the camera took it, to the second"`
	Body         []byte
}

func (rs *routes) registerSnapshot(api huma.API) {
	op := operation("get-snapshot", http.MethodGet, "/api/v1/cameras/{id}/snapshot.jpg",
		"The newest picture of a camera that sends MJPEG. Of others there is none without transcoding.",
		http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable)
	op.Responses = map[string]*huma.Response{"200": {
		Description: "A JPEG file, as the camera sent it",
		Content:     map[string]*huma.MediaType{"image/jpeg": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
	huma.Register(api, op, rs.snapshot)
}

func (rs *routes) snapshot(_ context.Context, in *cameraPath) (*snapshotAnswer, error) {
	picture, err := rs.options.Pictures.Picture(in.ID)
	switch {
	case err == nil:
		return &snapshotAnswer{ContentType: "image/jpeg", LastModified: picture.At.UTC().Format(http.TimeFormat), Body: picture.JPEG}, nil
	case errors.Is(err, camera.ErrNotFound):
		return nil, noCamera(in.ID)
	case errors.Is(err, camera.ErrNoPicture):
		return nil, huma.ErrorWithHeaders(problem(problemNoPicture,
			"camera "+in.ID+" is not live, or has sent no picture yet: try again in a moment"), http.Header{"Retry-After": {"2"}})
	default:
		return nil, problem(problemNoSnapshot,
			"camera "+in.ID+" sends no MJPEG, and Drover does not transcode video: add a source of the camera that is MJPEG, or watch /hls/"+in.ID+"/index.m3u8")
	}
}
