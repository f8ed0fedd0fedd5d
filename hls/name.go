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
//	{camera}/{source}.boxes.m3u8              what AI workers saw, as WebVTT
//	{camera}/{source}.{epoch}.{sequence}.vtt
//	{camera}/live.m3u8                        multivariant, of low latency
//	{camera}/{source}.live.m3u8               media playlist with parts
//	{camera}/{source}.{epoch}.{sequence}.{part}.m4s
//
// Sound that the variants of a camera share is a source of the name _sound.
//
//	{camera}/ts/index.m3u8                    the same as index.m3u8, as MPEG-TS
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
	part     int
}

type nameKind uint8

const (
	nameUnknown nameKind = iota
	nameMultivariant
	nameMedia
	nameInit
	nameSegment
	nameLiveMultivariant
	nameLive
	namePart
	nameBoxes
	nameBoxesSegment
)

// playlist reports whether it is that of a playlist.
func (k nameKind) playlist() bool {
	return k == nameMultivariant || k == nameMedia || k == nameLiveMultivariant || k == nameLive || k == nameBoxes
}

func appendSegmentName(dst []byte, source string, epoch int64, sequence uint64, suffix string) []byte {
	dst = append(dst, source...)
	dst = append(dst, '.')
	dst = strconv.AppendInt(dst, epoch, 10)
	dst = append(dst, '.')
	dst = strconv.AppendUint(dst, sequence, 10)
	return append(dst, suffix...)
}

func appendPartName(dst []byte, source string, epoch int64, sequence uint64, part int) []byte {
	dst = appendSegmentName(dst, source, epoch, sequence, ".")
	dst = strconv.AppendInt(dst, int64(part), 10)
	return append(dst, ".m4s"...)
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
	if rest == "live.m3u8" && !n.ts {
		n.kind = nameLiveMultivariant
		return n
	}
	source, rest, ok := strings.Cut(rest, ".")
	if !ok || !validID(source) && (source != soundSource || n.ts) {
		return name{}
	}
	n.source = source
	if rest == "index.m3u8" {
		n.kind = nameMedia
		return n
	}
	if rest == "live.m3u8" && !n.ts {
		n.kind = nameLive
		return n
	}
	if rest == "boxes.m3u8" && !n.ts && source != soundSource {
		n.kind = nameBoxes
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
	kind := nameSegment
	numbers, ok := strings.CutSuffix(rest, suffix)
	if !ok && !n.ts && source != soundSource {
		kind = nameBoxesSegment
		numbers, ok = strings.CutSuffix(rest, ".vtt")
	}
	if !ok {
		return name{}
	}
	epoch, sequence, ok := strings.Cut(numbers, ".")
	if !ok {
		return name{}
	}
	n.kind = kind
	if inner, part, ok := strings.Cut(sequence, "."); ok && !n.ts && kind == nameSegment {
		p, ok := parseNumber(part)
		if !ok || p > maxParts {
			return name{}
		}
		n.kind, n.part, sequence = namePart, int(p), inner
	}
	e, ok1 := parseNumber(epoch)
	s, ok2 := parseNumber(sequence)
	if !ok1 || !ok2 {
		return name{}
	}
	n.epoch, n.sequence = int64(e), s
	return n
}

// maxParts is more than a segment has.
const maxParts = 1e6

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
