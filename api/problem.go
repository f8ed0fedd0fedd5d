package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/camera"
)

// A kind is a sort of problem. Its Type is part of the contract: scripts go by it.
type kind struct {
	path   string // the Type of RFC 9457, relative to this server
	status int
	title  string
}

// The kinds of problems.
var (
	problemMalformed         = kind{"/problems/malformed-body", http.StatusBadRequest, "The body cannot be read"}
	problemCrossOrigin       = kind{"/problems/cross-origin", http.StatusForbidden, "Another site may not change anything here"}
	problemHost              = kind{"/problems/host-not-allowed", http.StatusForbidden, "This server is not to be asked by this name"}
	problemNotFound          = kind{"/problems/not-found", http.StatusNotFound, "There is nothing here"}
	problemNoCamera          = kind{"/problems/camera-not-found", http.StatusNotFound, "There is no such camera"}
	problemMethod            = kind{"/problems/method-not-allowed", http.StatusMethodNotAllowed, "This cannot be done here"}
	problemNotAccepted       = kind{"/problems/not-acceptable", http.StatusNotAcceptable, "There is no answer of this kind"}
	problemTimeout           = kind{"/problems/request-timeout", http.StatusRequestTimeout, "The body did not come in time"}
	problemCameraExists      = kind{"/problems/camera-exists", http.StatusConflict, "There is a camera of this id"}
	problemNoSnapshot        = kind{"/problems/no-snapshot", http.StatusConflict, "There is no JPEG of this camera"}
	problemNoPicture         = kind{"/problems/camera-not-live", http.StatusServiceUnavailable, "The camera has not sent anything yet"}
	problemReadOnly          = kind{"/problems/camera-read-only", http.StatusConflict, "This camera cannot be changed here"}
	problemTooLarge          = kind{"/problems/body-too-large", http.StatusRequestEntityTooLarge, "The body is too large"}
	problemMediaType         = kind{"/problems/unsupported-media-type", http.StatusUnsupportedMediaType, "The body is of the wrong kind"}
	problemInvalid           = kind{"/problems/invalid-request", http.StatusUnprocessableEntity, "Something in the request is wrong"}
	problemNoRule            = kind{"/problems/rule-not-found", http.StatusNotFound, "There is no such rule"}
	problemNoDetections      = kind{"/problems/no-detections", http.StatusServiceUnavailable, "Detections cannot be kept or read now"}
	problemNoShare           = kind{"/problems/share-not-found", http.StatusNotFound, "There is no such share"}
	problemShares            = kind{"/problems/too-many-shares", http.StatusConflict, "There are too many shares"}
	problemShareInvalid      = kind{"/problems/share-invalid", http.StatusForbidden, "This link is not valid"}
	problemShareRevoked      = kind{"/problems/share-revoked", http.StatusForbidden, "This link is no longer valid"}
	problemShareExpired      = kind{"/problems/share-expired", http.StatusGone, "This link has expired"}
	problemShareFull         = kind{"/problems/share-full", http.StatusTooManyRequests, "Too many watch by this link"}
	problemNoArchive         = kind{"/problems/archive-off", http.StatusNotFound, "Nothing is recorded here"}
	problemNotRecorded       = kind{"/problems/not-recorded", http.StatusConflict, "Nothing of this camera is recorded"}
	problemNoBookmark        = kind{"/problems/bookmark-not-found", http.StatusNotFound, "There is no such bookmark"}
	problemBookmarks         = kind{"/problems/too-many-bookmarks", http.StatusConflict, "There are too many bookmarks"}
	problemNoRoom            = kind{"/problems/no-room", http.StatusServiceUnavailable, "There is no room for another viewer"}
	problemConnections       = kind{"/problems/too-many-connections", http.StatusServiceUnavailable, "There are too many connections"}
	problemClientConnections = kind{"/problems/too-many-connections-of-one-address", http.StatusTooManyRequests, "There are too many connections from one address"}
	problemBusy              = kind{"/problems/too-many-requests", http.StatusTooManyRequests, "Too much at once"}
	problemDiskFull          = kind{"/problems/disk-full", http.StatusInsufficientStorage, "The server's disk is full"}
	problemInternal          = kind{"/problems/internal", http.StatusInternalServerError, "The server failed"}
)

// kindOf returns the kind of a problem that huma found.
func kindOf(status int) kind {
	for _, k := range []kind{problemMalformed, problemNotFound, problemMethod, problemNotAccepted, problemTimeout,
		problemTooLarge, problemMediaType, problemInvalid} {
		if k.status == status {
			return k
		}
	}
	return problemInternal
}

// problem returns an error that is answered as problem details.
func problem(k kind, detail string, errs ...*huma.ErrorDetail) *huma.ErrorModel {
	return &huma.ErrorModel{Type: k.path, Title: k.title, Status: k.status, Detail: detail, Errors: errs}
}

// writeProblem answers with a problem where huma is not at work.
func writeProblem(w http.ResponseWriter, p *huma.ErrorModel) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "private, no-store")
	w.WriteHeader(p.Status)
	// The error is that of a client that is gone.
	_ = json.NewEncoder(w).Encode(p)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, problem(problemNotFound, "this path answers nothing: /api/v1/openapi.json lists those that do"))
}

// maxErrors bounds an answer to a body made of errors.
const maxErrors = 20

// humaUnreadable is what huma says, as a failure of the server, of a body that
// could not be read. It is the client's: chunks that are none, or an end too soon.
const humaUnreadable = "cannot read request body"

// finishProblem makes what huma reports one of our problems: with a type, and
// without the values, among which may be a password.
func finishProblem(ctx huma.Context, _ string, body any) (any, error) {
	p, ok := body.(*huma.ErrorModel)
	if !ok || p.Type != "" {
		return body, nil
	}
	if p.Status == http.StatusInternalServerError && p.Detail == humaUnreadable {
		// Huma says the status of its problem after this: the first one counts.
		ctx.SetStatus(problemMalformed.status)
		return problem(problemMalformed, "the body breaks off, or is not sent as its header says"), nil
	}
	k := kindOf(p.Status)
	finished := problem(k, "")
	if k == problemInternal {
		finished.Detail = "this should not have happened: the server's log says more"
		return finished, nil
	}
	for _, e := range p.Errors[:min(len(p.Errors), maxErrors)] {
		finished.Errors = append(finished.Errors, &huma.ErrorDetail{Message: e.Message, Location: e.Location})
	}
	finished.Detail = describe(p.Detail, finished.Errors)
	return finished, nil
}

// describe says in one text what is wrong, for clients that show no more.
func describe(fallback string, errs []*huma.ErrorDetail) string {
	if len(errs) == 0 {
		return fallback
	}
	var texts []string
	for _, e := range errs[:min(len(errs), 3)] {
		texts = append(texts, strings.TrimPrefix(strings.TrimPrefix(e.Location, "body"), ".")+": "+e.Message)
	}
	return strings.TrimPrefix(strings.Join(texts, "; "), ": ")
}

func invalid(field, format string, args ...any) *huma.ErrorModel {
	message := fmt.Sprintf(format, args...)
	return problem(problemInvalid, field+": "+message, &huma.ErrorDetail{Location: "body." + field, Message: message})
}

func noCamera(id string) *huma.ErrorModel {
	if !camera.ValidID(id) {
		return problem(problemNoCamera, "no camera can have this id")
	}
	return problem(problemNoCamera, "there is no camera "+id)
}

// problemOf returns the problem for what the registry answered to a change of a
// camera. A failure of the server is logged, and told in general terms only.
func (rs *routes) problemOf(err error, id string) error {
	var field *camera.FieldError
	var ours *huma.ErrorModel
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &field):
		return invalid(field.Field, "%s", field.Reason)
	case errors.Is(err, camera.ErrExists):
		return problem(problemCameraExists, fmt.Sprintf("there is a camera %s already: choose another id, or change that one by PATCH /api/v1/cameras/%s", id, id))
	case errors.Is(err, camera.ErrNotFound):
		return noCamera(id)
	case errors.Is(err, camera.ErrReadOnly):
		return problem(problemReadOnly, fmt.Sprintf("camera %s comes from the configuration file: change it there and restart the server", id))
	default:
		rs.options.Log.Error("a camera could not be changed", "camera", id, "err", err)
		return unmade(err)
	}
}

// unmade is the problem of a change that the server failed to make. A full disk is
// for its operator to mend, and for scripts to wait for; all else is in the log.
func unmade(err error) *huma.ErrorModel {
	if errors.Is(err, syscall.ENOSPC) {
		return problem(problemDiskFull, "the change was not made: make room on the disk of data.dir, then try again")
	}
	return problem(problemInternal, "the change was not made: the server's log says why")
}
