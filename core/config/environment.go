package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	environmentPrefix = "DROVER_"
	// A variable of this ending names a file that holds the value, so that
	// secrets need not be in the environment.
	fileSuffix = "_FILE"
	// maxSecretFileBytes bounds such a file.
	maxSecretFileBytes = 64 << 10
)

// environment is the process's variables by name.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := make(environment, len(environ))
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}

var errUnset = errors.New("is not set")

// lookup returns the value of a DROVER_ variable: its own, or that in the file
// named by the variable of the same name and _FILE; and the name that was set.
// The error is errUnset if neither is.
func (env environment) lookup(name string) (value, from string, err error) {
	value, plain := env[name]
	path, indirect := env[name+fileSuffix]
	switch {
	case plain && indirect:
		return "", name, fmt.Errorf("%s and %s are both set: unset one", name, name+fileSuffix)
	case plain:
		return value, name, nil
	case indirect:
		value, err := readSecretFile(path)
		return value, name + fileSuffix, err
	default:
		return "", name, errUnset
	}
}

func readSecretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the file it names: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSecretFileBytes+1))
	if err != nil {
		return "", fmt.Errorf("cannot read the file it names: %w", err)
	}
	if len(content) > maxSecretFileBytes {
		return "", fmt.Errorf("the file it names has more than %d bytes", maxSecretFileBytes)
	}
	// Editors and echo end a file with a line break that is not of the secret.
	return strings.TrimRight(string(content), "\r\n"), nil
}

// expand puts variables in for ${NAME}; $${ stands for ${ itself. A DROVER_
// variable may come from a file. Any other $ stays as it is: passwords have it.
func (env environment) expand(text string) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var out strings.Builder
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if start > 0 && text[start-1] == '$' {
			out.WriteString(text[:start-1])
			out.WriteString("${")
			text = text[start+2:]
			continue
		}
		out.WriteString(text[:start])
		name, rest, closed := strings.Cut(text[start+2:], "}")
		if !closed || !validVariable(name) {
			return "", errors.New("${ must be followed by the name of a variable and }; write $${ for ${ itself")
		}
		value, set := env[name]
		if strings.HasPrefix(name, environmentPrefix) {
			indirect, _, err := env.lookup(name)
			if err != nil && !errors.Is(err, errUnset) {
				return "", fmt.Errorf("${%s}: %w", name, err)
			}
			value, set = indirect, err == nil
		}
		if !set {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		out.WriteString(value)
		text = rest
	}
}

func validVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 128
}
