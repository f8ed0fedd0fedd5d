package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/secret"
)

// probeTimeout bounds a probe whatever the prober does. It is longer than the
// prober's own limit, which knows at which step the time ran out.
const probeTimeout = 25 * time.Second

// ProbeRequest is what is to be asked.
type ProbeRequest struct {
	Camera *string `json:"camera,omitempty" maxLength:"63" doc:"Id of a stored camera, for what the other fields leave out of its source. Its password goes to its own host only."`
	Source *string `json:"source,omitempty" maxLength:"63" doc:"Name of that camera's source; default the first"`
	LoginFields
}

// ProbeResult is what a camera offers, or why it could not be asked.
type ProbeResult struct {
	OK             bool    `json:"ok"`
	Transport      string  `json:"transport"`
	Reason         string  `json:"transport_reason" doc:"Why this transport, for people"`
	Tracks         []Track `json:"tracks" nullable:"false"`
	GOPSeconds     float64 `json:"gop_seconds" doc:"0 if no two keyframes came in time"`
	ElapsedSeconds float64 `json:"elapsed_seconds"`
	Step           string  `json:"step" doc:"At which it failed; empty if it did not"`
	Error          string  `json:"error" doc:"Why, and what to do; empty if it did not fail"`
}

type probeAnswer struct{ Body ProbeResult }

func (rs *routes) registerProbe(api huma.API) {
	huma.Register(api, operation("probe", http.MethodPost, "/api/v1/probe",
		"Ask a camera what it offers. A camera that cannot be asked is no error of this request: see ok.",
		http.StatusNotFound, http.StatusTooManyRequests), rs.probe)
}

func (rs *routes) probe(ctx context.Context, in *struct{ Body ProbeRequest }) (*probeAnswer, error) {
	source, err := rs.probedSource(in.Body)
	if err != nil {
		return nil, err
	}
	select {
	case rs.probes <- struct{}{}:
		defer func() { <-rs.probes }()
	default:
		return nil, huma.ErrorWithHeaders(
			problem(problemBusy, "other probes are under way: try again in a moment"), http.Header{"Retry-After": {"2"}})
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	result, err := rs.options.Prober.Probe(ctx, source)
	if err != nil && result.Error == "" {
		result.Error = err.Error()
	}
	return &probeAnswer{Body: ProbeResult{
		OK: result.Error == "", Transport: string(result.Transport), Reason: without(result.TransportReason, source.Password), Tracks: tracksOf(result.Tracks),
		GOPSeconds: thousandths(result.GOP.Seconds()), ElapsedSeconds: thousandths(result.Elapsed.Seconds()),
		Step: result.Step, Error: without(result.Error, source.Password),
	}}, nil
}

// probedSource puts the source to ask together.
func (rs *routes) probedSource(in ProbeRequest) (camera.SourceSpec, error) {
	spec := camera.Spec{ID: "probe", Sources: make([]camera.SourceSpec, 1)}
	var stored camera.SourceSpec
	if in.Camera != nil {
		view, ok := rs.options.Cameras.Get(*in.Camera)
		if !ok {
			return camera.SourceSpec{}, noCamera(*in.Camera)
		}
		if stored, ok = chosenSource(view.Spec, in.Source); !ok {
			return camera.SourceSpec{}, invalid("source", "the camera has no source of this name")
		}
		spec.Sources[0] = stored
	}
	spec.Sources[0].Name = "main"
	if err := in.LoginFields.apply(&spec.Sources[0], "url"); err != nil {
		return camera.SourceSpec{}, err
	}
	if in.Password == nil && !stored.Password.IsZero() && host(spec.Sources[0].URL) != host(stored.URL) {
		spec.Sources[0].Password = secret.String{}
	}
	if err := spec.Normalize(); err != nil {
		return camera.SourceSpec{}, rs.problemOf(err, "")
	}
	return spec.Sources[0], nil
}

func chosenSource(spec camera.Spec, name *string) (camera.SourceSpec, bool) {
	for _, s := range spec.Sources {
		if name == nil || s.Name == *name {
			return s, true
		}
	}
	return camera.SourceSpec{}, false
}

// host returns the part of a URL that says who is asked.
func host(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	return strings.ToLower(rest)
}

// without is the last line of defence for a text that came from a camera, which
// may say back what it was sent.
func without(text string, password secret.String) string {
	if len(password.Reveal()) < 4 { // It would be found in any text.
		return text
	}
	return strings.ReplaceAll(text, password.Reveal(), secret.Redacted)
}
