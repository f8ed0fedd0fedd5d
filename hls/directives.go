package hls

import "strings"

// directives are what a request for a playlist with parts asks for besides (RFC
// 8216bis 6.2.5).
type directives struct {
	msn, part       uint64
	hasMSN, hasPart bool
	skip            bool // a delta update will do
}

// parseDirectives reads a query as it came, and without allocating. It is false
// where a directive is not what the standard says. What else is in the query
// changes nothing; a directive without a value is absent.
func parseDirectives(query string) (d directives, ok bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		if value == "" {
			continue
		}
		switch key {
		case "_HLS_msn":
			if d.hasMSN {
				return directives{}, false
			}
			d.msn, d.hasMSN = parseDirective(value)
			ok = d.hasMSN
		case "_HLS_part":
			if d.hasPart {
				return directives{}, false
			}
			d.part, d.hasPart = parseDirective(value)
			ok = d.hasPart
		case "_HLS_skip":
			// v2 skips date ranges as well, of which there are none.
			d.skip = d.skip || value == "YES" || value == "v2"
			ok = true
		default:
			continue
		}
		if !ok {
			return directives{}, false
		}
	}
	if d.hasPart && !d.hasMSN { // 6.2.5.2: a part without its segment is nonsense
		return directives{}, false
	}
	return d, true
}

// parseDirective reads a decimal-integer (RFC 8216bis 4.2).
func parseDirective(s string) (v uint64, ok bool) {
	if len(s) > 20 {
		return 0, false
	}
	for i := range len(s) {
		digit := uint64(s[i] - '0')
		if digit > 9 || v > (1<<64-1-digit)/10 {
			return 0, false
		}
		v = v*10 + digit
	}
	return v, true
}
