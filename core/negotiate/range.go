package negotiate

import (
	"strconv"
	"strings"
)

// RangeKind says what is to be done about a Range header.
type RangeKind uint8

// The kinds.
const (
	RangeAll         RangeKind = iota // none, or one that a server may ignore
	RangePart                         // one range
	RangeUnsatisfied                  // 416
)

// ParseRange reads a Range header for something of size bytes (RFC 9110 14.2).
// Several ranges, other units and nonsense are ignored, as a server may: the
// answer is then the whole.
func ParseRange(header string, size int64) (kind RangeKind, offset, length int64) {
	if header == "" {
		return RangeAll, 0, size
	}
	spec, ok := strings.CutPrefix(header, "bytes=")
	if !ok || strings.IndexByte(spec, ',') >= 0 {
		return RangeAll, 0, size
	}
	from, to, ok := strings.Cut(strings.Trim(spec, " \t"), "-")
	if !ok {
		return RangeAll, 0, size
	}
	if from == "" { // the last so many bytes
		n, ok := parsePosition(to)
		switch {
		case !ok:
			return RangeAll, 0, size
		case n == 0 || size == 0:
			return RangeUnsatisfied, 0, 0
		}
		n = min(n, size)
		return RangePart, size - n, n
	}
	first, ok := parsePosition(from)
	if !ok {
		return RangeAll, 0, size
	}
	last := size - 1
	if to != "" {
		if last, ok = parsePosition(to); !ok || last < first {
			return RangeAll, 0, size
		}
		last = min(last, size-1)
	}
	if first >= size {
		return RangeUnsatisfied, 0, 0
	}
	return RangePart, first, last - first + 1
}

// ContentRange is the header of an answer with a part of something of size bytes.
func ContentRange(offset, n, size int64) string {
	b := append(make([]byte, 0, 48), "bytes "...)
	b = strconv.AppendInt(b, offset, 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, offset+n-1, 10)
	b = append(b, '/')
	return string(strconv.AppendInt(b, size, 10))
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
