// Package api is Drover's face on the network: the REST API and its OpenAPI
// description, health, metrics, and the one handler that hands HLS and the web
// app their requests. It holds no state of its own.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/event"
)

// Cameras is the registry of all cameras. A change that returned without error
// is on disk. Errors are camera.ErrExists, camera.ErrNotFound,
// camera.ErrReadOnly, a *camera.FieldError, or a failure of the server.
type Cameras interface {
	List() []camera.View
	Get(id string) (camera.View, bool)
	Add(ctx context.Context, spec camera.Spec) error
	// Update calls change with a copy of the spec, and keeps what it made of it
	// if it returns nil. Two updates of one camera come after each other.
	Update(ctx context.Context, id string, change func(*camera.Spec) error) (camera.View, error)
	Remove(ctx context.Context, id string) error
	Restart(ctx context.Context, id string) error
}

// Prober asks a camera what it offers. Where the camera is at fault it returns a
// result with Step and Error.
type Prober interface {
	Probe(ctx context.Context, source camera.SourceSpec) (camera.ProbeResult, error)
}

// Pictures finds a camera's newest picture as JPEG, where the camera sends such.
// Errors are camera.ErrNotFound, camera.ErrNoPicture and camera.ErrNoJPEG.
type Pictures interface {
	Picture(id string) (camera.Picture, error)
}

// A Check says whether one part of Drover is fit to serve.
type Check struct {
	Name string
	Run  func(ctx context.Context) error // nil if it is fit; else why not
}

// Options is all that the API needs of others.
type Options struct {
	Cameras Cameras
	Prober  Prober
	Events  *event.Log // read, and told of cameras added, updated and removed
	Shares  Shares
	Viewers func(camera string) int // who watches now
	// Troubles says of which sources nothing can be shown, though they are live, and
	// why; nil: that is not known.
	Troubles func(camera string) map[string]string
	Pictures Pictures
	Players  Players
	Gate     Gate         // of Media; nil lets everybody in
	Checks   []Check      // for /readyz
	Media    http.Handler // all below /hls/; it sets CORS and caching itself
	Archive  Archive      // nil: nothing is recorded
	Recorder Recorder     // nil: as Archive
	Recorded http.Handler // all below /archive/, as Media; nil: there is nothing
	Web      http.Handler // the web app: every path that is nobody else's
	Metrics  http.Handler // /metrics
	Stills   Stills       // nil: there are none
	Tap      http.Handler // frames for AI workers by WebSocket; nil: there is none

	Detections Detections // nil: there are none, for their store could not be opened

	// CheckHosts refuses requests for the API by other names than this machine's own
	// and AllowedHosts, which are in lower case and without ports.
	CheckHosts   bool
	AllowedHosts []string

	Version      string
	Log          *slog.Logger
	WriteTimeout time.Duration // an answer that takes no byte for so long is cut off
}

func (o Options) validate() error {
	var missing []string
	for name, given := range map[string]bool{
		"Cameras": o.Cameras != nil, "Prober": o.Prober != nil, "Events": o.Events != nil, "Shares": o.Shares != nil, "Players": o.Players != nil, "Viewers": o.Viewers != nil, "Pictures": o.Pictures != nil,
		"Media": o.Media != nil, "Web": o.Web != nil, "Metrics": o.Metrics != nil, "Log": o.Log != nil,
		"WriteTimeout": o.WriteTimeout > 0,
	} {
		if !given {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return errors.New("api: options are missing: " + strings.Join(missing, ", "))
	}
	return nil
}

// New returns the handler of all paths.
func New(options Options) (http.Handler, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	routes, err := newRoutes(options)
	if err != nil {
		return nil, err
	}
	return &front{options: options, routes: routes, noSniff: []string{"nosniff"}, bodyTimeout: bodyTimeout}, nil
}

// What the paths of HLS and of recordings begin with.
const (
	mediaPrefix    = "/hls/"
	recordedPrefix = "/archive/"
)

// A front sends each request to who answers it, and outlives what goes wrong there.
type front struct {
	options Options
	routes  http.Handler // of REST, health and metrics
	noSniff []string     // a header of all answers

	bodyTimeout time.Duration
}

// ServeHTTP implements http.Handler. It and what it calls for media keep their
// frames small: a viewer who waits for the next part holds a stack, and that of the
// whole way to its answer fits into 4 KiB.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := newAnswer(w, f.options.WriteTimeout)
	started := time.Now()
	defer func() {
		f.recover(answer, r, recover())
		f.logAccess(answer, r, started)
	}()
	w.Header()["X-Content-Type-Options"] = f.noSniff
	r = timed(answer, r, f.bodyTimeout)
	if strings.HasPrefix(r.URL.Path, mediaPrefix) {
		f.serveMedia(answer, r)
		return
	}
	f.serveOthers(answer, r)
}

// serveOthers answers what is not asked for by a thousand at once.
func (f *front) serveOthers(answer *answer, r *http.Request) {
	switch path := r.URL.Path; {
	case below(path, "/api"), path == "/healthz", path == "/readyz", path == "/metrics":
		f.serveRoutes(answer, r)
	case f.options.Recorded != nil && strings.HasPrefix(path, recordedPrefix):
		f.serveRecorded(answer, r)
	case strings.HasPrefix(path, sharedPrefix):
		f.serveShared(answer, r)
	case below(path, "/hls"), below(path, "/archive"), path == "/s":
		notFound(answer, r)
	default:
		f.serveWeb(answer, r)
	}
}

// serveRoutes answers with the API, health and metrics.
func (f *front) serveRoutes(answer *answer, r *http.Request) {
	header := answer.Header()
	header.Set("X-Request-Id", requestID(r))
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Cache-Control", "private, no-store")
	header.Set("Referrer-Policy", "no-referrer")
	if open := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"; !open && !f.options.allowsHost(r.Host) {
		writeProblem(answer, problem(problemHost, hostAdvice))
		return
	}
	f.routes.ServeHTTP(answer, r)
}

// serveWeb answers with the app.
func (f *front) serveWeb(w http.ResponseWriter, r *http.Request) {
	// What the app needs; it may say more by itself.
	w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "+
		"img-src 'self' data: blob:; media-src 'self' blob:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'")
	w.Header().Set("Referrer-Policy", "same-origin")
	f.options.Web.ServeHTTP(w, r)
}

func below(path, tree string) bool {
	rest, ok := strings.CutPrefix(path, tree)
	return ok && (rest == "" || rest[0] == '/')
}
