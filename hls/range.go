package hls

import "strings"

// rangeKind says what is to be done about a Range header.
type rangeKind uint8

const (
	rangeAll         rangeKind = iota // none, or one that a server may ignore
	rangePart                         // one range
	rangeUnsatisfied                  // 416
)

// parseRange reads a Range header for something of size bytes (RFC 9110 14.2).
// Several ranges, other units and nonsense are ignored, as a server may: the
// answer is then the whole.
func parseRange(header string, size int64) (kind rangeKind, offset, length int64) {
	if header == "" {
		return rangeAll, 0, size
	}
	spec, ok := strings.CutPrefix(header, "bytes=")
	if !ok || strings.IndexByte(spec, ',') >= 0 {
		return rangeAll, 0, size
	}
	from, to, ok := strings.Cut(strings.Trim(spec, " \t"), "-")
	if !ok {
		return rangeAll, 0, size
	}
	if from == "" { // the last so many bytes
		n, ok := parsePosition(to)
		switch {
		case !ok:
			return rangeAll, 0, size
		case n == 0 || size == 0:
			return rangeUnsatisfied, 0, 0
		}
		n = min(n, size)
		return rangePart, size - n, n
	}
	first, ok := parsePosition(from)
	if !ok {
		return rangeAll, 0, size
	}
	last := size - 1
	if to != "" {
		if last, ok = parsePosition(to); !ok || last < first {
			return rangeAll, 0, size
		}
		last = min(last, size-1)
	}
	if first >= size {
		return rangeUnsatisfied, 0, 0
	}
	return rangePart, first, last - first + 1
}

// parsePosition reads a byte position. One beyond all sizes is as good as the
// largest.
func parsePosition(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	v := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if v < 1<<58 {
			v = v*10 + int64(s[i]-'0')
		}
	}
	return v, true
}
