package main

import (
	"bytes"
	"errors"
	"strconv"
)

// A playlist is what a viewer needs to know of an M3U8.
type playlist struct {
	variants []string // of a multivariant playlist: the first variant, and its audio
	initURI  string   // EXT-X-MAP of the last segment
	sequence int64    // of the first segment
	segments []string
}

var errNotPlaylist = errors.New("not a playlist: it does not begin with #EXTM3U")

// parsePlaylist reads a playlist of either kind.
func parsePlaylist(text []byte) (playlist, error) {
	var p playlist
	if !bytes.HasPrefix(text, []byte("#EXTM3U")) {
		return p, errNotPlaylist
	}
	isVariant, hasVariant := false, false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case bytes.HasPrefix(line, []byte("#EXT-X-STREAM-INF:")):
			isVariant = true
		case bytes.HasPrefix(line, []byte("#EXT-X-MEDIA:")):
			if uri := quotedAttribute(line, "URI"); uri != "" {
				p.variants = append(p.variants, uri)
			}
		case bytes.HasPrefix(line, []byte("#EXT-X-MAP:")):
			p.initURI = quotedAttribute(line, "URI")
		case bytes.HasPrefix(line, []byte("#EXT-X-MEDIA-SEQUENCE:")):
			number, err := strconv.ParseInt(string(line[len("#EXT-X-MEDIA-SEQUENCE:"):]), 10, 64)
			if err != nil {
				return p, err
			}
			p.sequence = number
		case line[0] == '#':
		case isVariant:
			if !hasVariant {
				p.variants = append(p.variants, string(line))
			}
			isVariant, hasVariant = false, true
		default:
			p.segments = append(p.segments, string(line))
		}
	}
	return p, nil
}

// quotedAttribute returns the value of NAME="value" in a tag's attributes.
func quotedAttribute(line []byte, name string) string {
	_, rest, found := bytes.Cut(line, []byte(name+`="`))
	if !found {
		return ""
	}
	value, _, found := bytes.Cut(rest, []byte(`"`))
	if !found {
		return ""
	}
	return string(value)
}
