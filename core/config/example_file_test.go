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

var switchedOff = regexp.MustCompile(`(?m)^(  )#( {2,}\S|[a-z])`)

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
	section := ""
	for _, line := range strings.Split(readExample(t), "\n") {
		if name, ok := strings.CutSuffix(line, ":"); ok && name != "" && name[0] != '#' && name[0] != ' ' {
			section = name
		}
		if m := regexp.MustCompile(`^  #([a-z_]+): (.*)$`).FindStringSubmatch(line); m != nil && section != camerasSection {
			found[section+"."+m[1]] = m[2]
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

func TestEveryFieldHasExactlyOneKey(t *testing.T) {
	fields := 0
	sections := reflect.TypeFor[Config]()
	for i := range sections.NumField() {
		if section := sections.Field(i).Type; section.Kind() == reflect.Struct {
			fields += section.NumField()
		}
	}
	var c Config
	if got := len(c.keys()); got != fields {
		t.Errorf("%d keys for %d fields", got, fields)
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
	}
	values := reflect.ValueOf(c)
	for i := range values.NumField() {
		section := values.Field(i)
		if section.Kind() != reflect.Struct {
			continue
		}
		for j := range section.NumField() {
			name := sections.Field(i).Name + "." + section.Type().Field(j).Name
			if section.Field(j).IsZero() && name != "Auth.Mode" {
				t.Errorf("no key sets %s", name)
			}
		}
	}
}
