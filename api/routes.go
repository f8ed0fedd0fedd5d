package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

const openAPIPath = "/api/v1/openapi.json"

// Bounds of what is done at once.
const (
	maxProbes  = 4
	maxStreams = 128
	// maxWatchers is of what cameras see: each page that shows a camera has one.
	maxWatchers = 512
)

// routes is the typed handlers and what they share.
type routes struct {
	options Options
	probes  chan struct{} // a token for each probe under way
	streams chan struct{} // a token for each listener to live events

	watchers chan struct{} // a token for each listener to detections
	reading  chan struct{} // a token for each report that is read
}

// newRoutes returns the handler of REST, health and metrics.
func newRoutes(options Options) (http.Handler, error) {
	rs := &routes{options: options, probes: make(chan struct{}, maxProbes), streams: make(chan struct{}, maxStreams), watchers: make(chan struct{}, maxWatchers), reading: make(chan struct{}, maxReading)}
	router := chi.NewRouter()
	router.Use(guard, middleware.GetHead)
	router.NotFound(notFound)
	router.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) { methodNotAllowed(router, w, r) })

	api := humachi.New(router, humaConfig(options.Version))
	rs.registerCameras(api)
	rs.registerProbe(api)
	rs.registerSnapshot(api)
	if options.Stills != nil {
		rs.registerFrames(api)
	}
	if options.Tap != nil {
		router.Get(tapPath, options.Tap.ServeHTTP)
		describeTap(api)
	}
	rs.registerEvents(api)
	rs.registerDetections(api)
	rs.registerShares(api)
	rs.registerPlayback(api)
	rs.registerRecordings(api)
	rs.registerRecorder(api)
	rs.registerBookmarks(api)
	rs.registerHealth(api)
	router.Get("/metrics", options.Metrics.ServeHTTP)
	describeMetrics(api)
	if err := serveDescription(router, api); err != nil {
		return nil, err
	}
	return router, nil
}

func humaConfig(version string) huma.Config {
	config := huma.DefaultConfig("Drover", version)
	config.Info.Description = "Cameras in by RTSP, out by HLS. Errors are problem details (RFC 9457) whose type is stable."
	config.OpenAPIPath = "" // Huma renders on demand and without a lock.
	config.DocsPath = ""
	config.SchemasPath = ""
	config.CreateHooks = nil
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	config.Formats = map[string]huma.Format{"application/json": format, "json": format}
	config.Transformers = []huma.Transformer{finishProblem}
	return config
}

// unmarshal reads JSON. Its errors say where, and never what is there.
func unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return fmt.Errorf("this is not JSON: it breaks at byte %d", syntax.Offset)
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Errorf("%s has a value of the wrong kind or size", mismatch.Field)
	default:
		return errors.New("this has a value of the wrong kind or size")
	}
}

func methodNotAllowed(router chi.Routes, w http.ResponseWriter, r *http.Request) {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if router.Match(chi.NewRouteContext(), method, path) {
			allowed = append(allowed, method)
		}
	}
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	writeProblem(w, problem(problemMethod, "this path answers to "+list))
}

// serveDescription renders the OpenAPI document once, and serves it.
func serveDescription(router chi.Router, api huma.API) error {
	api.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "get-openapi", Method: http.MethodGet, Path: openAPIPath, Tags: []string{"server"},
		Summary:   "This description",
		Responses: map[string]*huma.Response{"200": {Description: "OpenAPI 3.1", Content: map[string]*huma.MediaType{"application/json": {}}}},
	})
	document, err := json.Marshal(api.OpenAPI())
	if err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, document, "", "  "); err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	router.Get(openAPIPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(pretty.Bytes()) // The error is that of a client that is gone.
	})
	return nil
}

func describeMetrics(api huma.API) {
	api.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "get-metrics", Method: http.MethodGet, Path: "/metrics", Tags: []string{"server"},
		Summary:   "Counters for Prometheus",
		Responses: map[string]*huma.Response{"200": {Description: "Prometheus text format", Content: map[string]*huma.MediaType{"text/plain": {}}}},
	})
}
