package hls

import (
	"strconv"
	"strings"
)

// Names below /hls/. Names of sources have no dot, so that what follows is told
// from them by it:
//
//	{camera}/index.m3u8                       multivariant
//	{camera}/{source}.index.m3u8              media playlist
//	{camera}/{source}.init-{hash}.mp4         init segment
//	{camera}/{source}.{epoch}.{sequence}.m4s  segment
//	{camera}/ts/index.m3u8                    the same as MPEG-TS
//	{camera}/ts/{source}.index.m3u8
//	{camera}/ts/{source}.{epoch}.{sequence}.ts
type name struct {
	kind     nameKind
	camera   string
	source   string
	ts       bool
	hash     string
	epoch    int64
	sequence uint64
}

type nameKind uint8

const (
	nameUnknown nameKind = iota
	nameMultivariant
	nameMedia
	nameInit
	nameSegment
)

func appendSegmentName(dst []byte, source string, epoch int64, sequence uint64, suffix string) []byte {
	dst = append(dst, source...)
	dst = append(dst, '.')
	dst = strconv.AppendInt(dst, epoch, 10)
	dst = append(dst, '.')
	dst = strconv.AppendUint(dst, sequence, 10)
	return append(dst, suffix...)
}

// parseName reads what stands behind /hls/. A name that Drover would not write
// is unknown: every object has one name only.
func parseName(path string) name {
	camera, rest, ok := strings.Cut(path, "/")
	if !ok || !validID(camera) {
		return name{}
	}
	n := name{camera: camera}
	if inner, ok := strings.CutPrefix(rest, "ts/"); ok {
		n.ts, rest = true, inner
	}
	if rest == "index.m3u8" {
		n.kind = nameMultivariant
		return n
	}
	source, rest, ok := strings.Cut(rest, ".")
	if !ok || !validID(source) {
		return name{}
	}
	n.source = source
	if rest == "index.m3u8" {
		n.kind = nameMedia
		return n
	}
	if hash, ok := strings.CutPrefix(rest, "init-"); ok && !n.ts {
		if n.hash, ok = strings.CutSuffix(hash, ".mp4"); !ok || len(n.hash) != 16 {
			return name{}
		}
		n.kind = nameInit
		return n
	}
	suffix := ".m4s"
	if n.ts {
		suffix = ".ts"
	}
	numbers, ok := strings.CutSuffix(rest, suffix)
	if !ok {
		return name{}
	}
	epoch, sequence, ok := strings.Cut(numbers, ".")
	if !ok {
		return name{}
	}
	e, ok1 := parseNumber(epoch)
	s, ok2 := parseNumber(sequence)
	if !ok1 || !ok2 {
		return name{}
	}
	n.kind, n.epoch, n.sequence = nameSegment, int64(e), s
	return n
}

// parseNumber reads a decimal as strconv writes it, below 2^63.
func parseNumber(s string) (uint64, bool) {
	if s == "" || len(s) > 18 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	v := uint64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		v = v*10 + uint64(s[i]-'0')
	}
	return v, true
}

// validID is the alphabet of cameras and sources, without the cost of a regular
// expression per request.
func validID(id string) bool {
	if id == "" || len(id) > 63 || id[0] == '-' || id[0] == '_' {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
