package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/drover-video/drover/core/admission"
)

// Gate keeps media within budgets. Both answer "" where the request may go on.
type Gate interface {
	Playlist(camera, address, agent string) admission.Reason
	Media(camera string) admission.Reason
}

// serveMedia answers a path below /hls/, if there is room for who asks.
func (f *front) serveMedia(a *answer, r *http.Request) {
	camera, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, mediaPrefix), "/")
	if name == collectorName {
		f.collect(a, r, camera)
		return
	}
	if f.admits(a, r, camera, name) {
		f.options.Media.ServeHTTP(a, r)
	}
}

// serveRecorded answers a path below /archive/, if there is room for who asks: who
// watches a recording of a camera is a viewer of it as any other.
func (f *front) serveRecorded(a *answer, r *http.Request) {
	camera, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, recordedPrefix), "/")
	if f.admits(a, r, camera, name) {
		f.options.Recorded.ServeHTTP(a, r)
	}
}

// admits reports whether there is room for who asks for a playlist or for media, and
// answers if there is not.
func (f *front) admits(a *answer, r *http.Request, camera, name string) bool {
	if f.options.Gate == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return true
	}
	var reason admission.Reason
	if strings.HasSuffix(name, ".m3u8") {
		reason = f.options.Gate.Playlist(camera, hostOf(r.RemoteAddr), r.UserAgent())
	} else {
		reason = f.options.Gate.Media(camera)
	}
	if reason != "" {
		refuseMedia(a, reason)
	}
	return reason == ""
}

func refuseMedia(a *answer, reason admission.Reason) {
	seconds := admission.RetryAfter()
	allowAnyOrigin(a.Header())
	a.Header().Set("Retry-After", strconv.Itoa(seconds))
	what := map[admission.Reason]string{
		admission.Viewers:       "as many watch as may",
		admission.CameraViewers: "as many watch this camera as may",
		admission.Bitrate:       "as much is sent as may be",
		admission.CameraBitrate: "as much is sent of this camera as may be",
	}[reason]
	writeProblem(a, problem(problemNoRoom, fmt.Sprintf("%s: try again in %d s", what, seconds)))
}
