// Package camera holds what a camera is (Spec), how it is doing (Status), the
// Source that pulls it, the supervisor that keeps a source pulled, and the
// registry of all cameras.
package camera

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/drover-video/drover/core/secret"
)

// Transport says how RTP may travel from a camera.
type Transport string

// The transports of a source. Auto tries TCP first, then UDP, then the tunnel.
const (
	TransportAuto      Transport = "auto"
	TransportTCP       Transport = "tcp"
	TransportUDP       Transport = "udp"
	TransportMulticast Transport = "multicast"
	TransportTunnel    Transport = "tunnel" // RTSP over HTTP
)

// Origin says who made a camera: cameras from the file are read-only in the API.
type Origin string

// The origins of a camera.
const (
	OriginFile Origin = "file"
	OriginAPI  Origin = "api"
)

// Spec is what a user says of a camera.
type Spec struct {
	ID       string
	Name     string
	Sources  []SourceSpec // at least one; the first is the main stream
	Enabled  bool
	OnDemand bool
	Record   RecordSpec
	Labels   map[string]string
	Origin   Origin
}

// SourceSpec is one stream of a camera.
type SourceSpec struct {
	Name string // "main", "sub", …
	URL  string // rtsp:// or rtsps://, never with a login: Normalize moves it out
	// FallbackURL is pulled while URL fails, with the same login; "" for none.
	FallbackURL string
	Username    string
	Password    secret.String
	Transport   Transport
	TLS         TLSSpec
}

// Bounds of what a user may say of a camera.
const (
	MaxSources     = 8
	MaxNameBytes   = 200
	MaxURLBytes    = 2048
	MaxLoginBytes  = 256
	MaxLabels      = 32
	MaxLabelBytes  = 200
	MaxSourceBytes = 63
)

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// ValidID reports whether id can be a camera's id or a source's name:
// [a-z0-9][a-z0-9_-]{0,62}.
func ValidID(id string) bool { return idPattern.MatchString(id) }

// A FieldError says what is wrong with which field of a Spec. Reason never
// holds a secret and says what to do.
type FieldError struct {
	Field  string // as in the API: "id", "sources[0].url"
	Reason string
}

// Error implements error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

func fieldError(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Normalize fills defaults in, moves a login out of each URL into Username and
// Password, and checks everything. The error is a *FieldError.
func (s *Spec) Normalize() error {
	if !ValidID(s.ID) {
		return fieldError("id", "must match [a-z0-9][a-z0-9_-]{0,62}, for example front-door")
	}
	if len(s.Name) > MaxNameBytes {
		return fieldError("name", "is longer than %d bytes", MaxNameBytes)
	}
	if len(s.Sources) == 0 {
		return fieldError("url", "is missing: give the camera's RTSP URL, for example rtsp://192.168.1.20/stream1")
	}
	if len(s.Sources) > MaxSources {
		return fieldError("sources", "a camera has at most %d sources", MaxSources)
	}
	names := map[string]bool{}
	for i := range s.Sources {
		if err := s.Sources[i].normalize(i, len(s.Sources)); err != nil {
			return err
		}
		if name := s.Sources[i].Name; names[name] {
			return fieldError(fmt.Sprintf("sources[%d].name", i), "%q is there twice", name)
		}
		names[s.Sources[i].Name] = true
	}
	return s.normalizeRest()
}

func (s *Spec) normalizeRest() error {
	if err := s.Record.normalize(s.Sources); err != nil {
		return err
	}
	if len(s.Labels) > MaxLabels {
		return fieldError("labels", "a camera has at most %d labels", MaxLabels)
	}
	for key, value := range s.Labels {
		if key == "" || len(key) > MaxLabelBytes || len(value) > MaxLabelBytes {
			return fieldError("labels", "a label's name has 1 to %d bytes and its value at most as many", MaxLabelBytes)
		}
	}
	return nil
}

func (s *SourceSpec) normalize(index, count int) error {
	field := func(name string) string {
		if count == 1 && name != "name" {
			return name
		}
		return fmt.Sprintf("sources[%d].%s", index, name)
	}
	if s.Name == "" && index == 0 {
		s.Name = "main"
	}
	if s.Name == "" && index == 1 {
		s.Name = "sub"
	}
	if !ValidID(s.Name) {
		return fieldError(field("name"), "must match [a-z0-9][a-z0-9_-]{0,62}, for example main or sub")
	}
	switch s.Transport {
	case "":
		s.Transport = TransportAuto
	case TransportAuto, TransportTCP, TransportUDP, TransportMulticast, TransportTunnel:
	default:
		return fieldError(field("transport"), "must be auto, tcp, udp, multicast or tunnel")
	}
	if err := s.TLS.normalize(field); err != nil {
		return err
	}
	if err := s.normalizeURL(field); err != nil {
		return err
	}
	if err := s.normalizeFallback(field("fallback_url")); err != nil {
		return err
	}
	if len(s.Username) > MaxLoginBytes || len(s.Password.Reveal()) > MaxLoginBytes {
		return fieldError(field("username"), "user name and password have at most %d bytes each", MaxLoginBytes)
	}
	if strings.ContainsAny(s.Username, "\r\n\x00") || strings.ContainsAny(s.Password.Reveal(), "\r\n\x00") {
		return fieldError(field("username"), "user name and password have no line breaks in them")
	}
	return nil
}

func (s *SourceSpec) normalizeURL(field func(string) string) error {
	s.URL = strings.TrimSpace(s.URL)
	if s.URL == "" {
		return fieldError(field("url"), "is missing: give the camera's RTSP URL, for example rtsp://192.168.1.20/stream1")
	}
	u, err := parseURL(s.URL, field("url"))
	if err != nil {
		return err
	}
	if u.User != nil {
		if s.Username == "" {
			s.Username = u.User.Username()
		}
		if password, ok := u.User.Password(); ok && s.Password.IsZero() {
			s.Password = secret.New(password)
		}
		u.User = nil
		s.URL = u.String()
	}
	s.URL = u.Scheme + s.URL[len(u.Scheme):] // in lower case, however it was written
	return nil
}

func (s *SourceSpec) normalizeFallback(field string) error {
	s.FallbackURL = strings.TrimSpace(s.FallbackURL)
	if s.FallbackURL == "" {
		return nil
	}
	u, err := parseURL(s.FallbackURL, field)
	if err != nil {
		return err
	}
	if u.User != nil {
		return fieldError(field, "has a login in it: it is pulled with that of the source")
	}
	return nil
}

// parseURL checks the URL of a stream.
func parseURL(text, field string) (*url.URL, error) {
	if len(text) > MaxURLBytes {
		return nil, fieldError(field, "is longer than %d bytes", MaxURLBytes)
	}
	u, err := url.Parse(text)
	if err != nil {
		// The parser's own text would quote the URL, password and all.
		return nil, fieldError(field, "cannot be read: write special characters of the password percent-encoded (@ as %%40, # as %%23, / as %%2F), or give username and password as fields of their own")
	}
	if u.Scheme != "rtsp" && u.Scheme != "rtsps" {
		return nil, fieldError(field, "must begin with rtsp:// or rtsps://")
	}
	if u.Hostname() == "" {
		return nil, fieldError(field, "has no host")
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fieldError(field, "has no port of 1 to 65535 after the host: if what stands there is a password, write @ behind it and special characters percent-encoded (/ as %%2F)")
		}
	}
	if u.User != nil && strings.ContainsRune(u.EscapedPath()+u.RawQuery, '@') {
		// Likely a password with / or ? in it, whose rest was taken for the host and
		// would be asked of the name server.
		return nil, fieldError(field, "has a @ behind the host: if it is of the password, write the password percent-encoded (/ as %%2F, ? as %%3F) or give it as a field of its own; if it is of the path, write it as %%40")
	}
	if u.Fragment != "" || strings.Contains(text, "#") {
		return nil, fieldError(field, "has a # in it: write it as %%23")
	}
	return u, nil
}
