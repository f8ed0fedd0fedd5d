package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// A Source is where a configuration comes from, strongest first.
type Source struct {
	Flags   *pflag.FlagSet // with those of AddFlags; may be nil
	Environ []string       // as os.Environ returns it
	File    string         // path of the YAML file; "" for none
}

// AddFlags adds a flag for each key: --http.address and so on.
func AddFlags(flags *pflag.FlagSet) {
	var c Config
	for _, k := range c.keys() {
		flags.String(k.name, k.fallback, k.usage)
	}
}

// Load reads, checks and completes a configuration. The error is Problems: all
// of them. Warnings are what is likely, but not surely, a mistake.
func Load(source Source) (c *Config, warnings Problems, err error) {
	c = &Config{}
	keys := c.keys()
	doc := &document{path: source.File, env: newEnvironment(source.Environ)}
	layers := newLayers(keys)

	if source.File != "" {
		doc.readInto(layers, c)
	} else {
		doc.strayVariables(nil)
	}
	doc.problems = append(doc.problems, layers.addEnvironment(doc.env)...)
	if source.Flags != nil {
		if err := layers.addFlags(source.Flags); err != nil {
			return nil, nil, err
		}
	}
	for _, k := range keys {
		value, origin := layers.value(k)
		if err := k.set(value); err != nil {
			doc.problems = append(doc.problems, origin.problem(k.name, err))
		}
	}
	doc.problems = append(doc.problems, c.rules(layers)...)
	warnings = doc.env.misspelt(keys)
	if len(doc.problems) > 0 {
		doc.problems.sort(source.File)
		return nil, warnings, doc.problems
	}
	return c, warnings, nil
}

// readInto reads the file: cameras into c, everything else into the layers.
func (d *document) readInto(layers *layers, c *Config) {
	root := d.root()
	if root == nil {
		if len(d.problems) == 0 {
			d.strayVariables(nil)
		}
		return
	}
	names := keyNames(layers.keys)
	sections := sectionNames(layers.keys)
	hasCameras := false
	for _, section := range d.entries(root, "") {
		switch {
		case section.name == camerasSection:
			hasCameras = true
			c.Cameras = d.cameras(section)
		case slices.Contains(sections, section.name):
			d.section(section, names, layers)
		case slices.Contains(names, section.name):
			d.flat(section.line, section.name)
		default:
			d.unknown(section, shown(section.name), sections)
		}
	}
	if !hasCameras {
		d.strayVariables(nil)
	}
}

// flat complains about a key of a section that is written as one word.
func (d *document) flat(line int, name string) {
	count := "two"
	if strings.Count(name, ".") > 1 {
		count = "three"
	}
	d.problem(line, name, "must be written in %s lines: %s:", count, strings.ReplaceAll(name, ".", ": and, indented below it, "))
}

func (d *document) section(section entry, names []string, layers *layers) {
	if section.value.Kind == yaml.ScalarNode && !isNull(section.value) {
		d.problem(section.line, section.name, "must have its keys below it, indented")
		return
	}
	for _, e := range d.entries(section.value, section.name) {
		name := section.name + "." + e.name
		if isSection(names, name) {
			d.section(entry{name: name, line: e.line, value: e.value}, names, layers)
			continue
		}
		if strings.Contains(e.name, ".") && slices.Contains(names, name) {
			d.flat(e.line, name)
			continue
		}
		if !slices.Contains(names, name) {
			d.unknown(e, section.name+"."+shown(e.name), names)
			continue
		}
		if value, ok := d.scalar(e, name); ok {
			layers.put(name, value, origin{place: d.path, line: e.line})
		}
	}
}

// isSection reports whether there are keys below name.
func isSection(names []string, name string) bool {
	return slices.ContainsFunc(names, func(key string) bool { return strings.HasPrefix(key, name+".") })
}

// layers is viper, which knows which layer is stronger, and beside it where
// each value was said, which viper does not know.
type layers struct {
	keys    []key
	viper   *viper.Viper
	origins map[string]origin // of the strongest layer so far
}

type origin struct {
	place string // file, variable or flag
	line  int
}

func (o origin) problem(key string, err error) Problem {
	return Problem{Place: o.place, Line: o.line, Key: key, Reason: err.Error()}
}

func newLayers(keys []key) *layers {
	l := &layers{keys: keys, viper: viper.New(), origins: map[string]origin{}}
	for _, k := range keys {
		l.viper.SetDefault(k.name, k.fallback)
	}
	return l
}

// put puts a value over what was put before. The map given to viper is its
// only way to take one value below flags without reading the real environment,
// which belongs to the caller.
func (l *layers) put(name, value string, from origin) {
	var nested any = value
	for above, leaf, found := cutLast(name); ; above, leaf, found = cutLast(above) {
		nested = map[string]any{leaf: nested}
		if !found {
			break
		}
	}
	// The error is for maps that are not made of maps and strings.
	_ = l.viper.MergeConfigMap(nested.(map[string]any))
	l.origins[name] = from
}

func (l *layers) addEnvironment(env environment) Problems {
	var problems Problems
	for _, k := range l.keys {
		value, from, err := env.lookup(k.environment())
		switch {
		case errors.Is(err, errUnset):
		case err != nil:
			problems = append(problems, Problem{Place: from, Key: k.name, Reason: err.Error()})
		default:
			l.put(k.name, value, origin{place: from})
		}
	}
	return problems
}

func (l *layers) addFlags(flags *pflag.FlagSet) error {
	for _, k := range l.keys {
		flag := flags.Lookup(k.name)
		if flag == nil {
			continue
		}
		if err := l.viper.BindPFlag(k.name, flag); err != nil {
			return fmt.Errorf("bind flag %s: %w", k.name, err)
		}
		if flag.Changed {
			l.origins[k.name] = origin{place: "--" + k.name}
		}
	}
	return nil
}

func (l *layers) value(k key) (string, origin) { return l.viper.GetString(k.name), l.origins[k.name] }

// rules checks what concerns several keys.
func (c *Config) rules(layers *layers) Problems {
	var problems Problems
	if c.Ingest.BackoffMin > c.Ingest.BackoffMax {
		problems = append(problems, layers.origins["ingest.backoff_min"].problem("ingest.backoff_min",
			errors.New("must not be longer than ingest.backoff_max")))
	}
	if (c.HTTP.TLS.Cert == "") != (c.HTTP.TLS.Key == "") {
		given, missing := "http.tls.cert", "http.tls.key"
		if c.HTTP.TLS.Cert == "" {
			given, missing = missing, given
		}
		problems = append(problems, layers.origins[given].problem(given, fmt.Errorf("needs %s too", missing)))
	}
	if c.HTTP.TLS.Cert != "" && len(c.HTTP.ACME.Domains) > 0 {
		problems = append(problems, layers.origins["http.acme.domains"].problem("http.acme.domains",
			errors.New("asks for a certificate where http.tls.cert is one already: give one or the other")))
	}
	if c.HTTP.Address != "" && c.Auth.Mode != "none" && !loopback(c.HTTP.Address) {
		problems = append(problems, layers.origins["http.address"].problem("http.address",
			errors.New("can be reached from other machines, and Drover has no login yet: use 127.0.0.1, "+
				"or set auth.mode to none if everybody who reaches it may see and change everything")))
	}
	if c.GRPC.Address != "" && c.Auth.Mode != "none" && !loopback(c.GRPC.Address) {
		problems = append(problems, layers.origins["grpc.address"].problem("grpc.address",
			errors.New("can be reached from other machines, and Drover has no login yet: use 127.0.0.1:9090, "+
				"or set auth.mode to none if everybody who reaches it may see every camera")))
	}
	return append(problems, c.secondHomeRules(layers)...)
}

// loopback reports whether only this machine reaches the address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// sorted returns the names of variables that begin with prefix.
func (env environment) sorted(prefix string) []string {
	var names []string
	for name := range env {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// misspelt warns of variables that look like a key's and are none. It is no
// error: others may name variables DROVER_ too.
func (env environment) misspelt(keys []key) Problems {
	var problems Problems
	for _, name := range env.sorted(environmentPrefix) {
		stem := strings.TrimSuffix(name, fileSuffix)
		best, bestDistance := "", 4
		for _, k := range keys {
			if d := editDistance(stem, k.environment()); d < bestDistance {
				best, bestDistance = k.environment(), d
			}
		}
		if bestDistance > 0 && best != "" {
			problems = append(problems, Problem{Place: name, Reason: "sets nothing: did you mean " + best + "?"})
		}
	}
	return problems
}
