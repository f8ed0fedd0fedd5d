package web

import (
	"strconv"
	"strings"
)

// acceptsGzip reads Accept-Encoding headers (RFC 9110 12.5.3): gzip is accepted
// when it, or failing that "*", is listed with a weight above 0.
func acceptsGzip(headers []string) bool {
	gzipWeight, anyWeight := -1.0, -1.0
	for _, header := range headers {
		for coding := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(coding, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				gzipWeight = weight(params)
			case "*":
				anyWeight = weight(params)
			}
		}
	}
	if gzipWeight >= 0 {
		return gzipWeight > 0
	}
	return anyWeight > 0
}

// weight is the q of a coding's parameters, 1 if there is none, and 0 if it
// cannot be read: the plain body suits everybody.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) { // NaN is neither
			return 0
		}
		return q
	}
	return 1
}
