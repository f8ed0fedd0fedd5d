package play

import (
	"strings"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// Prefix is what all paths begin with that the handler answers.
const Prefix = "/archive/"

// Names below /archive/:
//
//	{camera}/index.m3u8           media playlist
//	{camera}/iframes.m3u8         the same of single pictures
//	{camera}/main.m3u8            multivariant playlist of both
//	{camera}/boxes.m3u8           what AI workers saw, as WebVTT
//	{camera}/boxes.vtt            that of a segment
//	{camera}/frame                one picture
//	{camera}/clip.mp4             export
//	{camera}/clip.mp4.sha256      its checksum
//	{camera}/{source}/{file}.mp4  recorded file
type name struct {
	kind   nameKind
	camera string
	file   layout.Name // of nameFile
}

type nameKind uint8

const (
	nameUnknown nameKind = iota
	nameMedia
	namePictures
	nameMultivariant
	nameFrame
	nameClip
	nameClipSum
	nameBoxes
	nameBoxesText
	nameFile
)

// dayBytes is how long the day is that the name of a file begins with.
const dayBytes = len("20060102")

// parseName reads what stands behind the prefix. Every object has one name only.
func parseName(path string) name {
	camera, rest, ok := strings.Cut(path, "/")
	if !ok || !validID(camera) {
		return name{}
	}
	n := name{camera: camera}
	switch rest {
	case "index.m3u8":
		n.kind = nameMedia
	case "iframes.m3u8":
		n.kind = namePictures
	case "main.m3u8":
		n.kind = nameMultivariant
	case "boxes.m3u8":
		n.kind = nameBoxes
	case "boxes.vtt":
		n.kind = nameBoxesText
	case "frame":
		n.kind = nameFrame
	case "clip.mp4":
		n.kind = nameClip
	case "clip.mp4.sha256":
		n.kind = nameClipSum
	default:
		return parseFile(camera, rest)
	}
	return n
}

// parseFile reads the name of a recorded file. In the archive it lies in a folder for
// its day, which its own name says as well.
func parseFile(camera, rest string) name {
	source, file, ok := strings.Cut(rest, "/")
	if !ok || len(file) < dayBytes {
		return name{}
	}
	n, err := layout.ParsePath(camera + "/" + source + "/" + file[:4] + "-" + file[4:6] + "-" + file[6:dayBytes] + "/" + file)
	if err != nil {
		return name{}
	}
	return name{kind: nameFile, camera: camera, file: n}
}

// nameOf returns the name of a file of a stream.
func nameOf(s index.Stream, f *index.File) layout.Name {
	return layout.Name{Camera: s.Camera, Source: s.Source, Start: f.Start, Number: f.Number, Thinned: f.Thinned}
}

// appendURI appends a file's address relative to the camera's playlists.
func appendURI(dst []byte, n layout.Name) []byte {
	path := layout.AppendPath(nil, n)
	file := path[strings.LastIndexByte(string(path), '/')+1:]
	dst = append(dst, n.Source...)
	dst = append(dst, '/')
	return append(dst, file...)
}

// validID is the alphabet of cameras and sources.
func validID(id string) bool {
	if id == "" || len(id) > 63 || id[0] == '-' || id[0] == '_' {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
