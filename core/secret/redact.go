package secret

import (
	"net/url"
	"strings"
)

// words that mark a parameter whose value is part of a login. Matching is by
// containment, and rather too much is hidden than too little.
func words() [13]string {
	return [13]string{"user", "usr", "login", "pass", "pwd", "psw", "pw", "auth", "token", "key", "secret", "sign", "cred"}
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

// Hidden returns the values that RedactURL hides of the parameters of a URL, as
// they stand there: what must not be shown without their names either. Where a
// value goes on with other parameters, its first piece is given as well.
func Hidden(raw string) []string {
	path, query, _ := strings.Cut(raw, "?")
	var values []string
	for _, part := range append(strings.Split(path, "&"), strings.Split(query, "&")...) {
		at := hiddenFrom(part)
		if at < 0 {
			continue
		}
		value := part[at:]
		values = append(values, value)
		if i := strings.IndexAny(value, "_/;#"); i > 0 {
			values = append(values, value[:i])
		}
	}
	return values
}

func redactParameter(part string) string {
	if at := hiddenFrom(part); at >= 0 {
		return part[:at] + Redacted
	}
	return part
}

// hiddenFrom finds what follows the first "=" behind a telling word:
// "password=x", and also "channel=1_password=x" as seen in paths. It is -1
// where there is none.
func hiddenFrom(part string) int {
	for from := 0; ; {
		equal := strings.IndexByte(part[from:], '=')
		if equal < 0 {
			return -1
		}
		equal += from
		if equal+1 < len(part) && telling(part[from:equal]) {
			return equal + 1
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
	// Too short to be looked for within other names.
	return name[strings.LastIndexAny(name, "/_;, ")+1:] == "p"
}
