package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/drover-video/drover/core/secret"
)

// secondHomeRules says what of the second home does not go together.
func (c *Config) secondHomeRules(layers *layers) Problems {
	var problems Problems
	wrong := func(key, format string, arguments ...any) {
		key = "archive.second_home." + key
		problems = append(problems, layers.origins[key].problem(key, fmt.Errorf(format, arguments...)))
	}
	h := &c.Archive.SecondHome
	if h.Bucket == "" {
		for key, set := range map[string]bool{"endpoint": h.Endpoint != "", "access_key": h.AccessKey != "", "secret_key": !h.SecretKey.IsZero(), "prefix": h.Prefix != ""} {
			if set {
				wrong(key, "needs archive.second_home.bucket: without one nothing is copied")
			}
		}
		return problems
	}
	if h.AccessKey == "" {
		wrong("bucket", "needs archive.second_home.access_key too")
	}
	if h.SecretKey.IsZero() {
		wrong("bucket", "needs archive.second_home.secret_key too")
	}
	if h.Redirect && h.ObjectMinutes != 1 {
		wrong("redirect", "needs archive.second_home.object_minutes to be 1: a player cannot be sent into the middle of an object")
	}
	return problems
}

// storeURL takes the URL of a store. What is wrong with it does not show it, for a login
// may be in it.
func storeURL(into *string) func(string) error {
	return func(value string) error {
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("must be an https:// or http:// URL without a login; that is in access_key and secret_key")
		}
		*into = value
		return nil
	}
}

// word takes what a name in a store or a region can be.
func word(into *string) func(string) error {
	const most = 63
	return func(value string) error {
		if value == "" || len(value) > most || strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
			return fmt.Errorf("must have 1 to %d letters, digits, -, _ or dots", most)
		}
		*into = value
		return nil
	}
}

// prefix takes what names in a bucket can begin with.
func prefix(into *string) func(string) error {
	const most = 200
	return func(value string) error {
		if len(value) > most || !strings.HasSuffix(value, "/") || strings.HasPrefix(value, "/") || strings.Contains(value, "//") ||
			strings.Contains("/"+value, "/./") || strings.Contains("/"+value, "/../") ||
			strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=/") != "" {
			return fmt.Errorf("must end in a slash and begin with none, for example site/cameras/, and have at most %d letters, digits, - _ . = and /", most)
		}
		*into = value
		return nil
	}
}

func secretText(into *secret.String) func(string) error {
	return func(value string) error {
		if strings.ContainsAny(value, "\x00\r\n") {
			return errors.New("has a line break or a NUL byte in it")
		}
		*into = secret.New(value)
		return nil
	}
}
