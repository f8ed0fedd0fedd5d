package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes bounds the configuration file: ten thousand cameras fit.
const maxFileBytes = 4 << 20

// A document is the file while it is read, and what was found wrong in it.
type document struct {
	path     string
	env      environment
	problems Problems
}

func (d *document) problem(line int, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{Place: d.path, Line: line, Key: key, Reason: fmt.Sprintf(format, args...)})
}

// root returns the mapping at the top of the file; nil if it is empty or unreadable.
func (d *document) root() *yaml.Node {
	content, err := readFile(d.path)
	if err != nil {
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
			err = failed.Err // the place says which file
		}
		d.problem(0, "", "cannot read the configuration: %v", err)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var file yaml.Node
	if err := decoder.Decode(&file); err != nil {
		if !errors.Is(err, io.EOF) {
			d.syntaxProblem(err)
		}
		return nil
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		d.problem(second.Line, "", "a second document begins here: keep everything in one")
		return nil
	} else if !errors.Is(err, io.EOF) {
		d.syntaxProblem(err)
		return nil
	}
	if len(file.Content) != 1 {
		return nil
	}
	root := resolve(file.Content[0])
	if isNull(root) {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		d.problem(root.Line, "", "must begin with a key, for example cameras:")
		return nil
	}
	return root
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFileBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFileBytes)
	}
	return content, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (d *document) syntaxProblem(err error) {
	text := err.Error()
	line := 0
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	// These quote a value, which may be a password.
	if strings.Contains(text, "anchor") || strings.Contains(text, "alias") {
		text = "a value that begins with * or & must be in quotes"
	}
	d.problem(line, "", "is not YAML: %s", text)
}

// An entry is one key of a mapping with its value.
type entry struct {
	name  string
	line  int
	value *yaml.Node
}

// entries returns the pairs of a mapping, without those that are there twice or
// have no usable key, about which it complains. A node that is empty has none.
func (d *document) entries(node *yaml.Node, key string) []entry {
	node = resolve(node)
	if isNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		d.problem(node.Line, key, "must have its keys below it, indented")
		return nil
	}
	var entries []entry
	first := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		switch {
		case name.Kind != yaml.ScalarNode || name.Tag == "!!merge":
			d.problem(name.Line, key, "has a key that is not a plain word: write keys out one by one")
			continue
		case first[name.Value] != 0:
			d.problem(name.Line, join(key, shown(name.Value)), "is there twice: first in line %d; remove one", first[name.Value])
			continue
		}
		first[name.Value] = name.Line
		entries = append(entries, entry{name: name.Value, line: name.Line, value: resolve(value)})
	}
	return entries
}

// scalar returns the text of a value with its variables put in.
func (d *document) scalar(e entry, key string) (value string, ok bool) {
	switch {
	case isNull(e.value):
		d.problem(e.line, key, "is empty: give a value or remove the line")
		return "", false
	case e.value.Kind != yaml.ScalarNode:
		d.problem(e.line, key, "must be a single value")
		return "", false
	}
	value, err := d.env.expand(e.value.Value)
	if err != nil {
		d.problem(e.value.Line, key, "%v", err)
		return "", false
	}
	return value, true
}

func (d *document) unknown(e entry, key string, names []string) {
	if meant := nearest(key, names); meant != "" {
		d.problem(e.line, key, "there is no such key: did you mean %s?", meant)
		return
	}
	d.problem(e.line, key, "there is no such key")
}

func resolve(node *yaml.Node) *yaml.Node {
	// An alias names a node, never another alias.
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// shown returns a key as it may be printed: a URL in a key's place has a
// password in it.
func shown(name string) string {
	if plainKey.MatchString(name) {
		return name
	}
	return "(a key)"
}
