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
	Independent           bool // EXT-X-INDEPENDENT-SEGMENTS
	EndList               bool
	Segments              []Segment
	DateRanges            map[string]map[string]string // by ID; quoted strings as they are

	// Of low latency.
	PartTarget time.Duration // 0: no EXT-X-PART-INF
	Control    *Control      // nil: no EXT-X-SERVER-CONTROL
	Skipped    int           // segments that a delta update leaves out; they come first
	Open       *Segment      // parts behind the last segment; nil: none
	Hint       string        // URI of the part that comes next
	hints      int
	Reports    []RenditionReport
	lateTags   []string // of segments, behind their first part
}

// Control is EXT-X-SERVER-CONTROL.
type Control struct {
	CanBlockReload bool
	PartHoldBack   time.Duration
	HoldBack       time.Duration
	CanSkipUntil   time.Duration
}

// Segment is an entry of a playlist.
type Segment struct {
	Entry
	Parts []Part
}

// Entry is what a segment is but for its parts.
type Entry struct {
	URI             string
	Duration        time.Duration
	Sequence        uint64 // media sequence
	Timeline        uint64 // discontinuity sequence
	Discontinuity   bool
	Tags            int // of discontinuities before the segment: each counts for Timeline
	Gap             bool
	ProgramDateTime time.Time // zero: not said
	MapURI          string    // in force; "": none
}

// Part is EXT-X-PART.
type Part struct {
	URI         string
	Duration    time.Duration
	Independent bool
}

// RenditionReport is EXT-X-RENDITION-REPORT.
type RenditionReport struct {
	URI      string
	LastMSN  uint64
	LastPart int // -1: not said
}

// end is the media sequence number of the first segment that is not whole.
func (p *Playlist) end() uint64 {
	return p.MediaSequence + uint64(p.Skipped) + uint64(len(p.Segments))
}

// duration is that of all whole segments that are not left out.
func (p *Playlist) duration() time.Duration {
	total := time.Duration(0)
	for _, s := range p.Segments {
		total += s.Duration
	}
	return total
}

func partsTime(parts []Part) time.Duration {
	total := time.Duration(0)
	for _, p := range parts {
		total += p.Duration
	}
	return total
}

// A parser reads a media playlist line by line.
type parser struct {
	*Playlist
	next  Segment
	timed bool
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
	p := parser{Playlist: &Playlist{TargetDuration: -1}}
	for _, line := range lines[1 : len(lines)-1] {
		if p.EndList {
			return nil, fmt.Errorf("unexpected line %q behind the end", line)
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
	}
	if len(p.next.Parts) > 0 {
		open := p.next
		open.Sequence = p.end()
		p.Open = &open
	}
	return p.Playlist, nil
}

func (p *parser) line(line string) (err error) {
	tag, value, _ := strings.Cut(line, ":")
	switch tag {
	case "#EXT-X-VERSION":
		p.Version, err = strconv.Atoi(value)
	case "#EXT-X-TARGETDURATION":
		if p.TargetDuration >= 0 {
			return fmt.Errorf("4.3.3.1: two target durations")
		}
		p.TargetDuration, err = strconv.Atoi(value)
	case "#EXT-X-MEDIA-SEQUENCE":
		p.MediaSequence, err = strconv.ParseUint(value, 10, 62)
	case "#EXT-X-DISCONTINUITY-SEQUENCE":
		if len(p.Segments) > 0 || p.next.Discontinuity {
			return fmt.Errorf("4.3.3.3: the discontinuity sequence is behind a segment or a discontinuity")
		}
		p.DiscontinuitySequence, err = strconv.ParseUint(value, 10, 63)
		p.next.Timeline = p.DiscontinuitySequence
	case "#EXT-X-INDEPENDENT-SEGMENTS":
		p.Independent = true
	case "#EXT-X-ENDLIST":
		p.EndList = true
	case "#EXT-X-DISCONTINUITY", "#EXT-X-PROGRAM-DATE-TIME", "#EXT-X-MAP":
		if len(p.next.Parts) > 0 {
			p.lateTags = append(p.lateTags, line)
		}
		err = p.segmentTag(tag, value)
	case "#EXT-X-DATERANGE":
		err = p.dateRange(value)
	case "#EXT-X-GAP":
		p.next.Gap = true
	case "#EXTINF":
		number, _, comma := strings.Cut(value, ",")
		if !comma {
			return fmt.Errorf("4.3.2.1: there is no comma")
		}
		p.next.Duration, err = seconds(number)
		p.timed = true
	case "#EXT-X-SERVER-CONTROL", "#EXT-X-PART-INF", "#EXT-X-PART", "#EXT-X-PRELOAD-HINT", "#EXT-X-SKIP", "#EXT-X-RENDITION-REPORT":
		err = p.lowLatencyTag(tag, value)
	default:
		if strings.HasPrefix(line, "#") || line == "" {
			return fmt.Errorf("unexpected")
		}
		if !p.timed {
			return fmt.Errorf("4.3.2.1: a segment without EXTINF")
		}
		p.next.URI = line
		p.next.Sequence = p.end()
		p.Segments = append(p.Segments, p.next)
		p.next = Segment{Entry: Entry{Timeline: p.next.Timeline, MapURI: p.next.MapURI}}
		p.timed = false
	}
	return err
}

func (p *parser) segmentTag(tag, value string) (err error) {
	switch tag {
	case "#EXT-X-DISCONTINUITY":
		p.next.Discontinuity = true
		p.next.Tags++
		p.next.Timeline++
	case "#EXT-X-PROGRAM-DATE-TIME":
		p.next.ProgramDateTime, err = time.Parse(time.RFC3339Nano, value)
	default:
		uri, opened := strings.CutPrefix(value, `URI="`)
		uri, closed := strings.CutSuffix(uri, `"`)
		if p.next.MapURI = uri; !opened || !closed || uri == "" {
			return fmt.Errorf("4.3.2.5: a map without URI")
		}
	}
	return err
}

func seconds(text string) (time.Duration, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value < 0 || value > 1e9 || strings.ContainsAny(text, "eExXpPnN+") {
		return 0, fmt.Errorf("4.2: %q is not a number of seconds", text)
	}
	return time.Duration(math.Round(value * 1e9)), nil
}
