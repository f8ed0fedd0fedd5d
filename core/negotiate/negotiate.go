// Package negotiate reads what a request for media says of the form of its answer:
// ranges, conditions and encodings (RFC 9110). Nothing here allocates but an
// answer's own header.
package negotiate

import "strings"

// AcceptsGzip reads an Accept-Encoding header (RFC 9110 12.5.3).
func AcceptsGzip(header string) bool {
	all := false
	for header != "" {
		var item string
		item, header, _ = strings.Cut(header, ",")
		coding, params, _ := strings.Cut(item, ";")
		switch coding = strings.Trim(coding, " \t"); {
		case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
			return !refused(params)
		case coding == "*":
			all = !refused(params)
		}
	}
	return all
}

// refused reports whether a weight is zero.
func refused(params string) bool {
	weight, ok := strings.CutPrefix(strings.Trim(params, " \t"), "q=")
	return ok && strings.Trim(weight, "0.") == "" && weight != ""
}

// Matches reports whether an If-None-Match or If-Range header names the ETag.
// Weak comparison, which is what If-None-Match wants (RFC 9110 13.1.2).
func Matches(header, etag string) bool {
	for header != "" {
		var item string
		item, header, _ = strings.Cut(header, ",")
		item = strings.TrimPrefix(strings.Trim(item, " \t"), "W/")
		if item == etag || item == "*" {
			return true
		}
	}
	return false
}
