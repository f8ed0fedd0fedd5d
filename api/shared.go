package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/share"
)

// sharedPrefix is what the path of a link begins with.
const sharedPrefix = "/s/"

// A sharedPath is the path of a link: /s/{token}/{tree}/{camera}…. What follows
// the token is a path of its own, so that relative URIs in playlists keep it.
type sharedPath struct {
	token  string
	path   string // "/hls/door/index.m3u8"
	tree   string // "hls"
	camera string
}

// parseShared takes a path apart. Nothing in it is encoded, or leads upwards:
// proxies in between would not agree on what such a path means.
func parseShared(path string) (s sharedPath, ok bool) {
	rest, ok := strings.CutPrefix(path, sharedPrefix)
	if !ok || strings.Contains(path, "%") || strings.Contains(path, "//") || strings.Contains(path, "/./") || strings.Contains(path, "/..") {
		return s, false
	}
	i := strings.IndexByte(rest, '/')
	if i <= 0 {
		return s, false
	}
	s.token, s.path = rest[:i], rest[i:]
	s.tree, s.camera, _ = strings.Cut(s.path[1:], "/")
	s.camera, _, _ = strings.Cut(s.camera, "/")
	return s, s.camera != "" && s.wants() != ""
}

// wants returns what a token has to allow; "" where there is no such tree.
func (s sharedPath) wants() share.Action {
	switch s.tree {
	case "hls", "watch":
		return share.Watch
	case "archive":
		return share.Archive
	default:
		return ""
	}
}

// takesPlace reports whether who asks for the path is one of the viewers that a link may
// have. Who watches live reloads a playlist. Of what was recorded a playlist may be asked
// for once, and a clip or a picture without one.
func (s sharedPath) takesPlace() bool {
	return s.tree == "archive" || s.tree == "hls" && strings.HasSuffix(s.path, ".m3u8")
}

// open returns what the token allows, or the problem.
func (s sharedPath) open(shares Shares) (share.Claims, *huma.ErrorModel) {
	claims, err := shares.Check(s.token)
	switch {
	case errors.Is(err, share.ErrExpired):
		return claims, problem(problemShareExpired, "the link has expired: ask for a new one")
	case errors.Is(err, share.ErrRevoked):
		return claims, problem(problemShareRevoked, "the link was taken back")
	case err != nil || claims.Camera != s.camera || !claims.Action.Allows(s.wants()):
		return claims, problem(problemShareInvalid, "the link does not lead here: check that it is complete")
	default:
		return claims, nil
	}
}

// retryFull is when a viewer that is one too many may ask again, in seconds.
const retryFull = 10

func (f *front) serveShared(a *answer, r *http.Request) {
	header := a.Header()
	header.Set("X-Robots-Tag", "noindex")
	s, ok := parseShared(r.URL.Path)
	if !ok || r.URL.RawPath != "" || s.tree == "archive" && f.options.Recorded == nil {
		allowAnyOrigin(header)
		notFound(a, r)
		return
	}
	inner := withPath(r, s.path)
	serve := f.serveMedia
	if s.tree == "archive" {
		serve = f.serveRecorded
	}
	if s.tree != "watch" && r.Method == http.MethodOptions {
		// The same answer for all: refused, a player would see no status at all.
		serve(a, inner)
		return
	}
	claims, refusal := s.open(f.options.Shares)
	if refusal == nil && s.takesPlace() {
		if err := f.options.Shares.Enter(claims, hostOf(r.RemoteAddr), r.UserAgent()); err != nil {
			header.Set("Retry-After", strconv.Itoa(retryFull))
			refusal = problem(problemShareFull, "as many watch by this link as may: try again in a moment")
		}
	}
	switch {
	case refusal != nil && s.tree == "watch" && strings.Contains(r.Header.Get("Accept"), "text/html"):
		writeNotice(a, r, refusal)
	case refusal != nil:
		allowAnyOrigin(header)
		writeProblem(a, refusal)
	case s.tree == "watch":
		f.serveWeb(a, inner)
	default:
		serve(a, inner)
	}
}

// withPath returns a request for another path that shares all else.
func withPath(r *http.Request, path string) *http.Request {
	inner := new(http.Request)
	*inner = *r
	inner.URL = new(url.URL)
	*inner.URL = *r.URL
	inner.URL.Path = path
	return inner
}

// allowAnyOrigin lets players on other sites see why they were refused.
func allowAnyOrigin(header http.Header) {
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "Retry-After")
}

// loggedPath is a path without the token in it, which opens what it is for.
func loggedPath(path string) string {
	rest, ok := strings.CutPrefix(path, sharedPrefix)
	if !ok {
		return path
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return sharedPrefix + "[redacted]" + rest[i:]
	}
	return sharedPrefix + "[redacted]"
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		return address[:i]
	}
	return address
}
