package secret

import (
	"net/url"
	"strings"
)

// words that mark a parameter whose value is part of a login. Matching is by
// containment, and rather too much is hidden than too little.
func words() [12]string {
	return [12]string{"user", "usr", "login", "pass", "pwd", "psw", "auth", "token", "key", "secret", "sign", "cred"}
}

// RedactURL returns a URL fit for logs, errors and API answers: without its
// login, and without the values of parameters that look like a login, in the
// query or, as some cameras have it, in the path. It takes any text, URLs
// that do not parse above all: those are the ones found in errors.
func RedactURL(raw string) string {
	scheme, rest := "", raw
	if i := strings.Index(raw, "://"); i >= 0 {
		scheme, rest = raw[:i+3], raw[i+3:]
		// The last @ and not the first: an unencoded password may hold any
		// of "@/?#", and what follows its first @ is still the password.
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			rest = Redacted + "@" + rest[at+1:]
		}
	}
	// Only "&" separates: "/", ";" and "#" may be part of an unencoded value.
	path, query, hasQuery := strings.Cut(rest, "?")
	out := scheme + redactParameters(path)
	if hasQuery {
		out += "?" + redactParameters(query)
	}
	return out
}

func redactParameters(text string) string {
	if !strings.Contains(text, "=") {
		return text
	}
	parts := strings.Split(text, "&")
	for i, part := range parts {
		parts[i] = redactParameter(part)
	}
	return strings.Join(parts, "&")
}

// redactParameter hides what follows the first "=" behind a telling word:
// "password=x", and also "channel=1_password=x" as seen in paths.
func redactParameter(part string) string {
	for from := 0; ; {
		equal := strings.IndexByte(part[from:], '=')
		if equal < 0 {
			return part
		}
		equal += from
		if equal+1 < len(part) && telling(part[from:equal]) {
			return part[:equal+1] + Redacted
		}
		from = equal + 1
	}
}

func telling(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	for _, word := range words() {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
