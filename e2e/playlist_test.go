//go:build e2e

package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A segment is one entry of a media playlist.
type segment struct {
	number        int64
	uri           string
	initURI       string
	duration      time.Duration
	date          time.Time
	discontinuity bool
}

// A window is a media playlist at one moment.
type window struct {
	target                int
	sequence, discontSeq  int64
	independent, finished bool
	segments              []segment
}

func parseWindow(text string) (window, error) {
	var w window
	var next segment
	if !strings.HasPrefix(text, "#EXTM3U\n") {
		return w, fmt.Errorf("not a playlist: %.60q", text)
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		var err error
		switch name {
		case "#EXT-X-TARGETDURATION":
			w.target, err = strconv.Atoi(value)
		case "#EXT-X-MEDIA-SEQUENCE":
			w.sequence, err = strconv.ParseInt(value, 10, 64)
		case "#EXT-X-DISCONTINUITY-SEQUENCE":
			w.discontSeq, err = strconv.ParseInt(value, 10, 64)
		case "#EXT-X-INDEPENDENT-SEGMENTS":
			w.independent = true
		case "#EXT-X-ENDLIST":
			w.finished = true
		case "#EXT-X-MAP":
			next.initURI = attribute(value, "URI")
		case "#EXT-X-DISCONTINUITY":
			next.discontinuity = true
		case "#EXT-X-PROGRAM-DATE-TIME":
			next.date, err = time.Parse(time.RFC3339Nano, value)
		case "#EXTINF":
			var seconds float64
			seconds, err = strconv.ParseFloat(strings.TrimSuffix(value, ","), 64)
			next.duration = time.Duration(seconds * float64(time.Second))
		default:
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				next.uri = line
				next.number = w.sequence + int64(len(w.segments))
				w.segments = append(w.segments, next)
				next = segment{initURI: next.initURI}
			}
		}
		if err != nil {
			return w, fmt.Errorf("%s: %w", line, err)
		}
	}
	return w, nil
}

// attribute returns the value of NAME=value or NAME="value" in an attribute list.
func attribute(list, name string) string {
	for list != "" {
		key, rest, _ := strings.Cut(list, "=")
		var value string
		if strings.HasPrefix(rest, `"`) {
			value, rest, _ = strings.Cut(rest[1:], `"`)
			rest = strings.TrimPrefix(rest, ",")
		} else {
			value, rest, _ = strings.Cut(rest, ",")
		}
		if key == name {
			return value
		}
		list = rest
	}
	return ""
}

func resolve(t *testing.T, base, uri string) string {
	t.Helper()
	b, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	target, err := b.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return target.RequestURI()
}

// A follower reloads one media playlist, as a player does, and holds each version
// against the one before.
type follower struct {
	t    *testing.T
	s    *server
	path string
	last window
	seen map[int64]segment
	init map[string][]byte
}

// follow finds the first media playlist below a multivariant one.
func follow(t *testing.T, s *server, multivariant string) *follower {
	t.Helper()
	lines := strings.Split(string(s.get(multivariant)), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#EXT-X-STREAM-INF:") })
	if at < 0 {
		t.Fatalf("%s has no variant:\n%s", multivariant, strings.Join(lines, "\n"))
	}
	return &follower{
		t: t, s: s, path: resolve(t, multivariant, lines[at+1]),
		seen: map[int64]segment{}, init: map[string][]byte{},
	}
}

// reload asks for the playlist, checks it, and returns the segments that are new.
func (f *follower) reload() []segment {
	f.t.Helper()
	now, err := parseWindow(string(f.s.get(f.path)))
	if err != nil {
		f.t.Fatalf("%s: %v", f.path, err)
	}
	f.check(now)
	var fresh []segment
	for _, one := range now.segments {
		before, known := f.seen[one.number]
		if !known {
			f.seen[one.number] = one
			fresh = append(fresh, one)
		} else if before != one {
			f.t.Errorf("segment %d was %+v and is %+v", one.number, before, one)
		}
	}
	f.last = now
	return fresh
}

func (f *follower) check(now window) {
	f.t.Helper()
	if now.finished || !now.independent || now.target < 1 {
		f.t.Errorf("a live playlist has no end, independent segments and a target duration: %+v", now)
	}
	for _, one := range now.segments {
		// RFC 8216 4.3.3.1: rounded to the nearest integer, at most the target.
		if rounded := int(one.duration.Seconds() + 0.5); rounded > now.target {
			f.t.Errorf("segment %d lasts %v, the target is %d s", one.number, one.duration, now.target)
		}
		if one.date.IsZero() {
			f.t.Errorf("segment %d has no date", one.number)
		}
	}
	if len(f.last.segments) == 0 {
		return
	}
	if now.target != f.last.target {
		f.t.Errorf("the target duration went from %d to %d", f.last.target, now.target)
	}
	if now.sequence < f.last.sequence || now.discontSeq < f.last.discontSeq {
		f.t.Errorf("sequences went back: from %d/%d to %d/%d", f.last.sequence, f.last.discontSeq, now.sequence, now.discontSeq)
	}
	left := int64(0)
	for _, one := range f.last.segments {
		if one.number < now.sequence && one.discontinuity {
			left++
		}
	}
	if now.sequence <= f.last.sequence+int64(len(f.last.segments)) && now.discontSeq != f.last.discontSeq+left {
		f.t.Errorf("%d discontinuities left the window, but their sequence went from %d to %d", left, f.last.discontSeq, now.discontSeq)
	}
}

// A piece is a segment with its bytes.
type piece struct {
	segment
	bytes []byte
}

// collect gathers count segments in a row, each fetched once, as it appears.
func (f *follower) collect(count int) []piece {
	f.t.Helper()
	var pieces []piece
	await(f.t, fmt.Sprintf("%s has brought %d segments", f.path, count), func() error {
		for _, one := range f.reload() {
			pieces = append(pieces, piece{one, f.s.get(resolve(f.t, f.path, one.uri))})
			if one.initURI != "" && f.init[one.initURI] == nil {
				f.init[one.initURI] = f.s.get(resolve(f.t, f.path, one.initURI))
			}
		}
		if len(pieces) < count {
			return fmt.Errorf("there are %d", len(pieces))
		}
		return nil
	})
	for i := 1; i < len(pieces); i++ {
		if pieces[i].number != pieces[i-1].number+1 {
			f.t.Errorf("segment %d follows %d", pieces[i].number, pieces[i-1].number)
		}
	}
	return pieces
}
