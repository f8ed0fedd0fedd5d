package session

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// A target is a place to talk to, and the URI exactly as it is sent. URIs are
// handled as text: digest covers the text that was sent, and firmware
// compares text, so nothing may be re-encoded on the way.
type target struct {
	scheme string // "rtsp" or "rtsps"
	host   string // "name", "name:port", "[::1]:port"; as it is sent
	path   string // path and query, "" or beginning with "/" or "?"
}

var (
	errNotRTSP  = errors.New("the URL must begin with rtsp:// or rtsps://")
	errBadURL   = errors.New("the URL has no host, or is not well formed")
	errHasLogin = errors.New("the URL holds a login: give it as user name and password")
)

// parseTarget takes a URL without a login. Its errors never show the URL.
func parseTarget(raw string) (target, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	if !found || (scheme != "rtsp" && scheme != "rtsps") {
		return target{}, errNotRTSP
	}
	rest, _, _ = strings.Cut(rest, "#")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if strings.Contains(host, "@") {
		return target{}, errHasLogin
	}
	u, err := url.Parse("rtsp://" + host + "/")
	if err != nil || u.Hostname() == "" || u.Host != host || strings.ContainsAny(host, "\"\\") {
		return target{}, errBadURL
	}
	if port := u.Port(); port != "" || strings.HasSuffix(host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return target{}, errBadURL
		}
	}
	return target{scheme: scheme, host: host, path: escape(path)}, nil
}

// escape encodes what would break a request line or a quoted header value.
func escape(path string) string {
	const hex = "0123456789ABCDEF"
	var out []byte
	for i := range len(path) {
		c := path[i]
		if c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			out = append(out, '%', hex[c>>4], hex[c&15])
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func (t target) String() string { return t.scheme + "://" + t.host + t.path }

func (t target) secure() bool { return t.scheme == "rtsps" }

func (t target) hostname() string {
	u := url.URL{Host: t.host}
	return u.Hostname()
}

func (t target) port() uint16 {
	u := url.URL{Host: t.host}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if t.secure() {
		return 322
	}
	return 554
}

// sameServer reports whether a login for t may be given to other.
func (t target) sameServer(other target) bool {
	return strings.EqualFold(t.hostname(), other.hostname()) && t.port() == other.port() &&
		(other.secure() || !t.secure())
}

// resolve finds what a control or Content-Base of the camera means, t being
// the base. The result is always on the server of t: cameras behind an
// address translation name their inner address.
func (t target) resolve(control string) target {
	control = strings.TrimSpace(control)
	lower := strings.ToLower(control)
	switch {
	case control == "" || control == "*":
	case strings.HasPrefix(lower, "rtsp://"), strings.HasPrefix(lower, "rtsps://"):
		_, rest, _ := strings.Cut(control, "://")
		t.path = ""
		if i := strings.IndexAny(rest, "/?"); i >= 0 {
			t.path = escape(rest[i:])
		}
	case control[0] == '/':
		t.path = escape(control)
	case control[0] == '?', strings.HasSuffix(t.path, "/"):
		t.path += escape(control)
	default:
		t.path += "/" + escape(control)
	}
	return t
}

// redirect finds where a Location leads.
func (t target) redirect(location string) (target, error) {
	location = strings.TrimSpace(location)
	if !strings.Contains(location, "://") {
		if location == "" {
			return target{}, errors.New("it names no place")
		}
		return t.resolve(location), nil
	}
	if i, at := strings.Index(location, "://")+3, strings.LastIndexByte(location, '@'); at > 0 {
		if end := strings.IndexAny(location[i:], "/?"); end < 0 || at < i+end {
			location = location[:i] + location[at+1:] // a login is ours to give, not the camera's
		}
	}
	next, err := parseTarget(location)
	if err != nil {
		return target{}, err
	}
	if t.secure() && !next.secure() {
		return target{}, errors.New("it leads out of TLS")
	}
	// The URL is the user's choice, a redirect is not: it may not point at
	// other services of a host.
	if port := next.port(); port < 1024 && port != 322 && port != 554 && port != t.port() {
		return target{}, errors.New("its port is none of RTSP")
	}
	return next, nil
}
