package conform

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Playlist is a media playlist as a player reads it.
type Playlist struct {
	Version               int
	TargetDuration        int
	MediaSequence         uint64
	DiscontinuitySequence uint64
	EndList               bool
	Segments              []Segment
}

// Segment is an entry of a playlist.
type Segment struct {
	URI             string
	Duration        time.Duration
	Sequence        uint64 // media sequence
	Timeline        uint64 // discontinuity sequence
	Discontinuity   bool
	ProgramDateTime time.Time // zero: not said
	MapURI          string    // in force; "": none
}

// Parse reads a media playlist.
func Parse(data []byte) (*Playlist, error) {
	lines := strings.Split(string(data), "\n")
	if lines[0] != "#EXTM3U" {
		return nil, fmt.Errorf("4.3.1.1: the first line is %q", lines[0])
	}
	if lines[len(lines)-1] != "" {
		return nil, fmt.Errorf("4.1: the last line has no end")
	}
	p := &Playlist{TargetDuration: -1}
	var next Segment
	timed := false
	for _, line := range lines[1 : len(lines)-1] {
		tag, value, _ := strings.Cut(line, ":")
		var err error
		switch tag {
		case "#EXT-X-VERSION":
			p.Version, err = strconv.Atoi(value)
		case "#EXT-X-TARGETDURATION":
			if p.TargetDuration >= 0 {
				return nil, fmt.Errorf("4.3.3.1: two target durations")
			}
			p.TargetDuration, err = strconv.Atoi(value)
		case "#EXT-X-MEDIA-SEQUENCE":
			p.MediaSequence, err = strconv.ParseUint(value, 10, 63)
		case "#EXT-X-DISCONTINUITY-SEQUENCE":
			if len(p.Segments) > 0 || next.Discontinuity {
				return nil, fmt.Errorf("4.3.3.3: the discontinuity sequence is behind a segment or a discontinuity")
			}
			p.DiscontinuitySequence, err = strconv.ParseUint(value, 10, 63)
			next.Timeline = p.DiscontinuitySequence
		case "#EXT-X-DISCONTINUITY":
			next.Discontinuity = true
			next.Timeline++
		case "#EXT-X-PROGRAM-DATE-TIME":
			next.ProgramDateTime, err = time.Parse(time.RFC3339Nano, value)
		case "#EXT-X-MAP":
			uri, opened := strings.CutPrefix(value, `URI="`)
			uri, closed := strings.CutSuffix(uri, `"`)
			if next.MapURI = uri; !opened || !closed || uri == "" {
				return nil, fmt.Errorf("4.3.2.5: map %q", value)
			}
		case "#EXTINF":
			var seconds float64
			number, _, comma := strings.Cut(value, ",")
			if !comma {
				return nil, fmt.Errorf("4.3.2.1: %q has no comma", line)
			}
			seconds, err = strconv.ParseFloat(number, 64)
			next.Duration = time.Duration(math.Round(seconds * 1e9))
			timed = true
		case "#EXT-X-ENDLIST":
			p.EndList = true
		case "#EXT-X-INDEPENDENT-SEGMENTS":
		default:
			if strings.HasPrefix(line, "#") || line == "" {
				return nil, fmt.Errorf("unexpected line %q", line)
			}
			if !timed {
				return nil, fmt.Errorf("4.3.2.1: segment %s has no EXTINF", line)
			}
			next.URI = line
			next.Sequence = p.MediaSequence + uint64(len(p.Segments))
			p.Segments = append(p.Segments, next)
			next = Segment{Timeline: next.Timeline, MapURI: next.MapURI}
			timed = false
		}
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
	}
	return p, nil
}
