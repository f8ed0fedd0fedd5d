package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
)

// A question is the part that a viewer waits for: the first that its playlist does
// not list. All viewers come by the same questions.
type question struct {
	msn  uint64 // media sequence number of the part's segment
	part int
}

func (q question) compare(other question) int {
	return cmp.Or(cmp.Compare(q.msn, other.msn), cmp.Compare(q.part, other.part))
}

func (q question) before(other question) bool { return q.compare(other) < 0 }

func (q question) query() string {
	return "?_HLS_msn=" + strconv.FormatUint(q.msn, 10) + "&_HLS_part=" + strconv.Itoa(q.part)
}

var (
	sequenceTag = []byte("#EXT-X-MEDIA-SEQUENCE:")
	segmentTag  = []byte("#EXTINF:")
	partTag     = []byte("#EXT-X-PART:")
)

// parseNext returns what a playlist with parts does not list yet. It counts lines
// and reads none but one, for ten thousand viewers do so at once.
func parseNext(text []byte) (question, error) {
	_, rest, ok := bytes.Cut(text, sequenceTag)
	if !ok {
		return question{}, errors.New("answered with what is no playlist of segments")
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	first, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return question{}, fmt.Errorf("answered with a playlist whose sequence is %q", line)
	}
	segments := bytes.Count(text, segmentTag)
	if i := bytes.LastIndex(text, segmentTag); i >= 0 {
		text = text[i:]
	}
	return question{first + uint64(segments), bytes.Count(text, partTag)}, nil
}

// firstVariant returns the URI of a multivariant playlist's first variant; "" for
// other playlists.
func firstVariant(text []byte) string {
	_, rest, ok := bytes.Cut(text, []byte("#EXT-X-STREAM-INF:"))
	if !ok {
		return ""
	}
	_, rest, _ = bytes.Cut(rest, []byte("\n"))
	uri, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(uri))
}
