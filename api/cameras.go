package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/event"
)

type cameraPath struct {
	ID string `path:"id" doc:"The camera's id"`
}

type cameraChange struct {
	ID   string `path:"id" doc:"The camera's id"`
	Body CameraFields
}

type cameraAnswer struct{ Body Camera }

type cameraList struct {
	Body struct {
		Cameras []Camera `json:"cameras" nullable:"false"`
	}
}

type newCameraAnswer struct {
	Location string `header:"Location"`
	Body     Camera
}

func (rs *routes) registerCameras(api huma.API) {
	const path = "/api/v1/cameras"
	one := path + "/{id}"
	huma.Register(api, operation("list-cameras", http.MethodGet, path, "All cameras"), rs.listCameras)
	huma.Register(api, created(operation("add-camera", http.MethodPost, path, "Add a camera",
		http.StatusConflict)), rs.addCamera)
	huma.Register(api, operation("get-camera", http.MethodGet, one, "One camera", http.StatusNotFound), rs.getCamera)
	huma.Register(api, operation("update-camera", http.MethodPatch, one, "Change what the body names of a camera",
		http.StatusNotFound, http.StatusConflict), rs.updateCamera)
	huma.Register(api, operation("remove-camera", http.MethodDelete, one, "Remove a camera",
		http.StatusNotFound, http.StatusConflict), rs.removeCamera)
	huma.Register(api, operation("restart-camera", http.MethodPost, one+"/restart", "Connect to a camera anew",
		http.StatusNotFound), rs.restartCamera)
}

// operation describes a handler. Its errors are those that are not everybody's.
func operation(id, method, path, summary string, errs ...int) huma.Operation {
	if method == http.MethodPost || method == http.MethodPatch {
		errs = append(errs, http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	}
	if writes(method) {
		errs = append(errs, http.StatusInsufficientStorage)
	}
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{"cameras"},
		Errors: append(errs, http.StatusInternalServerError),
		// Huma counts the byte that would be one too many.
		MaxBodyBytes:    maxBodyBytes + 1,
		BodyReadTimeout: bodyTimeout,
	}
}

func created(op huma.Operation) huma.Operation {
	op.DefaultStatus = http.StatusCreated
	return op
}

func (rs *routes) listCameras(context.Context, *struct{}) (*cameraList, error) {
	views := rs.options.Cameras.List()
	list := &cameraList{}
	list.Body.Cameras = make([]Camera, len(views))
	for i, v := range views {
		list.Body.Cameras[i] = rs.cameraOf(v)
	}
	return list, nil
}

func (rs *routes) getCamera(_ context.Context, in *cameraPath) (*cameraAnswer, error) {
	view, ok := rs.options.Cameras.Get(in.ID)
	if !ok {
		return nil, noCamera(in.ID)
	}
	return &cameraAnswer{Body: rs.cameraOf(view)}, nil
}

func (rs *routes) addCamera(ctx context.Context, in *struct{ Body NewCamera }) (*newCameraAnswer, error) {
	spec := camera.Spec{ID: in.Body.ID, Enabled: true, Origin: camera.OriginAPI}
	if err := in.Body.apply(&spec); err != nil {
		return nil, rs.problemOf(err, in.Body.ID)
	}
	if err := rs.options.Cameras.Add(ctx, spec); err != nil {
		return nil, rs.problemOf(err, in.Body.ID)
	}
	rs.publish(event.KindCameraAdded, spec.ID)
	view, ok := rs.options.Cameras.Get(spec.ID)
	if !ok { // It was removed again by somebody quicker than this answer.
		view = camera.View{Spec: spec, Status: camera.Status{State: camera.StateDisabled}}
	}
	return &newCameraAnswer{Location: "/api/v1/cameras/" + spec.ID, Body: rs.cameraOf(view)}, nil
}

func (rs *routes) updateCamera(ctx context.Context, in *cameraChange) (*cameraAnswer, error) {
	view, err := rs.options.Cameras.Update(ctx, in.ID, in.Body.apply)
	if err != nil {
		return nil, rs.problemOf(err, in.ID)
	}
	rs.publish(event.KindCameraUpdated, in.ID)
	return &cameraAnswer{Body: rs.cameraOf(view)}, nil
}

func (rs *routes) publish(kind event.Kind, id string) {
	rs.options.Events.Publish(event.Event{Kind: kind, Camera: id})
}

func (rs *routes) removeCamera(ctx context.Context, in *cameraPath) (*struct{}, error) {
	if err := rs.options.Cameras.Remove(ctx, in.ID); err != nil {
		return nil, rs.problemOf(err, in.ID)
	}
	rs.publish(event.KindCameraRemoved, in.ID)
	rs.options.Players.Forget(in.ID)
	if err := rs.options.Shares.RevokeOf(ctx, in.ID); err != nil {
		// They are over in memory, and on disk since the camera was removed there.
		rs.options.Log.Error("the shares of a removed camera could not be revoked again", "camera", in.ID, "err", err)
	}
	return nil, nil
}

func (rs *routes) restartCamera(ctx context.Context, in *cameraPath) (*struct{}, error) {
	if err := rs.options.Cameras.Restart(ctx, in.ID); err != nil {
		return nil, rs.problemOf(err, in.ID)
	}
	return nil, nil
}
