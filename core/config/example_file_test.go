package config

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const exampleFile = "../../configs/drover.yaml"

var switchedOff = regexp.MustCompile(`(?m)^((?:  ){1,2})#( {2,}\S|[a-z])`)

func readExample(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestTheExampleFileIsTheDefaults(t *testing.T) {
	fromFile, _, err := Load(Source{File: exampleFile})
	if err != nil {
		t.Fatal(err)
	}
	defaults, _, err := Load(Source{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fromFile, defaults) {
		t.Errorf("got  %+v\nwant %+v", fromFile, defaults)
	}
}

func TestTheExampleFileLoadsWithEveryKeySwitchedOn(t *testing.T) {
	c := load(t, switchedOff.ReplaceAllString(readExample(t), "$1$2"), "YARD_PASSWORD=x")
	defaults, _, err := Load(Source{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Cameras) != 2 || len(c.Cameras[1].Sources) != 2 {
		t.Errorf("got cameras %+v", c.Cameras)
	}
	c.Cameras = nil
	if !reflect.DeepEqual(c, defaults) {
		t.Errorf("a value in the file is not the default:\ngot  %+v\nwant %+v", c, defaults)
	}
}

func TestTheExampleFileHasEveryKeyWithItsDefault(t *testing.T) {
	found := map[string]string{}
	sections := []string{} // by indentation
	sectionLine := regexp.MustCompile(`^((?:  )*)([a-z_]+):$`)
	keyLine := regexp.MustCompile(`^((?:  )+)#([a-z_]+): (.*)$`)
	for _, line := range strings.Split(readExample(t), "\n") {
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			sections = append(sections[:len(m[1])/2:len(m[1])/2], m[2])
		}
		if m := keyLine.FindStringSubmatch(line); m != nil && sections[0] != camerasSection {
			found[strings.Join(append(sections[:len(m[1])/2:len(m[1])/2], m[2]), ".")] = m[3]
		}
	}
	var c Config
	for _, k := range c.keys() {
		want := k.fallback
		if want == "" {
			want = strconv.Quote("")
		}
		if found[k.name] != want {
			t.Errorf("%s: the file says %q, want %q", k.name, found[k.name], want)
		}
		delete(found, k.name)
	}
	for name := range found {
		t.Errorf("%s is in the file and is no key", name)
	}
}

// fields returns the names of all fields that are set by keys.
func fields(prefix string, of reflect.Type) []string {
	var names []string
	for i := range of.NumField() {
		field := of.Field(i)
		switch {
		case field.Type.Kind() == reflect.Struct:
			names = append(names, fields(prefix+field.Name+".", field.Type)...)
		case prefix != "":
			names = append(names, prefix+field.Name)
		}
	}
	return names
}

func field(c *Config, name string) reflect.Value {
	value := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(name, ".") {
		value = value.FieldByName(part)
	}
	return value
}

func TestEveryFieldHasExactlyOneKey(t *testing.T) {
	var c Config
	names := fields("", reflect.TypeFor[Config]())
	if got := len(c.keys()); got != len(names) {
		t.Errorf("%d keys for %d fields", got, len(names))
	}
	seen := map[string]bool{}
	for _, k := range c.keys() {
		if seen[k.name] {
			t.Errorf("%s is there twice", k.name)
		}
		seen[k.name] = true
		if err := k.set(k.fallback); err != nil {
			t.Errorf("%s: its default %q %v", k.name, k.fallback, err)
		}
		if zero := k.fallback == "" || k.fallback == "0" || k.fallback == "false"; zero {
			// Off by default: any of these switches it on.
			for _, value := range []string{"none", "a.example.org", "1", "true", "24h", "a/", "https://a.example.org"} {
				if k.set(value) == nil {
					break
				}
			}
		}
	}
	for _, name := range names {
		if field(&c, name).IsZero() {
			t.Errorf("no key sets %s", name)
		}
	}
}
