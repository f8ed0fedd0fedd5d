package feed

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/drover-video/drover/ai/schema"
)

// Bounds of a request.
const (
	DefaultMaxBehind = 2 * time.Second
	maxMaxBehind     = 10 * time.Second
	maxNamed         = 4096
	maxFPS           = 1000
)

// Request is which frames a worker wants: a schema.WatchRequest that makes sense.
type Request struct {
	Cameras   []string // none: all
	Source    string   // "": the first
	Keyframes bool     // no others
	MaxFPS    float64  // 0: no limit
	AnnexB    bool
	Audio     bool
	MaxBehind time.Duration
	Worker    string
}

// ErrRequest is that a request makes no sense.
var ErrRequest = errors.New("the request makes no sense")

var (
	cameraID   = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)
	sourceName = regexp.MustCompile(`^[a-z0-9_-]{0,63}$`)
	workerName = regexp.MustCompile(`^[a-z0-9_-]{0,32}$`)
)

// NewRequest checks what a worker asks for. The error is ErrRequest, and says why.
func NewRequest(in *schema.WatchRequest) (Request, error) {
	r := Request{
		Source: in.GetSource(), MaxFPS: in.GetMaxFps(), Audio: in.GetAudio(),
		MaxBehind: time.Duration(in.GetMaxBehindMs()) * time.Millisecond, Worker: in.GetWorker(),
	}
	wrong := func(format string, args ...any) (Request, error) {
		return Request{}, fmt.Errorf("%w: %s", ErrRequest, fmt.Sprintf(format, args...))
	}
	switch in.GetSelection() {
	case schema.Selection_SELECTION_ALL:
	case schema.Selection_SELECTION_KEYFRAMES:
		r.Keyframes = true
	default:
		return wrong("this version knows no selection %d", in.GetSelection())
	}
	switch in.GetFormat() {
	case schema.Format_FORMAT_ANNEX_B:
		r.AnnexB = true
	case schema.Format_FORMAT_LENGTH_PREFIXED:
	default:
		return wrong("this version knows no format %d", in.GetFormat())
	}
	switch {
	case math.IsNaN(r.MaxFPS) || r.MaxFPS < 0 || r.MaxFPS > maxFPS:
		return wrong("max_fps must be from 0 to %d", maxFPS)
	case r.MaxBehind > maxMaxBehind:
		return wrong("max_behind_ms must be at most %d", maxMaxBehind/time.Millisecond)
	case !sourceName.MatchString(r.Source):
		return wrong("a source has a name like main or sub")
	case !workerName.MatchString(r.Worker):
		return wrong("a worker has a name of at most 32 small letters, digits, - and _")
	}
	if r.MaxBehind == 0 {
		r.MaxBehind = DefaultMaxBehind
	}
	if r.Worker == "" {
		r.Worker = "worker"
	}
	return r.naming(in.GetCameras())
}

// naming adds the cameras, each once.
func (r Request) naming(cameras []string) (Request, error) {
	switch {
	case len(cameras) == 0:
		return Request{}, fmt.Errorf(`%w: name cameras, or "*" for all`, ErrRequest)
	case len(cameras) > maxNamed:
		return Request{}, fmt.Errorf(`%w: more than %d cameras are named: ask for "*"`, ErrRequest, maxNamed)
	case len(cameras) == 1 && cameras[0] == "*":
		return r, nil
	}
	seen := make(map[string]bool, len(cameras))
	for _, id := range cameras {
		switch {
		case id == "*":
			return Request{}, fmt.Errorf(`%w: "*" stands alone`, ErrRequest)
		case !cameraID.MatchString(id):
			return Request{}, fmt.Errorf("%w: %.64q is no id of a camera", ErrRequest, id)
		case !seen[id]:
			seen[id] = true
			r.Cameras = append(r.Cameras, id)
		}
	}
	return r, nil
}

// all reports whether every camera is wanted.
func (r *Request) all() bool { return len(r.Cameras) == 0 }
