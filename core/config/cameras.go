package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/secret"
)

const camerasSection = "cameras"

// maxCameras bounds the file's cameras.
const maxCameras = 10000

// A cameraReader reads one camera, and remembers where each field was said.
type cameraReader struct {
	*document
	key   string // "cameras.door"
	spec  camera.Spec
	lines map[string]int // by field, as in camera.FieldError
}

// cameras reads the section: id: rtsp://…, or id: and the fields of the API.
func (d *document) cameras(section entry) []camera.Spec {
	if section.value.Kind == yaml.SequenceNode || section.value.Kind == yaml.ScalarNode && !isNull(section.value) {
		d.problem(section.line, camerasSection, "must have each camera's id below it, for example door: rtsp://192.168.1.20/stream1")
		return nil
	}
	entries := d.entries(section.value, camerasSection)
	if len(entries) > maxCameras {
		d.problem(section.line, camerasSection, "has more than %d cameras", maxCameras)
		return nil
	}
	variables := map[string]string{}
	var specs []camera.Spec
	for _, e := range entries {
		key := camerasSection + "." + shown(e.name)
		variable := cameraVariable(e.name)
		if other, taken := variables[variable]; taken && camera.ValidID(e.name) {
			d.problem(e.line, key, "differs from %s only in - and _, so that %s… would mean both: rename one", other, variable)
			continue
		}
		if camera.ValidID(e.name) {
			variables[variable] = e.name
		}
		r := cameraReader{document: d, key: key, lines: map[string]int{"id": e.line}}
		r.spec = camera.Spec{ID: e.name, Enabled: true, Origin: camera.OriginFile}
		if r.read(e) {
			specs = append(specs, r.spec)
		}
	}
	d.strayVariables(variables)
	return specs
}

// read fills the spec and reports whether it can be used.
func (r *cameraReader) read(e entry) bool {
	before := len(r.problems)
	if e.value.Kind == yaml.MappingNode {
		r.fields(e)
	} else if url, ok := r.scalar(e, r.key); ok {
		r.spec.Sources = []camera.SourceSpec{{URL: url}}
	}
	r.environment(e.line)
	if len(r.problems) > before {
		return false
	}
	if err := r.spec.Normalize(); err != nil {
		r.fieldProblem(err)
		return false
	}
	return true
}

var sourcePrefix = regexp.MustCompile(`^sources\[\d+\]\.`)

func (r *cameraReader) fieldProblem(err error) {
	var field *camera.FieldError
	if !errors.As(err, &field) {
		r.problem(r.lines["id"], r.key, "%v", err)
		return
	}
	line := r.lines["id"]
	for _, name := range []string{field.Field, "sources[0]." + field.Field, sourcePrefix.ReplaceAllString(field.Field, "")} {
		if known, ok := r.lines[name]; ok {
			line = known
			break
		}
	}
	key := r.key
	if field.Field != "id" {
		key = join(key, field.Field)
	}
	r.problem(line, key, "%s", field.Reason)
}

func (r *cameraReader) fields(e entry) {
	var single camera.SourceSpec
	singleKey := "" // the first field of the single-source form
	for _, f := range r.entries(e.value, r.key) {
		key := join(r.key, shown(f.name))
		r.lines[f.name] = f.line
		switch f.name {
		case "name":
			r.set(f, key, func(v string) error { r.spec.Name = v; return nil })
		case "enabled":
			r.set(f, key, boolean(&r.spec.Enabled))
		case "on_demand":
			r.set(f, key, boolean(&r.spec.OnDemand))
		case "record":
			r.record(f, key)
		case "labels":
			r.labels(f, key)
		case "sources":
			r.sources(f, key)
		case "url", "fallback_url", "username", "password", "transport", "tls":
			if singleKey == "" {
				singleKey = f.name
			}
			r.source(f, key, f.name, &single)
		default:
			r.unknown(f, key, prefixed(r.key, "name", "enabled", "on_demand", "record", "labels", "sources", "url", "fallback_url", "username", "password", "transport", "tls"))
		}
	}
	switch sourcesLine, several := r.lines["sources"]; {
	case several && singleKey != "":
		r.problem(r.lines[singleKey], join(r.key, singleKey), "belongs into sources (line %d): give one or the other", sourcesLine)
	case singleKey != "":
		r.spec.Sources = []camera.SourceSpec{single}
	}
}

func (r *cameraReader) set(f entry, key string, into func(string) error) {
	value, ok := r.scalar(f, key)
	if !ok {
		return
	}
	if err := into(value); err != nil {
		r.problem(f.line, key, "%v", err)
	}
}

// source reads a field of a source, which is at a place in the camera.
func (r *cameraReader) source(f entry, key, field string, into *camera.SourceSpec) {
	if f.name == "tls" {
		r.tls(f, key, field, &into.TLS)
		return
	}
	r.set(f, key, func(v string) error {
		switch f.name {
		case "name":
			into.Name = v
		case "url":
			into.URL = v
		case "fallback_url":
			into.FallbackURL = v
		case "username":
			into.Username = v
		case "password":
			into.Password = secret.New(v)
		case "transport":
			into.Transport = camera.Transport(v)
		}
		return nil
	})
}

func (r *cameraReader) tls(f entry, key, field string, into *camera.TLSSpec) {
	for _, e := range r.entries(f.value, key) {
		r.lines[join(field, e.name)] = e.line
		switch e.name {
		case "verify":
			r.set(e, join(key, e.name), func(v string) error { into.Verify = camera.TLSVerify(v); return nil })
		case "fingerprint":
			r.set(e, join(key, e.name), func(v string) error { into.Fingerprint = v; return nil })
		default:
			r.unknown(e, join(key, shown(e.name)), prefixed(key, "verify", "fingerprint"))
		}
	}
}

func (r *cameraReader) sources(f entry, key string) {
	if f.value.Kind != yaml.SequenceNode {
		r.problem(f.line, key, "must be a list: - name: main, below it url: rtsp://…")
		return
	}
	if len(f.value.Content) > camera.MaxSources {
		r.problem(f.line, key, "a camera has at most %d sources", camera.MaxSources)
		return
	}
	for i, node := range f.value.Content {
		var spec camera.SourceSpec
		field := fmt.Sprintf("sources[%d]", i)
		sourceKey := join(r.key, field)
		for _, s := range r.entries(node, sourceKey) {
			r.lines[join(field, s.name)] = s.line
			switch s.name {
			case "name", "url", "fallback_url", "username", "password", "transport", "tls":
				r.source(s, join(sourceKey, s.name), join(field, s.name), &spec)
			default:
				r.unknown(s, join(sourceKey, shown(s.name)), prefixed(sourceKey, "name", "url", "fallback_url", "username", "password", "transport", "tls"))
			}
		}
		r.spec.Sources = append(r.spec.Sources, spec)
	}
}

func (r *cameraReader) record(f entry, key string) {
	for _, e := range r.entries(f.value, key) {
		fieldKey := join(key, shown(e.name))
		r.lines[join("record", e.name)] = e.line
		switch e.name {
		case "mode":
			r.set(e, fieldKey, func(v string) error { r.spec.Record.Mode = camera.RecordMode(v); return nil })
		case "max_age":
			r.set(e, fieldKey, func(v string) (err error) { r.spec.Record.MaxAge, err = ParseDuration(v); return err })
		case "max_bytes":
			r.set(e, fieldKey, func(v string) (err error) { r.spec.Record.MaxBytes, err = ParseSize(v); return err })
		case "sources":
			r.spec.Record.Sources = r.words(e, fieldKey)
		case "pre_roll":
			r.set(e, fieldKey, func(v string) (err error) { r.spec.Record.PreRoll, err = ParseDuration(v); return err })
		case "post_roll":
			r.set(e, fieldKey, func(v string) (err error) { r.spec.Record.PostRoll, err = ParseDuration(v); return err })
		case "schedule":
			r.schedule(e, fieldKey)
		case "thin":
			r.thin(e, fieldKey)
		default:
			r.unknown(e, fieldKey, prefixed(key, "mode", "max_age", "max_bytes", "sources", "pre_roll", "post_roll", "schedule", "thin"))
		}
	}
}

func (r *cameraReader) schedule(f entry, key string) {
	for _, e := range r.entries(f.value, key) {
		fieldKey := join(key, shown(e.name))
		r.lines[join("record.schedule", e.name)] = e.line
		switch e.name {
		case "zone":
			r.set(e, fieldKey, func(v string) error { r.spec.Record.Schedule.Zone = v; return nil })
		case "spans":
			r.spec.Record.Schedule.Spans = r.words(e, fieldKey)
		default:
			r.unknown(e, fieldKey, prefixed(key, "zone", "spans"))
		}
	}
}

func (r *cameraReader) thin(f entry, key string) {
	for _, e := range r.entries(f.value, key) {
		fieldKey := join(key, shown(e.name))
		r.lines[join("record.thin", e.name)] = e.line
		switch e.name {
		case "after":
			r.set(e, fieldKey, func(v string) (err error) { r.spec.Record.Thin.After, err = ParseDuration(v); return err })
		case "keep":
			r.set(e, fieldKey, func(v string) error { r.spec.Record.Thin.Keep = camera.ThinKeep(v); return nil })
		default:
			r.unknown(e, fieldKey, prefixed(key, "after", "keep"))
		}
	}
}

// maxWords bounds a list of words.
const maxWords = 100

// words reads a list of single values.
func (r *cameraReader) words(f entry, key string) []string {
	if f.value.Kind != yaml.SequenceNode || len(f.value.Content) > maxWords {
		r.problem(f.line, key, "must be a list of at most %d, for example [main, sub]", maxWords)
		return nil
	}
	var words []string
	for i, node := range f.value.Content {
		e := entry{name: f.name, line: node.Line, value: resolve(node)}
		if word, ok := r.scalar(e, fmt.Sprintf("%s[%d]", key, i)); ok {
			words = append(words, word)
		}
	}
	return words
}

func (r *cameraReader) labels(f entry, key string) {
	r.spec.Labels = map[string]string{}
	for _, e := range r.entries(f.value, key) {
		r.set(e, join(key, shown(e.name)), func(v string) error { r.spec.Labels[e.name] = v; return nil })
	}
}

// environment lets DROVER_CAMERAS_DOOR_URL, …_USERNAME and …_PASSWORD, and the
// _FILE forms of them, say what the file leaves out of a camera's main source.
func (r *cameraReader) environment(line int) {
	for _, field := range []string{"url", "username", "password"} {
		value, from, err := r.env.lookup(cameraVariable(r.spec.ID) + strings.ToUpper(field))
		if errors.Is(err, errUnset) {
			continue
		}
		if err != nil {
			r.problems = append(r.problems, Problem{Place: from, Key: join(r.key, field), Reason: err.Error()})
			continue
		}
		if len(r.spec.Sources) == 0 {
			r.spec.Sources = make([]camera.SourceSpec, 1)
		}
		main := &r.spec.Sources[0]
		switch field {
		case "url":
			main.URL = value
		case "username":
			main.Username = value
		case "password":
			main.Password = secret.New(value)
		}
		r.lines[field] = line
	}
}

// cameraVariable returns what the variables of a camera begin with.
func cameraVariable(id string) string {
	return environmentPrefix + "CAMERAS_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "_"
}

// strayVariables complains about variables for cameras that the file does not have.
func (d *document) strayVariables(known map[string]string) {
	for _, name := range d.env.sorted(environmentPrefix + "CAMERAS_") {
		stem := strings.TrimSuffix(name, fileSuffix)
		found := false
		for _, field := range []string{"URL", "USERNAME", "PASSWORD"} {
			prefix, ok := strings.CutSuffix(stem, field)
			if _, camera := known[prefix]; ok && camera {
				found = true
			}
		}
		if !found {
			d.problems = append(d.problems, Problem{Place: name, Reason: "sets nothing: it must be DROVER_CAMERAS_, the id of a camera of the file, and _URL, _USERNAME or _PASSWORD"})
		}
	}
}

func prefixed(prefix string, names ...string) []string {
	for i, name := range names {
		names[i] = join(prefix, name)
	}
	return names
}
