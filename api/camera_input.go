package api

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/secret"
)

// CameraFields is what can be said of a camera. A field that is left out, or
// null, keeps its value, or takes its default in a new camera.
type CameraFields struct {
	Name     *string           `json:"name,omitempty" maxLength:"200" doc:"For people"`
	Sources  []SourceFields    `json:"sources,omitempty" nullable:"false" maxItems:"8" doc:"All sources, the main stream first. One that has the name of a stored one keeps what it leaves out."`
	Enabled  *bool             `json:"enabled,omitempty" doc:"Default true"`
	OnDemand *bool             `json:"on_demand,omitempty" doc:"Pull only while somebody watches; default false"`
	Record   *RecordFields     `json:"record,omitempty"`
	Labels   map[string]string `json:"labels,omitempty" doc:"All labels"`
	LoginFields
}

// LoginFields is one source. Beside the fields of a camera it is short for the
// first of its sources.
type LoginFields struct {
	URL         *string    `json:"url,omitempty" maxLength:"2048" example:"rtsp://192.168.1.20/stream1" doc:"rtsp:// or rtsps://"`
	FallbackURL *string    `json:"fallback_url,omitempty" maxLength:"2048" doc:"Pulled while url fails, with the same login; empty for none"`
	Username    *string    `json:"username,omitempty" maxLength:"256"`
	Password    *string    `json:"password,omitempty" maxLength:"256" writeOnly:"true" doc:"Goes in and never comes out; empty to forget it"`
	Transport   *string    `json:"transport,omitempty" enum:"auto,tcp,udp,multicast,tunnel" doc:"Default auto: TCP, then UDP, then tunnel, which is RTSP over HTTP"`
	TLS         *TLSFields `json:"tls,omitempty"`
}

// TLSFields says which certificates of a camera are taken for rtsps://.
type TLSFields struct {
	Verify      *string `json:"verify,omitempty" enum:"system,pin,none" doc:"system: by an authority that the server's system knows; pin: the one of the fingerprint, which is the default where there is one; none: any, so that whoever is in between can read along"`
	Fingerprint *string `json:"fingerprint,omitempty" maxLength:"128" doc:"SHA-256 of the certificate, in hexadecimal"`
}

// apply changes one source. A fingerprint is kept no longer than it is asked for.
func (f *TLSFields) apply(spec *camera.TLSSpec) {
	if f == nil {
		return
	}
	if f.Verify != nil {
		spec.Verify = camera.TLSVerify(*f.Verify)
		if spec.Verify != camera.TLSVerifyPin {
			spec.Fingerprint = ""
		}
	}
	if f.Fingerprint != nil {
		spec.Fingerprint = *f.Fingerprint
		if f.Verify == nil {
			spec.Verify = ""
		}
	}
}

// SourceFields is one of several sources.
type SourceFields struct {
	Name *string `json:"name,omitempty" maxLength:"63" doc:"Default main for the first, sub for the second"`
	LoginFields
}

// RecordFields says when a camera is recorded.
type RecordFields struct {
	Mode     *string         `json:"mode,omitempty" enum:"off,continuous,event,schedule"`
	MaxAge   *string         `json:"max_age,omitempty" maxLength:"32" example:"30d" doc:"Empty for no limit"`
	MaxBytes *int64          `json:"max_bytes,omitempty" minimum:"0" doc:"0 for no limit"`
	Sources  *[]string       `json:"sources,omitempty" maxItems:"8" doc:"Names of the sources that are recorded; empty for the first"`
	PreRoll  *string         `json:"pre_roll,omitempty" maxLength:"32" example:"10s" doc:"Of mode event: how much is kept before one; empty for 10s"`
	PostRoll *string         `json:"post_roll,omitempty" maxLength:"32" example:"30s" doc:"Of mode event: how much is kept after one; empty for 30s"`
	Schedule *ScheduleFields `json:"schedule,omitempty"`
	Thin     *ThinFields     `json:"thin,omitempty"`
}

// ScheduleFields are the hours of mode schedule.
type ScheduleFields struct {
	Zone  *string   `json:"zone,omitempty" maxLength:"64" example:"Europe/Berlin" doc:"Time zone of the spans; empty for UTC"`
	Spans *[]string `json:"spans,omitempty" maxItems:"50" doc:"Days and hours, as mon-fri 08:00-18:00, sat,sun 22:00-06:00 or daily 00:00-24:00"`
}

// ThinFields say what is left of recordings after a while.
type ThinFields struct {
	After *string `json:"after,omitempty" maxLength:"32" example:"7d" doc:"Empty to keep all"`
	Keep  *string `json:"keep,omitempty" enum:"keyframes,sub" doc:"keyframes: only these, of all sources. sub: all recorded sources but the first"`
}

// NewCamera is the body of a POST.
type NewCamera struct {
	ID string `json:"id" pattern:"^[a-z0-9][a-z0-9_-]{0,62}$" patternDescription:"an id of small letters, digits, - and _, for example front-door" example:"door"`
	CameraFields
}

// apply changes the spec by the fields and normalizes it. The spec's sources and
// labels may be shared with others: they are replaced, not written to. The error
// is a problem or a *camera.FieldError.
func (f CameraFields) apply(spec *camera.Spec) error {
	if f.Sources != nil && f.LoginFields != (LoginFields{}) {
		return invalid("sources", "give either sources, or url and the other fields of a source, not both")
	}
	set(&spec.Name, f.Name)
	set(&spec.Enabled, f.Enabled)
	set(&spec.OnDemand, f.OnDemand)
	if f.Labels != nil {
		spec.Labels = maps.Clone(f.Labels)
	}
	if err := f.applySources(spec); err != nil {
		return err
	}
	if f.Record != nil {
		if err := f.Record.apply(&spec.Record); err != nil {
			return err
		}
	}
	return spec.Normalize()
}

func (f CameraFields) applySources(spec *camera.Spec) error {
	before := spec.Sources
	switch {
	case f.Sources != nil:
		spec.Sources = make([]camera.SourceSpec, len(f.Sources))
		for i, fields := range f.Sources {
			source := &spec.Sources[i]
			*source = storedSource(before, fields.name(i))
			set(&source.Name, fields.Name)
			stored := *source
			if err := fields.LoginFields.change(source, stored, fmt.Sprintf("sources[%d].", i)); err != nil {
				return err
			}
		}
	case f.LoginFields != (LoginFields{}):
		spec.Sources = append([]camera.SourceSpec(nil), before...)
		if len(spec.Sources) == 0 {
			spec.Sources = make([]camera.SourceSpec, 1)
		}
		return f.LoginFields.change(&spec.Sources[0], spec.Sources[0], "")
	default:
		// Normalize writes to the sources.
		spec.Sources = append([]camera.SourceSpec(nil), before...)
	}
	return nil
}

// name returns the name that a source is given or will get.
func (f SourceFields) name(index int) string {
	switch {
	case f.Name != nil && *f.Name != "":
		return *f.Name
	case index == 0:
		return "main"
	case index == 1:
		return "sub"
	default:
		return ""
	}
}

func storedSource(sources []camera.SourceSpec, name string) camera.SourceSpec {
	for _, s := range sources {
		if s.Name == name {
			return s
		}
	}
	return camera.SourceSpec{}
}

// change is apply for a source that is kept: its password stays with its host.
// Else whoever may change a URL could have it sent to a host of their own.
func (f LoginFields) change(source *camera.SourceSpec, stored camera.SourceSpec, prefix string) error {
	if err := f.apply(source, prefix+"url"); err != nil {
		return err
	}
	known := func(url string) bool {
		return url == "" || host(url) == host(stored.URL) || host(url) == host(stored.FallbackURL)
	}
	if f.Password == nil && !source.Password.IsZero() && !(known(source.URL) && known(source.FallbackURL)) {
		return invalid(prefix+"password", "the stored password is not sent to another host: give the password again, or an empty one")
	}
	return nil
}

// apply changes one source. A URL that comes back as it was shown stands for the
// stored one. A URL with a login of its own replaces the stored login, unless
// the fields say otherwise.
func (f LoginFields) apply(source *camera.SourceSpec, urlField string) error {
	if f.URL != nil {
		url := strings.TrimSpace(*f.URL)
		switch {
		case source.URL != "" && url == secret.RedactURL(source.URL):
		case redacted(url):
			return invalid(urlField, "has a part that was hidden: write it out, or leave the URL as it was shown")
		default:
			source.URL = url
			if hasLogin(url) {
				source.Username, source.Password = "", secret.String{}
			}
		}
	}
	if f.FallbackURL != nil {
		url := strings.TrimSpace(*f.FallbackURL)
		switch {
		case source.FallbackURL != "" && url == secret.RedactURL(source.FallbackURL):
		case redacted(url):
			return invalid(strings.TrimSuffix(urlField, "url")+"fallback_url", "has a part that was hidden: write it out, or leave the URL as it was shown")
		default:
			source.FallbackURL = url
		}
	}
	set(&source.Username, f.Username)
	if f.Password != nil {
		source.Password = secret.New(*f.Password)
	}
	if f.Transport != nil {
		source.Transport = camera.Transport(*f.Transport)
	}
	f.TLS.apply(&source.TLS)
	return nil
}

// redacted reports whether a URL has a part that is not real.
func redacted(url string) bool {
	lower := strings.ToLower(url)
	return strings.Contains(lower, secret.Redacted) ||
		strings.Contains(lower, "%5b"+strings.Trim(secret.Redacted, "[]")+"%5d")
}

func hasLogin(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return strings.Contains(authority, "@")
}

func (f RecordFields) apply(record *camera.RecordSpec) error {
	if f.Mode != nil {
		record.Mode = camera.RecordMode(*f.Mode)
	}
	set(&record.MaxBytes, f.MaxBytes)
	set(&record.Sources, f.Sources)
	if s := f.Schedule; s != nil {
		set(&record.Schedule.Zone, s.Zone)
		set(&record.Schedule.Spans, s.Spans)
	}
	times := []timeField{{"max_age", f.MaxAge, &record.MaxAge}, {"pre_roll", f.PreRoll, &record.PreRoll}, {"post_roll", f.PostRoll, &record.PostRoll}}
	if t := f.Thin; t != nil {
		times = append(times, timeField{"thin.after", t.After, &record.Thin.After})
		if t.Keep != nil {
			record.Thin.Keep = camera.ThinKeep(*t.Keep)
		}
	}
	for _, field := range times {
		if err := field.apply(); err != nil {
			return err
		}
	}
	return nil
}

// A timeField is a time of recordings, where it is said; empty for none.
type timeField struct {
	name string
	said *string
	into *time.Duration
}

func (f timeField) apply() error {
	if f.said == nil || *f.said == "" {
		if f.said != nil {
			*f.into = 0
		}
		return nil
	}
	d, err := config.ParseDuration(*f.said)
	if err != nil {
		return invalid("record."+f.name, "%v", err)
	}
	*f.into = d
	return nil
}

func set[T any](into *T, value *T) {
	if value != nil {
		*into = *value
	}
}
