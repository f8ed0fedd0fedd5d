package wire

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strings"
)

// maxFields is how many header fields a simple request has at most.
const maxFields = 48

// usualFields is how many a request mostly has at most.
const usualFields = 16

// parseRequest fills r from what was read, if that is exactly one simple request:
// GET or HEAD of a plain path, HTTP/1.1, no body, nothing that changes how the
// connection goes on, and not a byte more. Whatever else it is, right or wrong,
// net/http will know: false hands it over.
//
// Of what it takes, it makes what http.ReadRequest makes; a fuzz test holds the
// two against each other.
func (r *request) parse(data []byte, prefixes []string) bool {
	const end = "\r\n\r\n"
	if len(data) < len(end) || bytes.Index(data, []byte(end)) != len(data)-len(end) {
		return false
	}
	// One string holds all that the request will ever name.
	text := string(data[:len(data)-len("\r\n")])
	line, fields, _ := strings.Cut(text, "\r\n")
	method, target, ok := strings.Cut(line, " ")
	if !ok || method != http.MethodGet && method != http.MethodHead {
		return false
	}
	target, ok = strings.CutSuffix(target, " HTTP/1.1")
	if !ok {
		return false
	}
	path, query, asked := strings.Cut(target, "?")
	if !isPlainPath(path, prefixes) || asked && !isPlainQuery(query) {
		return false
	}
	host, ok := r.parseFields(fields)
	if !ok {
		return false
	}
	r.url.Path, r.url.RawQuery = path, query
	r.http = r.blank
	h := &r.http
	h.Method, h.URL, h.RequestURI, h.Host = method, &r.url, target, host
	h.Proto, h.ProtoMajor, h.ProtoMinor = "HTTP/1.1", 1, 1
	h.Header, h.Body = r.header, http.NoBody
	return true
}

// isPlainPath reports whether a path begins with one of the prefixes and needs no
// decoding.
func isPlainPath(path string, prefixes []string) bool {
	known := false
	for _, prefix := range prefixes {
		known = known || strings.HasPrefix(path, prefix)
	}
	if !known {
		return false
	}
	for i := range len(path) {
		c := path[i]
		if !isAlphanumeric(c) && c != '/' && c != '-' && c != '_' && c != '.' && c != '~' {
			return false
		}
	}
	return true
}

// isPlainQuery reports whether a query stands for itself.
func isPlainQuery(query string) bool {
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	return query != ""
}

// parseFields reads header fields, each of which ends with a line break, into
// r.header, and returns what Host says.
func (r *request) parseFields(fields string) (host string, ok bool) {
	clear(r.header)
	count := 0
	for ; fields != ""; count++ {
		var line string
		line, fields, _ = strings.Cut(fields, "\r\n")
		name, value, ok := strings.Cut(line, ":")
		if !ok || count == maxFields || !isToken(name) {
			return "", false
		}
		value = strings.Trim(value, " \t")
		if !isValue(value) {
			return "", false
		}
		switch name = textproto.CanonicalMIMEHeaderKey(name); name {
		case "Host":
			if host != "" || !isPlainHost(value) {
				return "", false
			}
			host = value
			continue // as in http.Request, it is not a header
		case "Content-Length", "Transfer-Encoding", "Trailer", "Expect", "Upgrade", "Te", "Pragma":
			return "", false // there is more to it
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return "", false
			}
		}
		if values := r.header[name]; values != nil || count >= usualFields {
			r.header[name] = append(values, value)
			continue
		}
		r.values[count] = value
		r.header[name] = r.values[count : count+1 : count+1]
	}
	return host, host != ""
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isToken reports whether a field's name is one of those in use.
func isToken(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isAlphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return name != ""
}

func isValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

func isPlainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; !isAlphanumeric(c) && c != '.' && c != '-' && c != ':' && c != '[' && c != ']' && c != '_' {
			return false
		}
	}
	return host != ""
}
